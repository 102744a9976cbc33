"""Agents that can post their events to an address, and what they take for an answer there."""

from hookonce.agents.replies import claude_code
from hookonce.model import Reply

# Events at which they run a command nevertheless: no request is made there, or only an exit code refuses as it should.
COMMANDS = {
    "claude-code": frozenset({"SessionStart", "Setup"}) | claude_code.BY_CODE,
    "qwen-code": frozenset[str](),
}
_NOTHING = "{}"  # an empty body is one that not everybody can parse


def body(agent: str, native: str, said: Reply) -> str:
    """The answer as one object, also where it says nothing; a response has no exit code, and no stderr."""
    found = claude_code.posted(native, said) if agent == "claude-code" else said
    return found.stdout or _NOTHING
