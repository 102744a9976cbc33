"""The session files of agents, one file each. This map is the only list of them; of the others nothing is known."""

from functools import cache
from importlib import import_module

from hookonce.canon.names import AGENT_ALIASES
from hookonce.transcripts.reader import Reader

TRANSCRIPTS: dict[str, str] = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini-cli": "gemini_cli",
}


@cache
def load(name: str) -> Reader | None:
    """The reader of that agent's session files, None for an agent whose files we cannot read."""
    module = TRANSCRIPTS.get(AGENT_ALIASES.get(name, name))
    if module is None:
        return None
    reader: Reader = import_module(f"hookonce.transcripts.{module}").READER
    return reader
