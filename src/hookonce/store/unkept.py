"""What is not in the database yet, shown beside it: for one who looks while nobody can, or has yet to, keep it."""

from collections.abc import Iterable
from sqlite3 import Connection

from hookonce.model import Stored
from hookonce.store.entry import index_columns, build_entry
from hookonce.store.soundness import INDEX_COLUMNS

_CREATE_OVERLAY_TABLE = "CREATE TEMP TABLE unkept AS SELECT * FROM main.events WHERE FALSE"
_CREATE_OVERLAY_VIEW = "CREATE TEMP VIEW events AS SELECT * FROM main.events UNION ALL SELECT * FROM temp.unkept"
_EVENT_COLUMNS = ("seq", *INDEX_COLUMNS, "body", "erased", "hash", "mac")
_INSERT_OVERLAY_ROW = f"INSERT INTO temp.unkept ({', '.join(_EVENT_COLUMNS)}) VALUES ({', '.join('?' * len(_EVENT_COLUMNS))})"  # noqa: S608  our words


def overlay_records(connection: Connection, records: Iterable[Stored]) -> int:
    """Let queries on this connection see these records too, after all rows; returns how many are new.

    The database is not changed: the connection is read-only. Rollups do not include them.
    """
    exists_statement = "SELECT 1 FROM main.events WHERE id = ?"
    new_records = [record for record in records if connection.execute(exists_statement, (record.event.id,)).fetchone() is None]
    if not new_records:
        return 0
    last_seq = connection.execute("SELECT coalesce(max(seq), 0) FROM main.events").fetchone()[0]
    connection.execute("PRAGMA query_only = OFF")
    try:
        connection.execute(_CREATE_OVERLAY_TABLE)
        for seq, record in enumerate(new_records, last_seq + 1):
            connection.execute(_INSERT_OVERLAY_ROW, (seq, *index_columns(record)[: len(INDEX_COLUMNS)], build_entry(record).body, 0, b"", b""))
        connection.execute(_CREATE_OVERLAY_VIEW)
    finally:
        connection.execute("PRAGMA query_only = ON")
    return len(new_records)
