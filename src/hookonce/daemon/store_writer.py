"""Background store writer: moves records from journal and spool into the store while no caller waits.

Also signs checkpoints, applies retention in small steps, and flushes on demand before somebody queries the store.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from threading import Thread
from time import monotonic

from hookonce.agents import reports_session_start
from hookonce.base import settings
from hookonce.base.event_loop import EventLoop
from hookonce.daemon.checkpoint_signer import CheckpointSigner
from hookonce.dispatch.derived_hooks import has_derived_hooks
from hookonce.errors import HookonceError
from hookonce.model import Event, Object
from hookonce.secrets import log
from hookonce.sessions.recorder import Recorder, RecordListener, SessionKey
from hookonce.store import database
from hookonce.store.database import WalCheckpointer
from hookonce.store.entry import StoreEntry
from hookonce.store.integrity.checkpoint import CHECKPOINT_INTERVAL_ROWS, sign_checkpoint
from hookonce.store.maintenance import retention
from hookonce.store.spool.journal import SpoolJournal
from hookonce.store.spool.lookup import KnownEvent, SpoolIndex, find_row
from hookonce.store.writer import Writer

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
        self._loop.call_later(seconds, partial(self._loop.call_idle, self._run_step))

    def _run_step(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            self._schedule_step(_RETENTION_STEP_INTERVAL_S)
            return
        removals: list[object] = []
        if not self._run_with_recorder(
            lambda recorder: removals.append(retention.remove_batch(recorder.writer.connection, self._last_row))
        ):
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


_QUIET_PERIOD_S = 0.25  # seconds without a record after which they are stored: a second entry adds to the first
_MAX_PENDING_AGE_S = 1.0  # seconds after which they are kept all the same
_MAX_BUSY_DELAY_S = 5.0  # and though calls come one after the other
_MAX_PENDING_ROWS = 256  # records in memory, beyond which they are kept though calls come
_MAX_CROWD_ROWS = 1024  # and though no turn of the loop is without a call
_BATCH_ROWS = 16  # records in one turn of the loop
_BUSY_RETRY_S = 0.02  # seconds for which we make room for those who call
_MAX_SPOOL_FILES = 16  # of others, as above
_SHUTDOWN_BATCH_ROWS = 512  # records at once when nobody is there any more
_LOCK_TIMEOUT_S = 0.02  # seconds that others may keep us waiting
_STORE_RETRY_S = 5.0  # seconds until a store that could not be written is tried again
_RETENTION_INTERVAL_S = 3600.0  # seconds between two looks for what is too old
_SIGN_INTERVAL_S = 60.0  # seconds after which what is new is signed
_END_TYPES = frozenset({"session_end"})
_STORE_ERRORS = (sqlite3.Error, OSError, HookonceError)


class BackgroundStoreWriter:
    """Writer of all entries that are in the journal and not in the store yet."""

    def __init__(self, loop: EventLoop, is_busy: Callable[[], bool] = lambda: False) -> None:
        """The store is opened when there is something to write."""
        self._loop, self._is_busy = loop, is_busy
        self.journal = SpoolJournal(self._add, lambda event: self._pending.pop(event, None), self._handle_rotation)
        self._pending: dict[str, StoreEntry] = {}
        self._spool_index = SpoolIndex()
        self._first_pending_at = self._last_pending_at = self._last_sign_at = monotonic()
        self._last_retention_at = 0.0  # when we last looked for what is too old
        self._recorder: Recorder | None = None
        self._tidier, self._retention = WalCheckpointer(), RetentionRunner(loop, self.run_with_recorder)
        self._signer = CheckpointSigner(loop, self, self._handle_unsigned)
        self._listener: RecordListener | None = None
        self._on_close: Callable[[Recorder], object] = lambda _: None
        self._on_queued: Callable[[], object] = lambda: None
        self._is_scheduled, self._unsigned_rows, self._has_session_end = False, 0, False
        self._open_inode = 0  # of the database that is open
        self.stored_count, self.problem = 0, None  # type: tuple[int, str | None]
        self._on_added: Callable[[StoreEntry], object] = lambda _: None

    def connect_sessions(
        self,
        listener: RecordListener | None = None,
        on_added: Callable[[StoreEntry], object] = lambda _: None,
        on_close: Callable[[Recorder], object] = lambda _: None,
        on_queued: Callable[[], object] = lambda: None,
    ) -> None:
        """Connect what follows sessions: the recorder's listener, and who gets each entry of the daemon's calls.

        `on_close` may store something before the store is closed; `on_queued` is called when hooks are to be asked.
        """
        self._listener, self._on_added, self._on_close, self._on_queued = listener, on_added, on_close, on_queued

    def _add(self, entry: StoreEntry) -> None:
        self._last_pending_at = monotonic()
        if not self._pending:
            self._first_pending_at = self._last_pending_at
        self._pending[entry.record.event.id] = entry
        self._has_session_end |= entry.record.event.type in _END_TYPES
        self._on_added(entry)
        self._schedule(_QUIET_PERIOD_S)
        count = len(self._pending)
        if count == _MAX_PENDING_ROWS + 1:
            self._loop.call_idle(self._commit_if_idle)
        elif count >= _MAX_CROWD_ROWS and count % _BATCH_ROWS == 0 and self.problem is None:
            self._loop.call_soon(self._commit_batch)

    def _handle_rotation(self) -> bool:
        """A journal file is full; while the store fails, pending entries are dropped here, and ingested from there."""
        if self.problem is None:
            return False
        self._pending.clear()
        return True

    def _schedule(self, seconds: float) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_later(seconds, self._check_pending)

    def _check_pending(self) -> None:
        self._is_scheduled = False
        now = monotonic()
        if self._pending and (
            now - self._last_pending_at >= _QUIET_PERIOD_S or now - self._first_pending_at > _MAX_PENDING_AGE_S
        ):
            self._loop.call_idle(self._commit_if_idle)
        elif self._pending:
            self._schedule(_QUIET_PERIOD_S)

    def _commit_if_idle(self) -> None:
        """Store a batch unless calls come in; the journal is restarted when everything is stored."""
        is_early = len(self._pending) <= _MAX_PENDING_ROWS and monotonic() - self._first_pending_at < _MAX_BUSY_DELAY_S
        if self._is_busy() and is_early:
            self._schedule(_BUSY_RETRY_S)
            return
        self._commit_batch()

    def _commit_batch(self) -> None:
        batch = list(self._pending.values())[:_BATCH_ROWS]
        if not batch or not self.run_with_recorder(partial(self._store_batch, batch)):
            return
        if self._pending:
            self._loop.call_idle(self._commit_if_idle)
        else:
            self.journal.truncate()

    @property
    def is_flushed(self) -> bool:
        """Whether everything is stored, or nothing can be stored now."""
        return not self._pending or self.problem is not None

    def flush_batch(self) -> None:
        """Store one batch now."""
        if not self.is_flushed:
            self._commit_batch()

    def _store_batch(self, batch: list[StoreEntry], recorder: Recorder) -> None:
        """Store a batch, after what others have spooled: a session's start may be there."""
        new_rows = recorder.ingest_spool(_MAX_SPOOL_FILES).new_records + recorder.record(batch)
        self._unsigned_rows += new_rows
        self._tidier.count_rows(new_rows)
        self.stored_count += len(batch)
        self.journal.confirm_stored(entry.record.event.id for entry in batch)
        for entry in batch:
            self._pending.pop(entry.record.event.id, None)

    def maintain(self) -> None:
        """Periodic maintenance: ingest the spool, sign, apply retention."""
        self.journal.refresh()
        if settings.load().record or database.database_file().exists():  # who wants no record has none made
            self.run_with_recorder(self._maintain_store)

    def _maintain_store(self, recorder: Recorder) -> None:
        ingestion = recorder.ingest_spool(_MAX_SPOOL_FILES)
        self._unsigned_rows += ingestion.new_records
        self._tidier.count_rows(ingestion.new_records)
        if ingestion.new_records:
            self._loop.call_idle(self.maintain)
        if monotonic() - self._last_retention_at > _RETENTION_INTERVAL_S:
            self._last_retention_at = monotonic()
            self._retention.start()
        is_sign_due = (
            self._has_session_end
            or self._unsigned_rows >= CHECKPOINT_INTERVAL_ROWS
            or monotonic() - self._last_sign_at > _SIGN_INTERVAL_S
        )
        if self._unsigned_rows and is_sign_due and not (self._pending or self._signer.is_busy):
            self._signer.start(recorder.writer.connection)
            self._unsigned_rows, self._has_session_end, self._last_sign_at = 0, False, monotonic()

    def _handle_unsigned(self) -> None:
        """A checkpoint failed: it is tried again soon, and what it was about is still to be signed."""
        self._unsigned_rows += 1
        self._last_sign_at = float("-inf")

    def end_session(self, key: SessionKey, *, now: str, is_gone: bool | None) -> bool:
        """Store the end of a session if it has one by now and none of its entries is pending; whether it is over."""
        results: list[tuple[bool, int]] = []
        if any((event.agent, event.session) == key for event in self.pending_events()):
            return False
        self.run_with_recorder(lambda recorder: results.append(recorder.end_session(key, now=now, is_gone=is_gone)))
        is_over, new_rows = results[0] if results else (False, 0)
        self._unsigned_rows += new_rows
        self._has_session_end |= new_rows > 0
        return is_over

    def complete_end(self, event: Event) -> Event:
        """A session's end as hooks are told: completed by what is stored of the session, and by pending entries."""
        events: list[Event] = []
        records = [entry.record for entry in self._pending.values()]

        def complete(recorder: Recorder) -> None:
            recorder.ingest_spool(_MAX_SPOOL_FILES)  # its start may be there
            events.append(recorder.complete_live_end(event, records))

        if settings.load().record:
            self.run_with_recorder(complete)
        return events[0] if events else event

    def pending_events(self) -> Iterator[Event]:
        """Events of entries that are not in the store yet."""
        return (entry.record.event for entry in self._pending.values())

    @property
    def pending_count(self) -> int:
        """Entries that are not in the store yet."""
        return len(self._pending)

    def find_event(self, event_id: str) -> KnownEvent | None:
        """What is recorded of an event, wherever its record is by now."""
        if (entry := self._pending.get(event_id)) is not None:
            return KnownEvent(entry.record)
        if (record := self._spool_index.find_record(event_id, self.journal.path)) is not None:
            return KnownEvent(record)
        results: list[KnownEvent | None] = []
        if database.database_file().exists():
            self.run_with_recorder(lambda recorder: results.append(find_row(recorder.writer.connection, event_id)))
        return results[0] if results else None

    def close(self) -> None:
        """Store and sign everything that is pending, and close the store."""
        while self._pending:
            batch = list(self._pending.values())[:_SHUTDOWN_BATCH_ROWS]
            if not self.run_with_recorder(partial(self._store_batch, batch)):
                break
        if not self._pending:
            self.journal.truncate()
            self.run_with_recorder(self._on_close)
        if self._unsigned_rows or self._signer.is_busy:
            self.run_with_recorder(lambda recorder: sign_checkpoint(recorder.writer.connection))
        self._tidier.close()
        self._close_recorder()

    def run_with_recorder(self, work: Callable[[Recorder], object]) -> bool:
        """Run a function with the recorder; whether the store could be used. The newest entries may still be pending.

        On errors nothing is lost (the journal has it), and it is tried again.
        """
        try:
            if self._open_inode != _database_inode():  # somebody has put another in its place
                self._close_recorder()
            if self._recorder is None:
                writer = Writer(durability=settings.load().durability, lock_timeout_s=_LOCK_TIMEOUT_S)
                self._recorder = Recorder(writer, reports_session_start, self._listener, has_derived_hooks)
                self._open_inode = _database_inode()
            work(self._recorder)
            if self._recorder.has_queued:
                self._recorder.has_queued = False
                self._on_queued()
        except _STORE_ERRORS as problem:
            if self.problem is None:
                log.write(f"daemon: the store cannot be written, records stay in the spool: {problem}")
            self.problem = str(problem)
            self._close_recorder()
            self._last_pending_at = monotonic()
            self._schedule(_STORE_RETRY_S)
            return False
        self.problem = None
        return True

    def _close_recorder(self) -> None:
        if self._recorder is not None:
            self._recorder.writer.close()
            self._recorder = None

    def status(self) -> Object:
        """The store's part of the status report."""
        problem = self.problem or self._signer.problem
        return {"kept": self.stored_count, "waiting": len(self._pending), "problem": problem}


def _database_inode() -> int:
    try:
        return database.database_file().stat().st_ino
    except OSError:
        return 0
