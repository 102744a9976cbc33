"""Inside a sub-agent: what an agent that does not say so does while a call that starts one is open.

Gemini's sub-agents work between the beginning and the end of that call. It is a guess and says so in `data.guessed`.
"""

from msgspec.structs import replace

from hookonce.agents import ENDS
from hookonce.model import Event, Subagent

Working = tuple[str, ...]  # the types of the sub-agents that are at work
_SILENT = frozenset({"gemini-cli"})


def inside(working: Working, event: Event) -> tuple[Event, Working]:
    """The event with the sub-agent that it is guessed to belong to, and who is at work after it."""
    if event.agent not in _SILENT or event.tool is None:
        return event, () if event.type == "before_prompt" else working
    starts = event.tool.name == "agent"
    if event.type in ENDS and starts:
        working = working[1:]
    told = _guessed(working, event)
    if event.type == "before_tool_execute" and starts:
        working = (*working, str(event.tool.input.get("type") or event.tool.native))
    return told, working


def _guessed(working: Working, event: Event) -> Event:
    if not working or event.subagent is not None:
        return event
    return guess(replace(event, subagent=Subagent(type=working[-1])), "subagent")


def guess(event: Event, field: str) -> Event:
    """The event with the mark that a field of it was guessed."""
    return replace(event, data=event.data | {"guessed": [*event.data.get("guessed", []), field]})
