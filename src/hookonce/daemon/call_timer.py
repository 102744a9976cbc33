"""Durations of tool calls by the monotonic clock: from the answer to a call's start to the arrival of its end."""

from collections import OrderedDict
from time import monotonic

from msgspec.structs import replace

from hookonce.model import Event, Record
from hookonce.sessions.derive.calls import CALL_START, build_open_call, call_signature, is_refused
from hookonce.vocabulary.events import TOOL_END_EVENTS

_MAX_CALLS = 4096  # that may still end
_MS_PER_S = 1000


class CallTimer:
    """Start times of the calls that agents have made through this daemon."""

    def __init__(self) -> None:
        """No call was seen yet."""
        self._start_times: OrderedDict[str, float] = OrderedDict()

    def record_start(self, record: Record, at: float | None = None) -> None:
        """Note that a call was answered, by default now; a refused one does not begin."""
        if record.event.type != CALL_START or record.event.tool is None or is_refused(record):
            return
        call_id = record.event.tool.call_id
        key = _id_key(record.event, call_id) if call_id else build_open_call(record).key
        self._start_times[key] = monotonic() if at is None else at
        self._start_times.move_to_end(key)
        if len(self._start_times) > _MAX_CALLS:
            self._start_times.popitem(last=False)

    def add_duration(self, event: Event, at: float | None = None) -> Event:
        """The end of a call with its duration, where its agent tells none and its start was seen."""
        tool = event.tool
        if event.type not in TOOL_END_EVENTS or tool is None or tool.result is None:
            return event
        if tool.result.duration_ms is not None:
            return event
        started_at = self._start_times.get(_id_key(event, tool.call_id) if tool.call_id else call_signature(event))
        if started_at is None:
            return event
        duration_ms = max(round(((monotonic() if at is None else at) - started_at) * _MS_PER_S), 0)
        return replace(event, tool=replace(tool, result=replace(tool.result, duration_ms=duration_ms)))


def _id_key(event: Event, call_id: str | None) -> str:
    return f"{event.agent}\0{event.session}\0{call_id}"
