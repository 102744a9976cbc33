"""Forgetting: rows that are too old or too many go by whole days and leave a tombstone; single records are erased."""

from sqlite3 import Connection

from hookonce.store import chain
from hookonce.store.tombstone import Tombstone, bury
from hookonce.store.writer import Writer

_MEGABYTE = 1 << 20


def expire(writer: Writer, before: str | None, megabytes: int | None = None) -> Tombstone | None:
    """Remove whole days: those that ended before a day (`2026-11-15`), and the oldest while the record is too large.

    The day of the newest record stays, whatever its size.
    """
    connection = writer.connection
    connection.execute("BEGIN IMMEDIATE")
    try:
        last = _last(connection, before, megabytes)
        made = bury(connection, last, "retention") if last else None
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return made


def _last(connection: Connection, before: str | None, megabytes: int | None) -> int:
    """The last row that has to go: rows go in the order of their arrival, and a day only as a whole."""
    days = connection.execute(
        "SELECT substr(coalesce(received, time), 1, 10) AS day, max(seq), sum(length(body)) FROM events"
        " GROUP BY day ORDER BY max(seq)"
    ).fetchall()
    size = sum(row[2] for row in days)
    last = 0
    for day, seq, held in days[:-1]:
        too_large = megabytes is not None and size > megabytes * _MEGABYTE
        if not too_large and (before is None or day >= before):
            break
        last, size = seq, size - held
    return last


def erase(writer: Writer, names: list[str]) -> int:
    """Overwrite the bodies of records with their hashes: what they said is gone, the chain holds; how many there were."""
    connection, done = writer.connection, 0
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("BEGIN IMMEDIATE")
    try:
        for name in names:
            row = connection.execute("SELECT body FROM events WHERE id = ? AND erased = 0", (name,)).fetchone()
            if row is not None:
                cleared = "body = ?, erased = 1, session = NULL, project = NULL, path = NULL, model = NULL"
                connection.execute(f"UPDATE events SET {cleared} WHERE id = ?", (chain.digest(row[0]), name))  # noqa: S608
                done += 1
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the old pages must not stay in the log
    return done
