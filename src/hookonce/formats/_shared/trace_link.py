"""Link of an event to its Agent Trace record: which events have one, and under which id."""

from hookonce.base import ids
from hookonce.formats._shared.fields import path_of
from hookonce.model import Event
from hookonce.vocabulary.events import OPERATIONS_BY_FILE_EVENT
from hookonce.vocabulary.file_writes import build_file_events

_FILE_EVENT_TYPES = frozenset({"file_changed", *OPERATIONS_BY_FILE_EVENT})
_WRITING_TYPES = _FILE_EVENT_TYPES | {"after_tool_execute"}


def file_changes(event: Event) -> list[Event]:
    """The writes of files that an event tells of, which have one trace record together."""
    if event.type not in _WRITING_TYPES:
        return []
    return [event] if event.type in _FILE_EVENT_TYPES and path_of(event) else build_file_events(event)


def trace_record_id(event: Event) -> str | None:
    """The id of the trace record that is written of an event; None if there is none."""
    return ids.derive_id(event.id, "agent-trace", "0") if file_changes(event) else None
