"""Encoder of native payloads: Event → the JSON that the agent would send, by the decoder's tables inverted."""

from functools import cache

from hookonce.agents._decode.decoder import find_native_event
from hookonce.agents._decode.tool_calls import encode_batch, native_tool
from hookonce.base import times
from hookonce.errors import UnknownName
from hookonce.model import Agent, Event, Facts, Object, Tool
from hookonce.vocabulary.events import OPERATIONS_BY_FILE_EVENT

# An agent with one event for several says inside the payload which one it is.
_BROADER_EVENTS = dict.fromkeys(OPERATIONS_BY_FILE_EVENT, "file_changed") | {"tool_use_failure": "after_tool_execute"}


def encode(agent: Agent, event: Event) -> Object:
    """The payload that the agent itself would send for this event."""
    if not agent.encodes:
        raise UnknownName(f"payloads of {agent.title} can be read but not yet written")
    facts = _collect_facts(agent, event)
    slots, details = _invert(tuple(agent.keys.items())), _invert(tuple(agent.details.items()))
    flat = {slots[slot]: value for slot, value in facts.items() if value is not None and slot in slots}
    for name, value in event.data.items():
        if (key := details.get(name)) is not None and value is not None:
            flat.setdefault(key, value)
    if event.type == "tool_batch":
        flat["tool_calls"] = encode_batch(agent, event.data.get("tool_calls"), own=event.agent == agent.name)
    return flat if agent.wrap is None else agent.wrap(flat, event)


def native_event(agent: Agent, kind: str) -> str:
    """The agent's own name of an event, or of the broader event that the agent reports it as."""
    native = find_native_event(agent, kind) or find_native_event(agent, _BROADER_EVENTS.get(kind, kind))
    if native is None:
        raise UnknownName(f"{agent.title} has no event for {kind}")
    return native


def _collect_facts(agent: Agent, event: Event) -> Facts:
    data, sub, own = event.data, event.subagent, event.agent == agent.name
    native_mode = next((native for native, mode in agent.modes.items() if mode == event.mode), None)
    facts: Facts = {
        "event": native_event(agent, event.type),
        "session": event.session,
        "turn": event.turn,
        "cwd": event.cwd,
        "time": event.time if event.time_source != "none" else None,
        "model": event.model,
        "mode": data.get("permission_mode") if own else native_mode,
        "prompt": event.prompt,
        "version": event.agent_version,
        "transcript": data.get("transcript_path"),
        "parent_session": event.parent_session,
        "error": data.get("error"),
        "subagent": sub and sub.id,
        "subagent_type": data.get("agent_type") if sub is None else sub.type,
        "subagent_parent": sub and sub.parent,
    }
    if event.tool is not None:
        facts |= _tool_facts(agent, event.tool, own=own)
    return facts


def _tool_facts(agent: Agent, tool: Tool, *, own: bool) -> Facts:
    native, native_input = native_tool(agent, tool, own=own)
    result = tool.result
    return {
        "tool": native,
        "input": native_input,
        "call_id": tool.call_id,
        "output": result and result.output,
        "error": result and result.error,
        "duration": result and result.duration_ms,
    }


@cache
def _invert(rows: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Slot or detail → key; of several keys the first is written."""
    return {name: key for key, name in reversed(rows)}


def to_epoch_ms(text: str) -> int:
    """A time as milliseconds since 1970."""
    return round((times.to_seconds(text) or 0) * 1000)
