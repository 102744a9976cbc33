"""Derived records: a record that follows from an event, in the same session and at the same time."""

from typing import Any

from hookonce.base import ids
from hookonce.model import SCHEMA, Actor, Decision, Event, Object, Record
from hookonce.vocabulary.events import CALLER_CWD, HOOK_DEPTH, SYSTEM_EVENTS, USER_EVENTS

_INHERITED_FIELDS = (
    *("agent", "agent_version", "session", "turn", "subagent", "parent_session"),
    *("time", "time_source", "received", "model", "mode", "user"),
)
_USER, _SYSTEM, _AI = Actor(type="user"), Actor(type="system"), Actor(type="ai_agent")


def derive_record(
    parent: Event, event_type: str, data: Object, *, index: int = 0, decision: Decision | None = None, **more: Any
) -> Record:
    """Build the record of that type which follows from an event; its id is a hash of the parent, so it repeats."""
    fields: Object = {name: getattr(parent, name) for name in _INHERITED_FIELDS}
    fields["actor"] = _USER if event_type in USER_EVENTS else _SYSTEM if event_type in SYSTEM_EVENTS else _AI
    fields["cwd"] = parent.cwd or parent.data.get(CALLER_CWD)
    record_data = {**data, HOOK_DEPTH: parent.data.get(HOOK_DEPTH)}
    record_data = {name: value for name, value in record_data.items() if value is not None}
    event = Event(
        id=ids.derive_id(parent.id, event_type, str(index)),
        schema=SCHEMA,
        type=event_type,
        data=record_data | {"derived": True},
        derived_from=parent.id,
        **fields | more,
    )
    return Record(event=event, decision=decision)
