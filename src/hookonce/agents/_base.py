"""The ordinary way to read an agent's payload. What an agent does differently stands in its own file.

A payload is flattened to *facts* (slot → value) by the agent's `keys`, refined by the agent's own
function where it has one, and built into an Event. Slots are the names on the right side of `keys`:
event session turn cwd time model mode prompt version transcript parent_session user usage
tool input output error call_id duration mcp_server subagent subagent_type subagent_parent.
"""

from typing import Any

from hookonce import ids, times
from hookonce.agents._tool import tool_of
from hookonce.canon.events import BY_SYSTEM, BY_USER
from hookonce.errors import PayloadError
from hookonce.model import SCHEMA, Actor, Agent, Event, Facts, Object, Subagent, TimeSource, Usage
from hookonce.texts import dump

_TEXTS = frozenset({"turn", "cwd", "model", "prompt", "version", "parent_session"})
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
) -> Event:
    """The native payload as an Event. `event` is what the caller was told; the payload's own word wins.

    Without an `id` the event gets the one that `translate` gives the first such payload of a stream.
    """
    if type(payload) is not dict:
        raise PayloadError(f"expected a JSON object, got {_kind(payload)}")
    facts, data = _facts(agent, payload, event)
    native = _event_name(agent, facts, data, event)
    kind = facts.get("kind") or normalize(agent, native)
    if agent.refine is not None:
        facts["kind"] = kind
        agent.refine(facts, data, payload)
        kind = facts["kind"]
    _keep_misfits(facts, data)
    time, source = _time(facts, data, received)
    tool = facts.get("tool")
    if tool is None and "error" in facts:
        data["error"] = facts["error"]
    return Event(
        id=ids.StreamIds().next(agent.name, dump(payload)) if id is None else id,
        schema=SCHEMA,
        type=kind,
        agent=agent.name,
        agent_version=facts.get("version"),
        session=_session(agent, facts),
        turn=facts.get("turn"),
        subagent=_subagent(facts, kind, data),
        parent_session=facts.get("parent_session"),
        time=time,
        time_source=source,
        received=received,
        cwd=facts.get("cwd"),
        tool=None if tool is None else tool_of(agent, facts, kind),
        prompt=facts.get("prompt"),
        model=facts.get("model"),
        usage=facts.get("usage") if isinstance(facts.get("usage"), Usage) else None,
        mode=_mode(agent, facts, data),
        actor=_actor(kind, facts),
        data=data,
        native=payload,
    )


def normalize(agent: Agent, native: str) -> str:
    """The canonical name of a native event; an unknown one becomes `vendor.<agent>.<Native>`."""
    kind = agent.events.get(native)
    if kind is not None:
        return kind
    folds = _FOLDS.get(agent.name)
    if folds is None:
        folds = _FOLDS[agent.name] = {_fold(name): known for name, known in reversed([*agent.events.items()])}
    return folds.get(_fold(native)) or f"vendor.{agent.name}.{native}"


_FOLDS: dict[str, dict[str, str]] = {}  # agent → its events without case and joints, as other texts spell them


def _fold(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


def event_name(agent: Agent, kind: str) -> str | None:
    """The agent's own name of a canonical event, if it has one; the first of several."""
    own = f"vendor.{agent.name}."
    if kind.startswith(own):
        return kind[len(own) :]
    return next((native for native, known in agent.events.items() if known == kind), None)


def _facts(agent: Agent, payload: Object, event: str | None) -> tuple[Facts, Object]:
    flat = payload if agent.unwrap is None else agent.unwrap(payload, event)
    facts: Facts = {}
    data: Object = {}
    slot_of, detail_of = agent.keys.get, agent.details.get
    for key, value in flat.items():
        if value is None:
            continue
        if slot := slot_of(key):
            facts[slot] = value
        elif name := detail_of(key):
            data[name] = value
    if transcript := facts.pop("transcript", None):
        data["transcript_path"] = transcript
    return facts, data


def _event_name(agent: Agent, facts: Facts, data: Object, told: str | None) -> str:
    """The payload's own word, else what the caller was told; a contradiction is kept by name."""
    named = facts.get("event")
    if named is None:
        named = told
    elif told and named != told and type(named) is str and normalize(agent, told) != normalize(agent, named):
        data["called_through"] = told
    if type(named) is not str or not named:
        key = next((key for key, slot in agent.keys.items() if slot == "event"), None)
        if named is None or named == "":
            raise PayloadError(f"the payload of {agent.title} names no event; say which one with --event")
        raise PayloadError(f"expected a string, got {_kind(named)}", f"$.{key}")
    return named


def _session(agent: Agent, facts: Facts) -> str | None:
    session = facts.get("session")
    if session is None or type(session) is str:
        return session
    key = next((key for key, slot in agent.keys.items() if slot == "session"), "session")
    raise PayloadError(f"the session id must be a string, got {_kind(session)}", f"$.{key}")


def _keep_misfits(facts: Facts, data: Object) -> None:
    """An optional value of a wrong type is no reason to refuse the event: it moves to `data` as it is."""
    wrong = [slot for slot, value in facts.items() if type(value) is not str and value is not None and slot in _TEXTS]
    for slot in wrong:
        data[slot] = facts.pop(slot)


def _time(facts: Facts, data: Object, received: str | None) -> tuple[str, TimeSource]:
    value = facts.get("time")
    text: str | None = None
    if type(value) is str:
        text = value if times.has_zone(value) else None
        if text is None and (moment := times.parse(value)):
            text = times.text_of(moment)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        text = times.from_milliseconds(value)
    if text is not None:
        return text, "agent"
    if value is not None:
        data["time"] = value
    return (received, "received") if received else (times.EPOCH, "none")


def _mode(agent: Agent, facts: Facts, data: Object) -> Any:
    value = facts.get("mode")
    if value is None:
        return None
    data["permission_mode"] = value
    return agent.modes.get(value) if type(value) is str else None


def _subagent(facts: Facts, kind: str, data: Object) -> Subagent | None:
    """Who it is about, if not the main agent, which may have a type as well but is nobody's sub-agent."""
    who, sort, parent = facts.get("subagent"), facts.get("subagent_type"), facts.get("subagent_parent")
    if who is None and parent is None and (sort is None or not kind.startswith("subagent_")):
        if sort is not None:
            data["agent_type"] = sort
        return None
    return Subagent(id=_text(who), type=_text(sort), parent=_text(parent))


def _actor(kind: str, facts: Facts) -> Actor:
    if kind in BY_USER and "subagent" not in facts and facts.get("actor") != "ai_agent":
        return _USER
    return _SYSTEM if kind in BY_SYSTEM else _AI


def _text(value: Any) -> str | None:
    return value if value is None or type(value) is str else str(value)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
