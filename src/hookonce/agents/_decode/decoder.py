"""Decoder of native payloads into Events, by the agent's tables; exceptions stand in the agent's package.

A payload is flattened to *facts* (slot → value) by the agent's `keys`, whose right side names the slots, refined by the
agent's own function where it has one, and built into an Event.
"""

from functools import cache
from typing import Any

from msgspec.structs import replace

from hookonce.agents._decode.tool_calls import build_tool
from hookonce.base import ids, times
from hookonce.base.jsontext import dump
from hookonce.errors import PayloadError
from hookonce.model import SCHEMA, Actor, Agent, Event, Facts, Object, Subagent, TimeSource, Usage
from hookonce.vocabulary.events import SYSTEM_EVENTS, USER_EVENTS

_TEXT_SLOTS = ("turn", "cwd", "model", "prompt", "version", "parent_session")
_USER = Actor(type="user")
_AI = Actor(type="ai_agent")
_SYSTEM = Actor(type="system")


def decode(
    agent: Agent,
    payload: Any,
    event: str | None = None,
    *,
    id: str | None = None,  # noqa: A002  the noun's own field name
    received: str | None = None,
    is_certain: bool = False,
) -> Event:
    """Decode a native payload into an Event. `event` is a hint, and the payload's own name wins, unless it is certain.

    Without an `id` the event gets the one that `translate` gives the first such payload of a stream.
    """
    if type(payload) is not dict:
        raise PayloadError(f"expected a JSON object, got {_json_type_name(payload)}")
    facts, data = _extract_facts(agent, payload, event)
    fact = facts.get
    native = event if is_certain else fact("event")
    if native != event or not native:
        native = _resolve_event_name(agent, native, data, event)
    kind = fact("kind") or agent.events.get(native) or normalize(agent, native)
    if agent.refine is not None:
        facts["kind"] = kind
        agent.refine(facts, data, payload)
        kind = facts["kind"]
    turn, cwd, model, prompt, version, parent_session = _select_texts(facts, data)
    tool, session, usage, mode, time = fact("tool"), fact("session"), fact("usage"), fact("mode"), fact("time")
    source: TimeSource = "received" if received else "none"
    if time is not None and (time := _time_text(time, data)) is not None:
        source = "agent"
    if tool is None and "error" in facts:
        data["error"] = facts["error"]
    if session is not None and type(session) is not str:
        key = _key_of_slot(agent, "session")
        raise PayloadError(f"the session id must be a string, got {_json_type_name(session)}", f"$.{key}")
    has_subagent = "subagent_type" in facts or "subagent" in facts or "subagent_parent" in facts
    subagent = _build_subagent(facts, kind, data) if has_subagent else None
    if mode is not None:
        data["permission_mode"] = mode
    is_human = kind in USER_EVENTS and "subagent" not in facts and fact("actor") != "ai_agent"
    output = Event(  # at most 15 arguments: with more, Python builds a dictionary of them, at four times the cost
        id=ids.StreamIds().next(agent.name, dump(payload)) if id is None else id,
        schema=SCHEMA,
        type=kind,
        agent=agent.name,
        session=session,
        turn=turn,
        time=time or received or times.EPOCH_TEXT,
        time_source=source,
        cwd=cwd,
        tool=None if tool is None else build_tool(agent, facts, kind),
        model=model,
        mode=agent.modes.get(mode) if type(mode) is str else None,
        actor=_USER if is_human else _SYSTEM if kind in SYSTEM_EVENTS else _AI,
        data=data,
        native=payload,
    )
    if version is subagent is prompt is received is usage is parent_session is None:
        return output
    fields = {"agent_version": version, "parent_session": parent_session, "subagent": subagent, "received": received}
    return replace(output, prompt=prompt, usage=usage if isinstance(usage, Usage) else None, **fields)


def normalize(agent: Agent, native: str) -> str:
    """The canonical name of a native event; an unknown one becomes `vendor.<agent>.<Native>`."""
    kind = agent.events.get(native)
    if kind is not None:
        return kind
    kind = _events_by_folded_name(tuple(agent.events.items())).get(_fold_name(native))
    return kind or f"vendor.{agent.name}.{native}"


@cache
def _events_by_folded_name(events: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """An agent's events by their names without case and joints, as other texts spell them."""
    return {_fold_name(name): kind for name, kind in reversed(events)}


def _fold_name(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


def find_native_event(agent: Agent, kind: str) -> str | None:
    """The agent's own name of a canonical event, if it has one; the first of several."""
    vendor_prefix = f"vendor.{agent.name}."
    if kind.startswith(vendor_prefix):
        return kind[len(vendor_prefix) :]
    return next((native for native, canonical in agent.events.items() if canonical == kind), None)


def _extract_facts(agent: Agent, payload: Object, event: str | None) -> tuple[Facts, Object]:
    flat = payload if agent.unwrap is None else agent.unwrap(payload, event)
    facts: Facts = {}
    data: Object = {}
    slot_of, detail_of = agent.keys.get, agent.details.get
    for key, value in flat.items():
        if value is not None:
            slot = slot_of(key)
            if slot is not None:
                facts[slot] = value
            elif (name := detail_of(key)) is not None:
                data[name] = value
    if transcript := facts.pop("transcript", None):
        data["transcript_path"] = transcript
    return facts, data


def _resolve_event_name(agent: Agent, name: Any, data: Object, hint: str | None) -> str:
    """The payload's own event name, else the hint; a contradiction is recorded as `called_through`."""
    if name is None:
        name = hint
    if name is None or name == "":
        raise PayloadError(f"the payload of {agent.title} contains no event; name it with --event")
    if type(name) is not str:
        raise PayloadError(f"expected a string, got {_json_type_name(name)}", f"$.{_key_of_slot(agent, 'event')}")
    if hint and name != hint and normalize(agent, hint) != normalize(agent, name):
        data["called_through"] = hint
    return name


def _key_of_slot(agent: Agent, slot: str) -> str | None:
    return next((key for key, name in agent.keys.items() if name == slot), slot)


def _select_texts(facts: Facts, data: Object) -> list[Any]:
    """The values of the text slots. One of a wrong type is no reason to refuse the event: it moves to `data`."""
    values = list(map(facts.get, _TEXT_SLOTS))
    for value in values:
        if value is not None and type(value) is not str:
            slots = [slot for slot in facts if slot in _TEXT_SLOTS and not isinstance(facts[slot], str | None)]
            data |= {slot: facts.pop(slot) for slot in slots}
            return list(map(facts.get, _TEXT_SLOTS))
    return values


def _time_text(value: Any, data: Object) -> str | None:
    """The time that the agent names; what is no time goes to `data`."""
    text: str | None = None
    if type(value) is str:
        if times.has_zone(value):
            return value
        moment = times.parse_time(value)
        text = None if moment is None else times.format_time(moment)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        text = times.from_milliseconds(value)
    if text is None:
        data["time"] = value
    return text


def _build_subagent(facts: Facts, kind: str, data: Object) -> Subagent | None:
    """The sub-agent of the event; the main agent may have a type too, which goes to `data`."""
    subagent_id, subagent_type, parent = facts.get("subagent"), facts.get("subagent_type"), facts.get("subagent_parent")
    if subagent_id is None and parent is None and (subagent_type is None or not kind.startswith("subagent_")):
        if subagent_type is not None:
            data["agent_type"] = subagent_type
        return None
    return Subagent(id=_to_text(subagent_id), type=_to_text(subagent_type), parent=_to_text(parent))


def _to_text(value: Any) -> str | None:
    return value if value is None or type(value) is str else str(value)


def _json_type_name(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
