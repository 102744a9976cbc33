"""Status of the store: size, pending spool files, lost records, damage at the end of the record, recent alarms.

Reads only the end of the record; `integrity.audit` checks all of it.
"""

import sqlite3
from contextlib import closing

from msgspec import Struct

from hookonce.errors import HookonceError
from hookonce.store import database, reader, spool


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
        with closing(reader.open_reader()) as connection:
            records = connection.execute("SELECT count FROM head").fetchone()[0]
    except HookonceError as trouble:
        problem = str(trouble)
    except (sqlite3.Error, OSError) as trouble:
        problem = f"the store {database_path} cannot be read: {trouble}"
    return StoreSummary(
        records=records,
        size=sum(file.stat().st_size for file in database_files if file.exists()),
        waiting=sum(1 for file in spool.spool_dir().glob("*.jsonl") if file.stat().st_size),
        damaged=sum(1 for _ in spool.spool_dir().glob("*.damaged")),
        lost=spool.lost_record_count(),
        problem=problem,
    )
