"""Deferred records: of calls that were answered already, completed in their order when idle (docs/adr/0016)."""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic

from msgspec.json import decode

from hookonce.base.event_loop import EventLoop
from hookonce.base.jsontext import dump
from hookonce.daemon import connection
from hookonce.daemon.call_timer import CallTimer
from hookonce.daemon.dedup_cache import DedupCache
from hookonce.daemon.socket_call import LARGE_PAYLOAD_BYTES
from hookonce.dispatch import dispatcher
from hookonce.dispatch.context import CallContext
from hookonce.dispatch.fast_path import lookup
from hookonce.dispatch.fast_path.manifest_stamps import Stamps
from hookonce.dispatch.fast_path.table import TableCache
from hookonce.handlers.loop_task import LoopTask
from hookonce.model import Object, Stored
from hookonce.secrets import log
from hookonce.store.spool.journal import SpoolJournal

_MAX_DEFERRED_CALLS = 512  # of which only that they happened is known; beyond, the next one waits for the first
_MAX_DEFERRED_BYTES = 4 << 20  # and bytes of their payloads, all together
_QUIET_PERIOD_S = 0.005  # seconds without a call in which others are looked at
_MAX_DRAIN_CALLS = 64  # calls that are looked at while an agent waits
_MAX_DEFER_S = 5.0  # seconds after which they are looked at all the same


class DeferredCalls:
    """Queue of calls that were answered already and have still to be recorded, in order."""

    def __init__(
        self, loop: EventLoop, journal: SpoolJournal, dedup_cache: DedupCache, call_timer: CallTimer | None = None
    ) -> None:
        self._loop, self._journal, self._dedup_cache = loop, journal, dedup_cache
        self._call_timer = call_timer or CallTimer()
        self._queue: deque[tuple[float, int, Callable[[], object]]] = deque()  # since when, bytes, and what to do
        self._queue_bytes, self._last_call_at, self._is_scheduled, self._batch_remaining = 0, 0.0, False, 0
        self._forced_remaining = 0  # how many are to be looked at though calls come
        self._table_cache = TableCache()
        self._environment = b""  # of the last call, which most others have too

    def answer_silently(self, calls: Sequence[list[bytes]], stamps: Stamps) -> list[bytes | None]:
        """Replies of calls that concern no hook, once they are noted in the journal; None for all other calls.

        `stamps` are those of the manifests above all projects. They, and the folders of the calls, are looked at after
        all of these calls have come.
        """
        self._last_call_at = monotonic()
        table, free_folders = self._table_cache.current_table(stamps), set[str]()
        silences: list[bytes | None] = []
        recorded_calls: list[list[bytes]] = []
        placeholders: list[tuple[str, bytes]] = []
        for fields in calls:
            call_id, row = _find_row(table, fields, free_folders) or ("", None)
            silences.append(None if row is None else row["silence"])
            if row is not None and table["record"]:
                recorded_calls.append(fields)
                placeholders.append((call_id, lookup.build_spool_line(table, row, call_id)))
        if placeholders and not self._journal.append_placeholders(placeholders):
            return [None] * len(calls)  # a record that is lost is counted on the long way
        for fields in recorded_calls:
            self._defer_call(fields)
        return silences

    def _defer_call(self, fields: list[bytes]) -> None:
        if fields[4] == self._environment:
            fields[4] = self._environment
        self._environment = fields[4]
        self._defer(len(fields[7]), partial(self._record_call, self._last_call_at, fields))

    def defer_record(self, placeholder: Stored | None, size: int, write: Callable[[], object]) -> bool:
        """Have the record of a decided call written later, behind those before it: one may be of the same event.

        False if its placeholder, where it has to have one, cannot be written.
        """
        if placeholder is not None and not self._journal.append_placeholder(placeholder.event.id, dump(placeholder)):
            return False
        self._defer(size, write)
        return True

    def _defer(self, size: int, work: Callable[[], object]) -> None:
        self._queue.append((monotonic(), size, work))
        self._queue_bytes += size
        if len(self._queue) > _MAX_DEFERRED_CALLS or self._queue_bytes > _MAX_DEFERRED_BYTES:
            self._process_next()
        self._schedule()

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_later(_QUIET_PERIOD_S, self._check_queue)

    def _check_queue(self) -> None:
        self._is_scheduled = False
        if self._queue and not self._is_busy():
            self._start_batch()
        elif self._queue:
            self._schedule()

    def _is_busy(self) -> bool:
        now = monotonic()
        return now - self._last_call_at < _QUIET_PERIOD_S and now - self._queue[0][0] <= _MAX_DEFER_S

    @property
    def is_flushed(self) -> bool:
        """Whether the queue is empty."""
        return not self._queue

    def flush(self) -> None:
        """Process the whole queue now, even while calls come in."""
        self._forced_remaining = len(self._queue)
        self._start_batch()

    def _start_batch(self) -> None:
        if self._queue and not self._batch_remaining:
            self._loop.call_idle(self._run_step)
        self._batch_remaining = len(self._queue)

    def _run_step(self) -> None:
        """Process one call per idle turn of the loop, then schedule the next."""
        if self._queue and not self._forced_remaining and self._is_busy():
            self._batch_remaining = 0
            self._schedule()
            return
        self._batch_remaining = max(min(self._batch_remaining, len(self._queue)) - 1, 0)
        self._forced_remaining = max(self._forced_remaining - 1, 0)
        if self._batch_remaining > 0:
            self._loop.call_idle(self._run_step)
        self._process_next()

    def drain(self) -> bool:
        """Process what is in the queue at once, because somebody has to know it; whether that was all."""
        for _ in range(min(len(self._queue), _MAX_DRAIN_CALLS)):
            self._process_next()
        return not self._queue

    def _process_next(self) -> None:
        if not self._queue:
            return
        _, size, work = self._queue.popleft()
        self._queue_bytes -= size
        try:
            work()
        except Exception as problem:  # noqa: BLE001  it must not keep those behind it, or who calls now, from theirs
            log.write(f"daemon: the record of a call stays incomplete: {log.format_trace(problem)}")

    def _record_call(self, received_at: float, fields: list[bytes]) -> None:
        client_request = connection.parse_request(fields)
        call_context = CallContext(
            environment=client_request.environment,
            cwd=client_request.cwd,
            spool=self._journal,
            dedup_store=self._dedup_cache,
            runs_hooks=False,
            on_record=partial(self._call_timer.record_start, at=received_at),
            add_duration=partial(self._call_timer.add_duration, at=received_at),
        )
        call = dispatcher.receive_call(client_request.argv, client_request.stdin, call_context, client_request.id)
        LoopTask(self._loop, dispatcher.answer_incoming(call), lambda _: None).resume()


def _find_row(table: Object, fields: list[bytes], free_folders: set[str]) -> tuple[str, Object] | None:
    """Id and row of a call that concerns no hook."""
    if len(fields[7]) > LARGE_PAYLOAD_BYTES:
        return None
    try:
        row = lookup.find_row(table, fields, decode, free_folders) if table else None
        return None if row is None else (connection.parse_call_id(fields[2]), row)
    except Exception:  # noqa: BLE001  no JSON, or too deep, or not for us: the long way says what it is
        return None
