"""The condition of the record at a glance: whether its end is where it was left. Whoever wants all looked at audits."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from sqlite3 import Connection

from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.store import chain, database, head, keys, reader
from hookonce.store.soundness import ROWS, fault
from hookonce.store.writer import current

_NEXT = "; hookonce audit verify looks at all of it"


def troubles() -> list[str]:
    """What is wrong with the end of the record; nothing where nothing was kept."""
    if not database.file().exists():
        return []
    try:
        noted = head.noted() if keys.is_marking() else None  # before the database is read: it may go on meanwhile
        cuts = head.cuts() if keys.is_marking() else []
        with closing(reader.opened()) as connection:
            return [f"{what}{_NEXT}" for what in _ends(connection, noted, bool(cuts))]
    except (sqlite3.Error, OSError, ValueError, HookonceError) as problem:
        return [f"the record cannot be looked at: {problem}{_NEXT}"]


def unwritable() -> str | None:
    """Why nothing can be written where the record lies; None if something can."""
    place = paths.data()
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        return f"{place} is no folder"
    return None if os.access(place, os.W_OK | os.X_OK) else f"nothing can be written to {place}"


def _ends(connection: Connection, noted: head.Head | None, was_cut: bool) -> Iterator[str]:  # noqa: FBT001
    connection.execute("BEGIN")
    now = current(connection)
    if noted is not None and not head.holds(connection, noted):
        yield f"the record ends before row {noted.seq}, up to which it was written"
    elif was_cut:
        yield "the end of the record was cut off, and it has gone on since"
    if now.seq and not head.holds(connection, now):
        yield f"the last row is not the one that was written last (row {now.seq})"
    last = connection.execute(f"{ROWS} ORDER BY seq DESC LIMIT 2").fetchall()
    if last and last[0][0] > now.seq:
        yield f"rows were put in after row {now.seq}, the last one"
    elif last:
        before = last[1][-2] if len(last) > 1 and last[1][0] == last[0][0] - 1 else None
        before = chain.FIRST if last[0][0] == 1 else before
        if (wrong := fault(last[0], before, keys.marking() if keys.is_marking() else None)) is not None:
            yield f"row {last[0][0]}: {wrong}"
