"""What of an old record may be taken over: rows that are proven to be what was written, and why the others are not."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookonce.store import chain, keys, tombstone
from hookonce.store.entry import Entry, read
from hookonce.store.soundness import ROWS, fault

_AT_ONCE = 256  # rows that are read together, until one of them cannot be
_MISSING = "missing, or cannot be read"
_UNPROVEN = "the row before it is gone, so that nobody can tell whether it is what was written"
_MOST = 100  # ranges that are told one by one
_LEAST = -(1 << 63)  # the number before all that a database can have
_BEYOND = 1 << 16  # rows that may follow where the head file ends: it is written after they are
_NOT_ONE = "no row of ours has such a number"
_BODY, _ERASED, _HASH = -4, -3, -2  # where they stand in a row

Tell = Callable[[int, int], None]


class Left(Struct, frozen=True):
    """Rows that stay in the old record, and why; `changed` if they can be read and are not what was written."""

    first: int
    last: int
    why: str
    changed: bool


class Salvage:
    """One look at an old record, row by row; what was left out is known at its end."""

    def __init__(self, old: Path, reached: int, tell: Tell) -> None:
        """By its head file the record went as far as `reached`."""
        self._old, self._reached, self._tell = old, reached, tell
        self._seq = 0
        self._before: bytes | None = chain.FIRST
        self.left: list[Left] = []
        self.more = 0

    def rows(self) -> Iterator[Entry]:
        """Every row that this machine has written, and nobody has changed since."""
        key = keys.marking()
        try:
            with closing(sqlite3.connect(f"{self._old.as_uri()}?mode=rw", uri=True, isolation_level=None)) as old:
                holes = _holes(old)
                for row in self._all(old):
                    yield from self._row(row, holes, key)
        except sqlite3.DatabaseError:
            pass  # nothing more of it can be read
        if self._seq < self._reached:
            self._leave(self._seq + 1, self._reached, _MISSING, changed=False)

    def _all(self, connection: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
        """Rows in order: many at once, and one by one where one of them cannot be read."""
        last = _last(connection, self._reached)
        after = _LEAST
        while True:
            try:
                found = connection.execute(f"{ROWS} WHERE seq > ? ORDER BY seq LIMIT ?", (after, _AT_ONCE)).fetchall()
                after = found[-1][0] if found else last
            except sqlite3.DatabaseError:
                start, after = max(after, 0), min(max(after, 0) + _AT_ONCE, last)
                found = [row for seq in range(start + 1, after + 1) for row in _one(connection, seq)]
            yield from found
            self._tell(max(after, 0), last)
            if after >= last:
                return

    def _row(self, row: tuple[Any, ...], holes: dict[int, tuple[int, bytes]], key: bytes) -> Iterator[Entry]:
        seq = row[0]
        if seq <= self._seq:
            self._leave(seq, seq, _NOT_ONE, changed=True)
            return
        while self._seq + 1 in holes and holes[self._seq + 1][0] < seq:
            self._seq, self._before = holes[self._seq + 1]
        if seq > self._seq + 1:
            self._leave(self._seq + 1, seq - 1, _MISSING, changed=False)
            self._before = None
        wrong = fault(row, self._before, key)
        if wrong is not None:
            self._leave(seq, seq, wrong, changed=True)
        elif self._before is None:
            self._leave(seq, seq, _UNPROVEN, changed=False)
        elif not row[_ERASED]:
            yield read(row[_BODY])
        # Whatever stands there: a body that fits a marked hash with it is the one that was written.
        self._seq, self._before = seq, row[_HASH] if type(row[_HASH]) is bytes else None

    def _leave(self, first: int, last: int, why: str, *, changed: bool) -> None:
        before = self.left[-1] if self.left else None
        if before is not None and (before.last, before.why) == (first - 1, why):
            self.left[-1] = Left(before.first, last, why, changed)
        elif len(self.left) < _MOST:
            self.left.append(Left(first, last, why, changed))
        else:
            self.more += last - first + 1


def _holes(connection: sqlite3.Connection) -> dict[int, tuple[int, bytes]]:
    """What retention has removed, by its first number: the last one, and the hash that stood there."""
    known = keys.public()
    with suppress(sqlite3.DatabaseError, TypeError, ValueError):
        found = [one for one in tombstone.all_of(connection) if tombstone.is_genuine(one, known)]
        return {one.first: (one.last, one.after) for one in found}
    return {}


def _last(connection: sqlite3.Connection, reached: int) -> int:
    """How far to look; a row that somebody has put in far away does not make us count to there."""
    with suppress(sqlite3.DatabaseError):
        found: int = connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
        return max(reached, min(found, reached + _BEYOND) if reached else found)
    return reached


def _one(connection: sqlite3.Connection, seq: int) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(f"{ROWS} WHERE seq = ?", (seq,)).fetchall()
    except sqlite3.DatabaseError:
        return []
