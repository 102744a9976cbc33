"""Inside a sub-agent: what an agent that does not say so does while a call that starts one is open.

Gemini's sub-agents work between the beginning and the end of that call. It is a guess and says so in `data.guessed`.
"""

from msgspec.structs import replace

from hookonce.agents import TOOL_END_EVENTS
from hookonce.model import Event, Subagent

ActiveSubagents = tuple[str, ...]  # the types of the sub-agents that are at work
_SILENT_AGENTS = frozenset({"gemini-cli"})


def assign_subagent(active_subagents: ActiveSubagents, event: Event) -> tuple[Event, ActiveSubagents]:
    """The event with the sub-agent that it probably belongs to, and the active sub-agents after it.

    Gemini's sub-agents work between the start and the end of the call that starts them, without saying so.
    """
    if event.agent not in _SILENT_AGENTS or event.tool is None:
        return event, () if event.type == "before_prompt" else active_subagents
    starts_subagent = event.tool.name == "agent"
    if event.type in TOOL_END_EVENTS and starts_subagent:
        active_subagents = active_subagents[1:]
    attributed_event = _guess_subagent(active_subagents, event)
    if event.type == "before_tool_execute" and starts_subagent:
        active_subagents = (*active_subagents, str(event.tool.input.get("type") or event.tool.native))
    return attributed_event, active_subagents


def _guess_subagent(active_subagents: ActiveSubagents, event: Event) -> Event:
    if not active_subagents or event.subagent is not None:
        return event
    return mark_guess(replace(event, subagent=Subagent(type=active_subagents[-1])), "subagent")


def mark_guess(event: Event, field: str) -> Event:
    """The event with a field listed in `data.guessed`."""
    return replace(event, data=event.data | {"guessed": [*event.data.get("guessed", []), field]})
