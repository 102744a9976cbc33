"""Status of the store: size, spool, lost records, damage at its end (`integrity.audit` checks all), recent alarms."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from sqlite3 import Connection
from time import time

from msgspec import Struct

from hookonce.base import paths, times
from hookonce.errors import HookonceError
from hookonce.store import database
from hookonce.store.integrity import chain, head_file, keys
from hookonce.store.integrity.chain import SELECT_ROWS, find_row_fault
from hookonce.store.query import RecordFilter, find_records, time_bound
from hookonce.store.rollup import RollupFilter, load_event_counts
from hookonce.store.spool import files
from hookonce.store.writer import read_chain_head


class StoreSummary(Struct, frozen=True, kw_only=True):
    """Rows of the store, bytes of its files, spool files to ingest, damaged spool files, lost records."""

    records: int
    size: int
    waiting: int
    damaged: int
    lost: int
    problem: str | None = None


def load_store_summary() -> StoreSummary:
    """The summary of the store; a store that cannot be read is its `problem`."""
    database_path = database.database_file()
    database_files = [database_path, database_path.with_name(f"{database_path.name}-wal")]
    records, problem = 0, None
    try:
        with closing(database.open_reader()) as connection:
            records = connection.execute("SELECT count FROM head").fetchone()[0]
    except HookonceError as trouble:
        problem = str(trouble)
    except (sqlite3.Error, OSError) as trouble:
        problem = f"the store {database_path} cannot be read: {trouble}"
    return StoreSummary(
        records=records,
        size=sum(file.stat().st_size for file in database_files if file.exists()),
        waiting=sum(1 for file in files.spool_dir().glob("*.jsonl") if file.stat().st_size),
        damaged=sum(1 for _ in files.spool_dir().glob("*.damaged")),
        lost=files.lost_record_count(),
        problem=problem,
    )


_NEXT_STEP = "; hookonce audit verify looks at all of it"


def find_record_troubles() -> list[str]:
    """Faults at the end of the record; an empty list where there is no database."""
    if not database.database_file().exists():
        return []
    try:
        # Before the database is read: it may go on meanwhile.
        noted_head, cuts = (head_file.read_head(), head_file.load_cuts()) if keys.has_mac_key() else (None, [])
        with closing(database.open_reader()) as connection:
            return [f"{trouble}{_NEXT_STEP}" for trouble in _check_record_end(connection, noted_head, bool(cuts))]
    except (sqlite3.Error, OSError, ValueError, HookonceError) as problem:
        return [f"the record cannot be looked at: {problem}{_NEXT_STEP}"]


def find_write_obstacle() -> str | None:
    """Why the data folder cannot be written; None if it can."""
    folder = paths.data_dir()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        return f"{folder} is no folder"
    return None if os.access(folder, os.W_OK | os.X_OK) else f"nothing can be written to {folder}"


def _check_record_end(connection: Connection, noted_head: head_file.ChainHead | None, was_cut: bool) -> Iterator[str]:  # noqa: FBT001
    connection.execute("BEGIN")
    chain_head = read_chain_head(connection)
    if noted_head is not None and not head_file.contains_head(connection, noted_head):
        yield f"the record ends before row {noted_head.seq}, up to which it was written"
    elif was_cut:
        yield "the end of the record was cut off, and it has gone on since"
    if chain_head.seq and not head_file.contains_head(connection, chain_head):
        yield f"the last row is not the one that was written last (row {chain_head.seq})"
    last_rows = connection.execute(f"{SELECT_ROWS} ORDER BY seq DESC LIMIT 2").fetchall()
    if last_rows and last_rows[0][0] > chain_head.seq:
        yield f"rows were put in after row {chain_head.seq}, the last one"
    elif last_rows:
        last, *before = last_rows
        previous_hash = before[0][-2] if before and before[0][0] == last[0] - 1 else None
        previous_hash = chain.GENESIS_HASH if last[0] == 1 else previous_hash
        key = keys.load_mac_key() if keys.has_mac_key() else None
        if (row_fault := find_row_fault(last, previous_hash, key)) is not None:
            yield f"row {last[0]}: {row_fault}"


_RECENT_WINDOW_S = 24 * 60 * 60
_SELECT_ACTIVITY = """SELECT agent, count(*), sum(type = 'before_tool_execute'), sum(outcome IS 'deny'),
    sum(outcome IS 'ask'), max(time) FROM events WHERE time >= ? AND agent <> 'hookonce' GROUP BY agent"""


class AgentActivity(Struct, frozen=True):
    """What an agent did in the last 24 hours, and when it was heard of last."""

    agent: str
    events: int
    calls: int
    refusals: int
    asks: int
    last: str


def load_activity() -> list[AgentActivity]:
    """Load what each agent did in the last 24 hours; nothing from a store that cannot be read."""
    since = times.from_seconds(time() - _RECENT_WINDOW_S) or times.EPOCH_TEXT
    try:
        with closing(database.open_reader()) as connection:
            return [AgentActivity(*row) for row in connection.execute(_SELECT_ACTIVITY, (time_bound(since),))]
    except (sqlite3.Error, OSError, HookonceError):
        return []


VIOLATION_EVENT, LOOP_EVENT = "policy_violation", "retry_loop_detected"
_MAX_ALARMS_PER_TYPE = 1000  # of each kind


class NewestAlarm(Struct, frozen=True, kw_only=True):
    """The newest alarm."""

    id: str
    type: str
    time: str
    agent: str
    session: str | None = None


class Alarms(Struct, frozen=True, kw_only=True):
    """Policy violations and retry loops of the last 24 hours; some violations are only suspected."""

    since: str
    violations: int = 0
    suspected: int = 0
    loops: int = 0
    newest: NewestAlarm | None = None


def load_alarms() -> Alarms:
    """Load the alarms of the last 24 hours; none from a store that cannot be read."""
    since = times.from_seconds(time() - _RECENT_WINDOW_S) or times.EPOCH_TEXT
    try:
        with closing(database.open_reader()) as connection:
            counts_by_type = load_event_counts(connection, RollupFilter(since=since))["type"]
            types = [event_type for event_type in (VIOLATION_EVENT, LOOP_EVENT) if counts_by_type.get(event_type)]
            filters = [RecordFilter(type=name, since=since, last=_MAX_ALARMS_PER_TYPE) for name in types]
            events = [record.event for alarm_filter in filters for record in find_records(connection, alarm_filter)]
    except (sqlite3.Error, OSError, HookonceError):
        events = []
    newest = max(events, key=lambda event: (event.time, event.id), default=None)
    return Alarms(
        since=since,
        violations=sum(event.type == VIOLATION_EVENT for event in events),
        suspected=sum(event.data.get("status") == "suspected" for event in events),
        loops=sum(event.type == LOOP_EVENT for event in events),
        newest=None
        if newest is None
        else NewestAlarm(id=newest.id, type=newest.type, time=newest.time, agent=newest.agent, session=newest.session),
    )
