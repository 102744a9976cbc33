"""The record in short: how much is kept, what still waits, and what could not be kept."""

import sqlite3
from contextlib import closing

from msgspec import Struct

from hookonce.errors import HookonceError
from hookonce.store import database, reader, spool


class Summary(Struct, frozen=True, kw_only=True):
    """Rows of the store, bytes of its files, spool files that wait, files that are damaged, records that are lost."""

    records: int
    size: int
    waiting: int
    damaged: int
    lost: int
    problem: str | None = None


def summary() -> Summary:
    """How the record stands."""
    place = database.file()
    files = [place, place.with_name(f"{place.name}-wal")]
    records, problem = 0, None
    try:
        with closing(reader.opened()) as connection:
            records = connection.execute("SELECT count FROM head").fetchone()[0]
    except HookonceError as trouble:
        problem = str(trouble)
    except (sqlite3.Error, OSError) as trouble:
        problem = f"the store {place} cannot be read: {trouble}"
    return Summary(
        records=records,
        size=sum(file.stat().st_size for file in files if file.exists()),
        waiting=sum(1 for file in spool.folder().glob("*.jsonl") if file.stat().st_size),
        damaged=sum(1 for _ in spool.folder().glob("*.damaged")),
        lost=spool.lost(),
        problem=problem,
    )
