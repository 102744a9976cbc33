"""Spool overlay: records of the store together with those that still lie in spool files.

`overlay_records` shows them to SQL queries as a temporary view; the other functions merge both by event id.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from sqlite3 import Connection

from hookonce.errors import HookonceError
from hookonce.model import Stored
from hookonce.store import reader, spool
from hookonce.store.entry import decode_entry
from hookonce.store.query import RecordFilter, find_records

MAX_LATEST_RECORDS = 2000  # records of the store that are looked through by those who ask for the last of a kind
_MIN_ID_PREFIX_CHARS = 8  # characters of an id that stand for all of it, where no other begins like that
ProblemCallback = Callable[[str], None]


def _ignore_problem(_: str) -> None:
    """Whoever does not ask what is wrong with the store is not told."""


def latest_records(limit: int = MAX_LATEST_RECORDS, report_problem: ProblemCallback = _ignore_problem) -> Iterator[Stored]:
    """The newest records of the store and all of the spool, oldest first; each event once.

    Where the store cannot be read, `report_problem` is called, and only the spool is returned.
    """
    filters = (RecordFilter(outcome="deny", last=limit // 10), RecordFilter(last=limit))
    store_records = _query_store(lambda connection: [item for record_filter in filters for item in find_records(connection, record_filter)], report_problem)
    records_by_id = {record.event.id: record for record in (*store_records, *spool.load_records())}
    return iter(sorted(records_by_id.values(), key=lambda item: (item.event.received or item.event.time, item.event.id)))


def find_record(id_prefix: str, report_problem: ProblemCallback = _ignore_problem) -> Stored | None:
    """The record of an event by its id or a unique prefix; `report_problem` as in `latest_records`."""

    def query(connection: Connection) -> list[Stored]:
        statement = "SELECT body FROM events WHERE id >= ? AND id < ? || '\x7f' AND erased = 0 ORDER BY id LIMIT 2"
        return [decode_entry(row[0]).record for row in connection.execute(statement, (id_prefix, id_prefix))]

    records_by_id = {record.event.id: record for record in (*_query_store(query, report_problem), *spool.load_records()) if record.event.id.startswith(id_prefix)}
    return records_by_id.get(id_prefix) or (next(iter(records_by_id.values())) if len(records_by_id) == 1 and len(id_prefix) >= _MIN_ID_PREFIX_CHARS else None)


def _query_store(query: Callable[[Connection], list[Stored]], report_problem: ProblemCallback) -> list[Stored]:
    try:
        with closing(reader.open_reader()) as connection:
            return query(connection)
    except (sqlite3.Error, OSError, HookonceError) as problem:
        report_problem(f"only what still waits in the spool is looked at: {problem}")
        return []
