"""Spool overlay: records of the store together with those in spool files, by event id or as a view for SQL."""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from sqlite3 import Connection

from hookonce.base import times
from hookonce.errors import HookonceError
from hookonce.model import Event, Stored
from hookonce.store import database
from hookonce.store.entry import build_entry, decode_entry, index_columns
from hookonce.store.integrity.chain import INDEX_COLUMNS
from hookonce.store.query import RecordFilter, find_records
from hookonce.store.spool import files

MAX_LATEST_RECORDS = 2000  # records of the store that are looked through by those who ask for the last of a kind
_MAX_PREFIX_MATCHES = 100  # events that begin with a part of an id, and are looked through for the only one
_MAX_LISTED_IDS = 3
ProblemCallback = Callable[[str], None]


def latest_records(report_problem: ProblemCallback = lambda _: None) -> Iterator[Stored]:
    """The newest records of the store and all of the spool, oldest first, each once; see `_query_both`."""
    filters = (RecordFilter(outcome="deny", last=MAX_LATEST_RECORDS // 10), RecordFilter(last=MAX_LATEST_RECORDS))

    def query(connection: Connection) -> list[Stored]:
        return [record for one in filters for record in find_records(connection, one)]

    records_by_id = {record.event.id: record for record in _query_both(query, report_problem)}
    return iter(sorted(records_by_id.values(), key=files.arrival_key))


def find_record(id_prefix: str, report_problem: ProblemCallback = lambda _: None) -> Stored | None:
    """The record of an event by its id or a unique prefix, None if there is none; see `_query_both`.

    HookonceError if several begin so; what was derived from an event begins like it, and does not count beside it.
    """

    def query(connection: Connection) -> list[Stored]:
        statement = "SELECT body FROM events WHERE id >= ? AND id < ? || '\x7f' AND erased = 0 ORDER BY id LIMIT ?"
        rows = connection.execute(statement, (id_prefix, id_prefix, _MAX_PREFIX_MATCHES))
        return [decode_entry(row[0]).record for row in rows]

    records = [record for record in _query_both(query, report_problem) if record.event.id.startswith(id_prefix)]
    records_by_id = {record.event.id: record for record in records}
    if id_prefix in records_by_id or not records_by_id:
        return records_by_id.get(id_prefix)
    first_records = [record for record in records_by_id.values() if record.event.derived_from not in records_by_id]
    if len(first_records) == 1:
        return first_records[0]
    names = ", ".join(record.event.id for record in first_records[:_MAX_LISTED_IDS])
    more = ", …" if len(first_records) > _MAX_LISTED_IDS else ""
    raise HookonceError(f"several events begin with {id_prefix!r}: {names}{more}; type more of the id")


def _query_both(query: Callable[[Connection], list[Stored]], report_problem: ProblemCallback) -> list[Stored]:
    """Records of the store and of the spool; a store that cannot be read is reported."""
    try:
        with closing(database.open_reader()) as connection:
            records = query(connection)
    except (sqlite3.Error, OSError, HookonceError) as problem:
        report_problem(f"only what still waits in the spool is looked at: {problem}")
        records = []
    return [*records, *files.load_records()]


_MAX_RECENT_SESSIONS = 5  # of the agent, the newest
_SESSION_TAIL_RECORDS = 64  # records of each
_OWN_SOURCES = frozenset({"transcript", "hookonce"})  # through which no agent comes


def last_call_time(agent: str, folder: str | None = None) -> float | None:
    """Time of an agent's last call in seconds, in a folder or anywhere; None if unknown.

    Transcript and derived events are no calls.
    """
    place = "" if folder is None else "AND project = ?"
    statement = f"SELECT session FROM sessions WHERE agent = ? {place} ORDER BY last_time DESC LIMIT ?"  # noqa: S608
    values = (agent, *([] if folder is None else [folder]), _MAX_RECENT_SESSIONS)
    calls = []
    with closing(database.open_reader()) as connection:
        for (session,) in connection.execute(statement, values).fetchall():
            query = RecordFilter(agent=agent, session=session, last=_SESSION_TAIL_RECORDS)
            calls += [record.event for record in find_records(connection, query) if _is_call(record.event)][-1:]
    spooled_events = [record.event for record in files.load_records() if record.event.agent == agent]
    calls += [event for event in spooled_events if folder in (None, event.cwd)]
    moments = (times.to_seconds(event.received or event.time) for event in calls)
    return max((moment for moment in moments if moment is not None), default=None)


def has_call_after(event: Event, except_types: Collection[str]) -> bool:
    """Whether the agent has called in the session of an event after it, but for calls of these types."""
    query = RecordFilter(agent=event.agent, session=event.session, last=_SESSION_TAIL_RECORDS)
    records = _query_both(lambda connection: [*find_records(connection, query)], lambda _: None)
    key, moment = (event.agent, event.session), times.to_seconds(event.received or event.time) or 0.0
    return any(
        (times.to_seconds(other.received or other.time) or 0.0) > moment
        for other in (record.event for record in records)
        if (other.agent, other.session) == key and other.type not in except_types and _is_call(other)
    )


def _is_call(event: Event) -> bool:
    return event.derived_from is None and (event.origin is None or _OWN_SOURCES.isdisjoint(event.origin.via))


_CREATE_OVERLAY_TABLE = "CREATE TEMP TABLE spool_overlay AS SELECT * FROM main.events WHERE FALSE"
_CREATE_OVERLAY_VIEW = "CREATE TEMP VIEW events AS SELECT * FROM main.events UNION ALL SELECT * FROM temp.spool_overlay"
_EVENT_COLUMNS = ("seq", *INDEX_COLUMNS, "body", "erased", "hash", "mac")
_INSERT_OVERLAY_ROW = f"""INSERT INTO temp.spool_overlay ({", ".join(_EVENT_COLUMNS)})
    VALUES ({", ".join("?" * len(_EVENT_COLUMNS))})"""  # noqa: S608


def overlay_records(connection: Connection, records: Iterable[Stored]) -> int:
    """Let queries on this connection, but not rollups, see these records after all rows; returns how many are new."""
    select = "SELECT 1 FROM main.events WHERE id = ?"
    new_records = [item for item in records if connection.execute(select, (item.event.id,)).fetchone() is None]
    if not new_records:
        return 0
    last_seq = connection.execute("SELECT coalesce(max(seq), 0) FROM main.events").fetchone()[0]
    connection.execute("PRAGMA query_only = OFF")
    try:
        connection.execute(_CREATE_OVERLAY_TABLE)
        for seq, record in enumerate(new_records, last_seq + 1):
            values = (seq, *index_columns(record), build_entry(record).body, 0, b"", b"")
            connection.execute(_INSERT_OVERLAY_ROW, values)
        connection.execute(_CREATE_OVERLAY_VIEW)
    finally:
        connection.execute("PRAGMA query_only = ON")
    return len(new_records)
