"""Forgetting by age and size: rows go by whole days, oldest first, and leave tombstones. Summaries of them stay."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from sqlite3 import Connection
from typing import TypeVar

from hookonce.config import settings
from hookonce.store import kernel_log
from hookonce.store.tombstone import Tombstone, bury
from hookonce.store.writer import Writer

_MEGABYTE = 1 << 20
_AT_ONCE = 500  # rows in one transaction: others want to write too
Made = TypeVar("Made")


def is_wanted() -> bool:
    """Whether the settings want anything to be forgotten."""
    return settings.keep_days() is not None or settings.keep_megabytes() is not None


def tend(writer: Writer, now: datetime | None = None) -> list[Tombstone]:
    """Remove what is older, or more, than the settings want to be kept; without such settings nothing."""
    return _all(writer.connection, find(writer.connection, now))


def find(connection: Connection, now: datetime | None = None) -> int:
    """The last row that the settings want to be forgotten, 0 if there is none. Every row may have to be looked at."""
    days, megabytes = settings.keep_days(), settings.keep_megabytes()
    today = now or datetime.now(UTC)
    before = None if days is None else (today - timedelta(days=days)).date().isoformat()
    if before is not None:
        kernel_log.expire(before)
    return _found(connection, before, megabytes, today)


def expire(
    writer: Writer, before: str | None, megabytes: int | None = None, now: datetime | None = None
) -> list[Tombstone]:
    """Remove whole days: those that ended before a day (`2026-11-15`), and the oldest while the record is too large.

    The day of the newest record stays, whatever its size. What is killed in between goes on the next time.
    """
    return _all(writer.connection, _found(writer.connection, before, megabytes, now or datetime.now(UTC)))


def _found(connection: Connection, before: str | None, megabytes: int | None, now: datetime) -> int:
    is_due = _is_due(connection, before, megabytes)
    return _last(connection, before, megabytes, now.date().isoformat()) if is_due else 0


def _all(connection: Connection, last: int) -> list[Tombstone]:
    made: list[Tombstone] = []
    while (one := some(connection, last)) is not None:
        made.append(one)
    return made


def some(connection: Connection, last: int) -> Tombstone | None:
    """Remove the oldest rows up to that one, so many that nobody waits for long; None if there are none any more."""
    connection.execute("PRAGMA secure_delete = ON")  # what nobody wanted to keep is not left in free pages
    try:
        return _slice(connection, last)
    finally:
        connection.execute("PRAGMA secure_delete = OFF")


def _slice(connection: Connection, last: int) -> Tombstone | None:
    def some() -> Tombstone | None:
        first = connection.execute("SELECT min(seq) FROM events").fetchone()[0]
        return None if first is None or first > last else bury(connection, min(last, first + _AT_ONCE - 1), "retention")

    return at_once(connection, some)


def at_once(connection: Connection, do: Callable[[], Made]) -> Made:
    """Do something in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        made = do()
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return made


def _is_due(connection: Connection, before: str | None, megabytes: int | None) -> bool:
    """Whether anything may have to go; asked every hour, and so without looking at every row."""
    oldest = connection.execute("SELECT coalesce(received, time) FROM events ORDER BY seq LIMIT 1").fetchone()
    if oldest is None:
        return False
    too_old = before is not None and oldest[0][:10] < before
    return too_old or (megabytes is not None and size(connection) > megabytes * _MEGABYTE)


def size(connection: Connection) -> int:
    """How many bytes the record takes; pages that are free again do not count."""
    pages, free, each = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * each)


def _last(connection: Connection, before: str | None, megabytes: int | None, today: str) -> int:
    """The last row that has to go: rows go in the order of their arrival, and a day only as a whole.

    A day that has not come yet was told by a clock that was wrong; it counts as the day before it in the record.
    """
    days = connection.execute(
        "SELECT substr(coalesce(received, time), 1, 10) AS day, max(seq), sum(length(body)) FROM events"
        " GROUP BY day ORDER BY max(seq)"
    ).fetchall()
    bodies = sum(row[2] for row in days) or 1
    left = total = size(connection)
    last, known = 0, ""
    for day, seq, held in days[:-1]:
        known = known if day > today else day
        too_large = megabytes is not None and left > megabytes * _MEGABYTE
        if not too_large and (before is None or known >= before):
            break
        last, left = seq, left - total * held // bodies
    return last
