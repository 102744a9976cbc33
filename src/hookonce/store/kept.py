"""Everything that is known: what the store holds, and what still lies in spool files."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from sqlite3 import Connection

from hookonce.errors import HookonceError
from hookonce.model import Stored
from hookonce.store import reader, spool
from hookonce.store.entry import read
from hookonce.store.query import Wanted, records

NEWEST = 2000  # records of the store that are looked through by those who ask for the last of a kind
_SHORTEST = 8  # characters of an id that stand for all of it, where no other begins like that
Tell = Callable[[str], None]


def _nobody(_: str) -> None:
    """Whoever does not ask what is wrong with the store is not told."""


def latest(most: int = NEWEST, tell: Tell = _nobody) -> Iterator[Stored]:
    """The newest records of the store and all of the spool, oldest first; each event once.

    Where the store cannot be read, `tell` hears why, and the spool is all there is.
    """
    wanted = (Wanted(outcome="deny", last=most // 10), Wanted(last=most))
    kept = _found(lambda connection: [one for part in wanted for one in records(connection, part)], tell)
    known = {record.event.id: record for record in (*kept, *spool.records())}
    return iter(sorted(known.values(), key=lambda one: (one.event.received or one.event.time, one.event.id)))


def named(event: str, tell: Tell = _nobody) -> Stored | None:
    """The record of an event, by its id or the beginning of it; where the store cannot be read, `tell` hears why."""

    def look(connection: Connection) -> list[Stored]:
        sought = "SELECT body FROM events WHERE id >= ? AND id < ? || '\x7f' AND erased = 0 ORDER BY id LIMIT 2"
        return [read(row[0]).record for row in connection.execute(sought, (event, event))]

    known = {one.event.id: one for one in (*_found(look, tell), *spool.records()) if one.event.id.startswith(event)}
    return known.get(event) or (next(iter(known.values())) if len(known) == 1 and len(event) >= _SHORTEST else None)


def _found(look: Callable[[Connection], list[Stored]], tell: Tell) -> list[Stored]:
    try:
        with closing(reader.opened()) as connection:
            return look(connection)
    except (sqlite3.Error, OSError, HookonceError) as problem:
        tell(f"only what still waits in the spool is looked at: {problem}")
        return []
