"""Background store writer: moves records from journal and spool into the store while no caller waits.

Also signs checkpoints, applies retention in small steps, and flushes on demand before somebody queries the store.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from threading import Thread
from time import monotonic

from hookonce.errors import HookonceError
from hookonce.journeys.record import Recorder
from hookonce.runtime.loop import EventLoop
from hookonce.store import database, log, retention

_RETENTION_STEP_INTERVAL_S = 0.1  # seconds between two steps
_RETENTION_RETRY_S = 5.0  # seconds until a store that could not be written is tried again
RunWithRecorder = Callable[[Callable[[Recorder], object]], bool]


class RetentionRunner:
    """Retention in the daemon: expired rows are found on a thread and removed in small steps on the loop."""

    def __init__(self, loop: EventLoop, run_with_recorder: RunWithRecorder) -> None:
        """`run_with_recorder` does something with the store, and says whether it could."""
        self._loop, self._run_with_recorder = loop, run_with_recorder
        self._thread: Thread | None = None
        self._last_row = 0

    @property
    def is_busy(self) -> bool:
        """Whether rows may still have to be removed."""
        return self._thread is not None

    def start(self) -> None:
        """Start a retention pass; invalid settings remove nothing."""
        if self._thread is None and _is_retention_enabled():
            self._thread = Thread(target=self._find_expired, name="forget", daemon=True)
            self._thread.start()
            self._schedule_step(_RETENTION_STEP_INTERVAL_S)

    def _find_expired(self) -> None:
        """The scan of all rows takes long, but holds no write lock."""
        try:
            with closing(database.connect_reader()) as connection:
                self._last_row = retention.find_expired_seq(connection)
        except (sqlite3.Error, OSError, HookonceError) as problem:  # the next time
            log.write(f"daemon: what is too old could not be found: {log.safe_message(problem)}")

    def _schedule_step(self, seconds: float) -> None:
        self._loop.call_at(monotonic() + seconds, partial(self._loop.call_idle, self._run_step))

    def _run_step(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            self._schedule_step(_RETENTION_STEP_INTERVAL_S)
            return
        removals: list[object] = []
        if not self._run_with_recorder(lambda recorder: removals.append(retention.remove_batch(recorder.writer.connection, self._last_row))):
            self._schedule_step(_RETENTION_RETRY_S)
        elif removals[0] is not None:
            self._schedule_step(_RETENTION_STEP_INTERVAL_S)
        else:
            self._thread, self._last_row = None, 0


def _is_retention_enabled() -> bool:
    try:
        return retention.has_retention_limit()
    except HookonceError as problem:
        log.write(f"daemon: nothing is removed: {problem}")
        return False
