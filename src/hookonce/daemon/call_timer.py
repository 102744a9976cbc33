"""Durations of tool calls by the monotonic clock: from the answer to a call's start to the arrival of its end."""

from collections import OrderedDict
from time import monotonic

from msgspec.structs import replace

from hookonce.model import Event, Record
from hookonce.sessions.derive.calls import CALL_START, SESSION_ENDS, build_open_call, call_signature, is_refused
from hookonce.vocabulary.events import TOOL_END_EVENTS

_MAX_CALLS = 4096  # that may still end; as many sessions
_MAX_REPEAT_S = 5.0  # seconds in which the end of a call may come through another entry as well
_TURN_EVENTS = SESSION_ENDS | {"before_prompt"}
_MS_PER_S = 1000
_Times = OrderedDict[str, float]


class CallTimer:
    """Start times of the calls that agents have made through this daemon.

    A call without an id is known by what it does: its start counts until its end, or its session's next prompt.
    """

    def __init__(self) -> None:
        self._start_times, self._end_times, self._turn_times = _Times(), _Times(), _Times()

    def record_start(self, record: Record, at: float | None = None) -> None:
        """Note that a call, or a prompt, was answered, by default now; a refused call does not begin."""
        event, now = record.event, monotonic() if at is None else at
        if event.type in _TURN_EVENTS:
            _note_time(self._turn_times, _id_key(event, None), now)
        if event.type != CALL_START or event.tool is None or is_refused(record):
            return
        call_id = event.tool.call_id
        key = _id_key(event, call_id) if call_id else build_open_call(record).key
        self._end_times.pop(key, None)
        _note_time(self._start_times, key, now)

    def add_duration(self, event: Event, at: float | None = None) -> Event:
        """The end of a call with its duration, where its agent tells none and its start was seen."""
        tool = event.tool
        if event.type not in TOOL_END_EVENTS or tool is None or tool.result is None:
            return event
        if tool.result.duration_ms is not None:
            return event
        now = monotonic() if at is None else at
        if tool.call_id:
            started_at = self._start_times.get(_id_key(event, tool.call_id))
        else:
            started_at = self._find_start(event, now)
        if started_at is None:
            return event
        duration_ms = max(round((now - started_at) * _MS_PER_S), 0)
        return replace(event, tool=replace(tool, result=replace(tool.result, duration_ms=duration_ms)))

    def _find_start(self, event: Event, now: float) -> float | None:
        """The start of the call without an id that ends now; None for one of an earlier turn, or that ended before."""
        key = call_signature(event)
        started_at = self._start_times.get(key)
        if started_at is None or started_at < self._turn_times.get(_id_key(event, None), started_at):
            return None
        if key not in self._end_times:
            _note_time(self._end_times, key, now)
        return started_at if now - self._end_times[key] <= _MAX_REPEAT_S else None


def _note_time(times: _Times, key: str, at: float) -> None:
    times[key] = at
    times.move_to_end(key)
    if len(times) > _MAX_CALLS:
        times.popitem(last=False)


def _id_key(event: Event, call_id: str | None) -> str:
    return f"{event.agent}\0{event.session}\0{call_id}"
