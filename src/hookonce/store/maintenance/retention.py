"""Retention by age and size: whole days of rows are removed, oldest first, and leave tombstones. Rollups stay."""

from datetime import UTC, datetime, timedelta
from sqlite3 import Connection

from hookonce.base import settings
from hookonce.store import kernel_log
from hookonce.store.integrity.tombstone import Tombstone, remove_rows
from hookonce.store.integrity.write_guard import guarded_transaction

_BYTES_PER_MEGABYTE = 1 << 20
_BATCH_ROWS = 500  # in one transaction: others want to write too
_SELECT_DAYS = """SELECT substr(coalesce(received, time), 1, 10) AS day, max(seq), sum(length(body)) FROM events
    GROUP BY day ORDER BY max(seq)"""


def has_retention_limit() -> bool:
    """Whether the settings limit age or size."""
    return _limits() != (None, None)


def _limits() -> tuple[int | None, int | None]:
    current = settings.load().require("keep_days", "keep_megabytes")
    return current.keep_days, current.keep_megabytes


def find_expired_seq(connection: Connection, now: datetime | None = None) -> int:
    """The last row that exceeds the settings, 0 if there is none. May read every row."""
    days, megabytes = _limits()
    today = now or datetime.now(UTC)
    before = None if days is None else (today - timedelta(days=days)).date().isoformat()
    if before is not None:
        kernel_log.remove_before(before)
    return last_expired_seq(connection, before, megabytes, today.date().isoformat())


def remove_batch(connection: Connection, last_seq: int) -> Tombstone | None:
    """Remove one batch of the oldest rows up to that one; None if there are none left."""
    connection.execute("PRAGMA secure_delete = ON")  # what nobody wanted to keep is not left in free pages
    try:
        with guarded_transaction(connection):
            first = connection.execute("SELECT min(seq) FROM events").fetchone()[0]
            if first is None or first > last_seq:
                return None
            return remove_rows(connection, min(last_seq, first + _BATCH_ROWS - 1), "retention")
    finally:
        connection.execute("PRAGMA secure_delete = OFF")


def _is_due(connection: Connection, before: str | None, megabytes: int | None) -> bool:
    """Called every hour: reads no more than one row."""
    oldest = connection.execute("SELECT coalesce(received, time) FROM events ORDER BY seq LIMIT 1").fetchone()
    if oldest is None:
        return False
    is_too_old = before is not None and oldest[0][:10] < before
    return is_too_old or (megabytes is not None and database_bytes(connection) > megabytes * _BYTES_PER_MEGABYTE)


def database_bytes(connection: Connection) -> int:
    """Bytes of the database without free pages."""
    names = ("page_count", "freelist_count", "page_size")
    pages, free, page_bytes = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    return int((pages - free) * page_bytes)


def last_expired_seq(connection: Connection, before: str | None, megabytes: int | None, today: str) -> int:
    """The last row before a day (`2026-11-15`), or beyond a size; rows go by arrival, and a day only as a whole.

    The day of the newest record stays, whatever its size. A day in the future comes from a wrong clock; it counts as
    the day before it in the record.
    """
    if not _is_due(connection, before, megabytes):
        return 0
    days = connection.execute(_SELECT_DAYS).fetchall()
    bodies = sum(row[2] for row in days) or 1
    remaining_bytes = total_bytes = database_bytes(connection)
    last_seq, effective_day = 0, ""
    for day, seq, body_bytes in days[:-1]:
        effective_day = effective_day if day > today else day
        is_too_large = megabytes is not None and remaining_bytes > megabytes * _BYTES_PER_MEGABYTE
        if not is_too_large and (before is None or effective_day >= before):
            break
        last_seq, remaining_bytes = seq, remaining_bytes - total_bytes * body_bytes // bodies
    return last_seq
