"""HTTP hook replies: agents that can post events to a URL, and the response body that they read."""

from hookonce.agents.claude_code import reply
from hookonce.model import Reply

# Events at which they run a command nevertheless: no request is made there, or only an exit code refuses as it should.
COMMAND_EVENTS = {
    "claude-code": frozenset({"SessionStart", "Setup"}) | reply.EXIT_CODE_EVENTS,
    "qwen-code": frozenset[str](),
}
_EMPTY_BODY = "{}"  # an empty body is one that not everybody can parse


def response_body(agent: str, native: str, hook_reply: Reply) -> str:
    """The reply as one JSON object, `{}` for no opinion; an HTTP response has neither exit code nor stderr."""
    http_reply = reply.to_http_reply(native, hook_reply) if agent == "claude-code" else hook_reply
    return http_reply.stdout or _EMPTY_BODY
