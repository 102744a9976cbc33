"""Events for tests of what calls tell each other."""

from hookonce.base import ids
from hookonce.model import SCHEMA, Event, Subagent, Tool


def event(kind="before_tool_execute", command="ls", call_id=None, **more):
    """An event of an agent; one on a tool calls a shell."""
    tool = Tool(name="shell", native="Bash", input={"command": command}, native_input={"command": command}, call_id=call_id)
    known = {
        "id": ids.new_id(),
        "schema": SCHEMA,
        "type": kind,
        "agent": "claude-code",
        "session": "s1",
        "time": "2026-11-15T00:00:00Z",
        "time_source": "agent",
        "tool": tool if "tool" in kind else None,
    }
    return Event(**known | more)


def below(number):
    """A sub-agent."""
    return Subagent(id=f"sub-{number}")
