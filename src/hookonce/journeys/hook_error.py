"""A hook that failed, as an event of its own: who watches for errors has not to look into every call."""

from msgspec.structs import replace

from hookonce import ids
from hookonce.model import Actor, Event, HookRun, Record

_KIND = "error_occurred"


def errors_of(record: Record) -> list[Record]:
    """A record for each hook of a call that failed, derived from the call's own."""
    failed = ((index, run) for index, run in enumerate(record.runs) if run.failure is not None)
    return [Record(event=_error(record.event, run, index)) for index, run in failed]


def _error(event: Event, run: HookRun, index: int) -> Event:
    """The same moment of the same session; the call's contents are told by the call alone."""
    return replace(
        event,
        id=ids.derive(event.id, _KIND, str(index)),
        type=_KIND,
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
