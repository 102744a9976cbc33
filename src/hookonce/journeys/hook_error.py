"""A hook that failed, as an event of its own: who watches for errors has not to look into every call."""

from msgspec.structs import replace

from hookonce import ids
from hookonce.model import Actor, Event, HookRun, Record

_ERROR_EVENT = "error_occurred"


def hook_error_records(record: Record) -> list[Record]:
    """An `error_occurred` record for each hook of a call that failed, derived from the call's own."""
    failures = ((index, run) for index, run in enumerate(record.runs) if run.failure is not None)
    return [Record(event=_error_event(record.event, run, index)) for index, run in failures]


def _error_event(event: Event, run: HookRun, index: int) -> Event:
    """The same moment of the same session, without the call's contents."""
    return replace(
        event,
        id=ids.derive_id(event.id, _ERROR_EVENT, str(index)),
        type=_ERROR_EVENT,
        derived_from=event.id,
        actor=Actor(type="system"),
        tool=None,
        prompt=None,
        model=None,
        usage=None,
        origin=None,
        native=None,
        data={
            "error_type": "HookError",
            "error": run.failure,
            "origin_event": event.type,
            "hook": run.hook,
            "index": index,
        },
    )
