"""Read access to the store: the daemon flushes, the spool is ingested, then the store is opened read-only."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from sqlite3 import Connection
from time import monotonic, sleep

from msgspec.structs import replace

from hookonce.agents import reports_session_start
from hookonce.base import settings
from hookonce.client import daemon_endpoints
from hookonce.errors import HookonceError
from hookonce.sessions.recorder import Recorder
from hookonce.store import database
from hookonce.store.query import EventRow, RecordFilter, select_rows
from hookonce.store.schema import NewerStoreError
from hookonce.store.spool import files, overlay
from hookonce.store.writer import Writer, read_chain_head

Notify = Callable[[str], None]
NotifyWait = Callable[[float], None]  # is told how many seconds somebody has waited
_LOCK_TIMEOUT_S = 0.5  # for somebody else's transaction
_FLUSH_TIMEOUT_S = 0.3  # for the daemon to flush, and for a call to be parsed in full
_POLL_INTERVAL_S = 0.25
_INGEST_INTERVAL_S = 1.0
_PROGRESS_STEPS = 100_000  # of SQLite's virtual machine, between two looks at the clock
_WAIT_NOTICE_S = 1.0


@contextmanager
def open_store(notify: Notify, notify_wait: NotifyWait | None = None) -> Iterator[Connection]:
    """Open the store with everything up to now; where a query is long, `notify_wait` hears of every second."""
    ingest_spool(notify)
    if (problem := settings.load().read_error) is not None:
        notify(f"{problem}; until it can be, each setting is read as the strictest. Next: hookonce doctor")
    with closing(database.open_reader()) as connection:
        if _has_spool():
            overlay.overlay_records(connection, files.load_records())
        if notify_wait is not None:
            _report_waiting(connection, notify_wait)
        yield connection


def _report_waiting(connection: Connection, notify_wait: NotifyWait) -> None:
    started_at = noticed_at = monotonic()

    def check_clock() -> None:
        nonlocal noticed_at
        now = monotonic()
        if now - noticed_at >= _WAIT_NOTICE_S:
            noticed_at = now
            notify_wait(now - started_at)

    connection.set_progress_handler(check_clock, _PROGRESS_STEPS)


def ingest_spool(notify: Notify) -> None:
    """Have the daemon flush, and ingest the rest of the spool; where that cannot be, notify."""
    daemon_endpoints.query_status(daemon_endpoints.FLUSH, _FLUSH_TIMEOUT_S)
    if not _has_spool():
        return
    try:
        damaged_count = _ingest()
    except NewerStoreError:
        return  # which whoever opens it says, once
    except (sqlite3.Error, OSError, HookonceError) as problem:
        notify(f"the newest events are in no sum and in no session, because the record cannot be written: {problem}")
        return
    if damaged_count:
        state = "hold lines that were changed; they are kept aside in"
        notify(f"{damaged_count} spool files {state} {files.spool_dir()}")


def _has_spool() -> bool:
    for file in files.spool_dir().glob("*.jsonl"):
        with suppress(OSError):
            if file.stat().st_size:
                return True
    return False


def _ingest() -> int:
    """The number of damaged files. A call that is being read in full is waited for, but not for long."""
    deadline = monotonic() + _FLUSH_TIMEOUT_S
    with Writer(durability=settings.load().durability, lock_timeout_s=_LOCK_TIMEOUT_S) as writer:
        recorder = Recorder(writer, reports_session_start)
        result = recorder.ingest_spool()
        damaged_count = result.damaged_files
        while result.pending_calls and monotonic() < deadline:
            sleep(_FLUSH_TIMEOUT_S / 10)
            result = recorder.ingest_spool()
            damaged_count += result.damaged_files
    return damaged_count


def follow_events(query: RecordFilter, notify: Notify) -> Iterator[list[EventRow]]:
    """The rows that are there, and then whatever comes, for ever; also where nothing was ever stored."""
    notices: set[str] = set()

    def notify_once(text: str) -> None:
        if text not in notices:
            notices.add(text)
            notify(text)

    last_ingest = None
    while True:
        if last_ingest is None or monotonic() - last_ingest > _INGEST_INTERVAL_S:
            ingest_spool(notify_once)
            last_ingest = monotonic()
        batch, query = _read_batch(query)
        yield batch
        sleep(_POLL_INTERVAL_S)


def _read_batch(query: RecordFilter) -> tuple[list[EventRow], RecordFilter]:
    """The new rows, and the next query. The store is opened anew: it may have been made, or made anew."""
    with closing(database.open_reader()) as connection:
        connection.execute("BEGIN")
        last = read_chain_head(connection).seq
        if last < query.after:
            query = replace(query, after=0)
        batch = list(select_rows(connection, query))
    return batch, replace(query, after=last, last=None)
