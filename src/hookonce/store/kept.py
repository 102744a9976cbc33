"""Everything that is known: what the store holds, and what still lies in spool files."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress

from hookonce.model import Stored
from hookonce.store import database, spool
from hookonce.store.entry import read
from hookonce.store.query import Wanted, records

NEWEST = 2000  # records of the store that are looked through by those who ask for the last of a kind


def latest(most: int = NEWEST) -> Iterator[Stored]:
    """The newest records of the store and all of the spool, oldest first; each event once."""
    found = {record.event.id: record for record in _kept(Wanted(last=most))}
    refused = {record.event.id: record for record in _kept(Wanted(outcome="deny", last=most // 10))}
    waiting = {record.event.id: record for record in spool.records()}
    known = refused | found | waiting
    return iter(sorted(known.values(), key=lambda one: (one.event.received or one.event.time, one.event.id)))


def named(event: str) -> Stored | None:
    """The record of an event."""
    with suppress(sqlite3.Error), closing(database.reading()) as connection:
        row = connection.execute("SELECT body FROM events WHERE id = ? AND erased = 0", (event,)).fetchone()
        if row is not None:
            return read(row[0]).record
    return next((record for record in spool.records() if record.event.id == event), None)


def _kept(wanted: Wanted) -> list[Stored]:
    with suppress(sqlite3.Error), closing(database.reading()) as connection:
        return list(records(connection, wanted))
    return []
