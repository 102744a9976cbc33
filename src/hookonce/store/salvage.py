"""Quarantine of a damaged database: its files are moved aside, a new one begins with the rows that can be salvaged.

A row is salvaged if its hash chain and MAC prove that it is what this machine wrote.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookonce.store import chain, keys, tombstone
from hookonce.store.entry import StoreEntry, decode_entry
from hookonce.store.soundness import SELECT_ROWS, find_row_fault

_READ_BATCH_ROWS = 256  # rows that are read together, until one of them cannot be
_MISSING = "missing, or cannot be read"
_UNPROVEN = "the row before it is gone, so that nobody can tell whether it is what was written"
_MAX_SKIPPED_RANGES = 100  # ranges that are told one by one
_MIN_SEQ = -(1 << 63)  # the number before all that a database can have
_MAX_ROWS_PAST_HEAD = 1 << 16  # rows that may follow where the head file ends: it is written after they are
_INVALID_SEQ = "no row of ours has such a number"
_BODY_INDEX, _ERASED_INDEX, _HASH_INDEX = -4, -3, -2  # where they stand in a row

SalvageProgress = Callable[[int, int], None]


class SkippedRows(Struct, frozen=True):
    """A range of rows that was not salvaged, and why; `changed` if it is readable and not what was written."""

    first: int
    last: int
    why: str
    changed: bool


class Salvage:
    """One pass over an old database; `skipped_ranges` is complete after `sound_entries` is exhausted."""

    def __init__(self, database_path: Path, head_seq: int, report_progress: SalvageProgress) -> None:
        """`head_seq` is the last row by the head file, 0 if unknown."""
        self._database_path, self._head_seq, self._report_progress = database_path, head_seq, report_progress
        self._seq = 0
        self._previous_hash: bytes | None = chain.GENESIS_HASH
        self.skipped_ranges: list[SkippedRows] = []
        self.unlisted_rows = 0

    def sound_entries(self) -> Iterator[StoreEntry]:
        """Entries of all rows that this machine has written and nobody has changed since."""
        key = keys.load_mac_key()
        try:
            with closing(sqlite3.connect(f"{self._database_path.as_uri()}?mode=rw", uri=True, isolation_level=None)) as connection:
                removed_ranges = _load_removed_ranges(connection)
                for row in self._iter_rows(connection):
                    yield from self._check_row(row, removed_ranges, key)
        except sqlite3.DatabaseError:
            pass  # nothing more of it can be read
        if self._seq < self._head_seq:
            self._skip_rows(self._seq + 1, self._head_seq, _MISSING, is_changed=False)

    def _iter_rows(self, connection: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
        """Rows in batches, and one by one where a batch cannot be read."""
        last_seq = _find_last_seq(connection, self._head_seq)
        after = _MIN_SEQ
        while True:
            try:
                rows = connection.execute(f"{SELECT_ROWS} WHERE seq > ? ORDER BY seq LIMIT ?", (after, _READ_BATCH_ROWS)).fetchall()
                after = rows[-1][0] if rows else last_seq
            except sqlite3.DatabaseError:
                start, after = max(after, 0), min(max(after, 0) + _READ_BATCH_ROWS, last_seq)
                rows = [row for seq in range(start + 1, after + 1) for row in _read_row(connection, seq)]
            yield from rows
            self._report_progress(max(after, 0), last_seq)
            if after >= last_seq:
                return

    def _check_row(self, row: tuple[Any, ...], removed_ranges: dict[int, tuple[int, bytes]], key: bytes) -> Iterator[StoreEntry]:
        seq = row[0]
        if seq <= self._seq:
            self._skip_rows(seq, seq, _INVALID_SEQ, is_changed=True)
            return
        while self._seq + 1 in removed_ranges and removed_ranges[self._seq + 1][0] < seq:
            self._seq, self._previous_hash = removed_ranges[self._seq + 1]
        if seq > self._seq + 1:
            self._skip_rows(self._seq + 1, seq - 1, _MISSING, is_changed=False)
            self._previous_hash = None
        problem = find_row_fault(row, self._previous_hash, key)
        if problem is not None:
            self._skip_rows(seq, seq, problem, is_changed=True)
        elif self._previous_hash is None:
            self._skip_rows(seq, seq, _UNPROVEN, is_changed=False)
        elif not row[_ERASED_INDEX]:
            yield decode_entry(row[_BODY_INDEX])
        # Whatever stands there: a body that fits a marked hash with it is the one that was written.
        self._seq, self._previous_hash = seq, row[_HASH_INDEX] if type(row[_HASH_INDEX]) is bytes else None

    def _skip_rows(self, first: int, last: int, reason: str, *, is_changed: bool) -> None:
        previous = self.skipped_ranges[-1] if self.skipped_ranges else None
        if previous is not None and (previous.last, previous.why) == (first - 1, reason):
            self.skipped_ranges[-1] = SkippedRows(previous.first, last, reason, is_changed)
        elif len(self.skipped_ranges) < _MAX_SKIPPED_RANGES:
            self.skipped_ranges.append(SkippedRows(first, last, reason, is_changed))
        else:
            self.unlisted_rows += last - first + 1


def _load_removed_ranges(connection: sqlite3.Connection) -> dict[int, tuple[int, bytes]]:
    """Ranges that retention has removed: first row → last row and its hash."""
    public_keys = keys.load_public_keys()
    with suppress(sqlite3.DatabaseError, TypeError, ValueError):
        tombstones = [removal for removal in tombstone.load_tombstones(connection) if tombstone.is_genuine(removal, public_keys)]
        return {removal.first: (removal.last, removal.after) for removal in tombstones}
    return {}


def _find_last_seq(connection: sqlite3.Connection, head_seq: int) -> int:
    """The last row to read; a forged row with a huge number does not make us count to there."""
    with suppress(sqlite3.DatabaseError):
        max_seq: int = connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
        return max(head_seq, min(max_seq, head_seq + _MAX_ROWS_PAST_HEAD) if head_seq else max_seq)
    return head_seq


def _read_row(connection: sqlite3.Connection, seq: int) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(f"{SELECT_ROWS} WHERE seq = ?", (seq,)).fetchall()
    except sqlite3.DatabaseError:
        return []
