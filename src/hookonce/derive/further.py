"""A further record: what follows from another one, in the same session and at the same moment."""

from typing import Any

from hookonce import ids
from hookonce.canon.echo import is_echo, is_further
from hookonce.canon.events import BY_SYSTEM, BY_USER
from hookonce.model import SCHEMA, Actor, Decision, Event, Object, Record

__all__ = ["further", "is_echo", "is_further"]

_USER, _SYSTEM, _AI = Actor(type="user"), Actor(type="system"), Actor(type="ai_agent")


def further(
    parent: Event,
    kind: str,
    data: Object | None = None,
    *,
    index: int = 0,
    decision: Decision | None = None,
    **more: Any,
) -> Record:
    """The record of that kind which follows from an event; the same parent gives the same id, however often."""
    fields: Object = {
        "agent": parent.agent,
        "agent_version": parent.agent_version,
        "session": parent.session,
        "turn": parent.turn,
        "subagent": parent.subagent,
        "parent_session": parent.parent_session,
        "time": parent.time,
        "time_source": parent.time_source,
        "received": parent.received,
        "cwd": parent.cwd,
        "model": parent.model,
        "mode": parent.mode,
        "actor": _USER if kind in BY_USER else _SYSTEM if kind in BY_SYSTEM else _AI,
    }
    told = {name: value for name, value in (data or {}).items() if value is not None}
    event = Event(
        id=ids.derive(parent.id, kind, str(index)),
        schema=SCHEMA,
        type=kind,
        data=told | {"derived": True},
        derived_from=parent.id,
        **fields | more,
    )
    return Record(event=event, decision=decision)
