"""Quarantine of a damaged database: it is moved aside, a new one begins with the rows that chain and MAC prove."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from hookonce.base import ids, times
from hookonce.model import SCHEMA, Actor, Event, Gap, Stored
from hookonce.store import database
from hookonce.store.entry import StoreEntry, build_entry, decode_entry
from hookonce.store.integrity import chain, head_file, keys, tombstone, write_guard
from hookonce.store.integrity.chain import SELECT_ROWS, find_row_fault
from hookonce.store.writer import Writer

_READ_BATCH_ROWS = 256  # rows that are read together, until one of them cannot be
_MISSING = "missing, or cannot be read"
_UNPROVEN = "the row before it is missing, so it cannot be verified"
_MAX_SKIPPED_RANGES = 100  # ranges that are told one by one
_MIN_SEQ = -(1 << 63)  # the number before all that a database can have
_MAX_ROWS_PAST_HEAD = 1 << 16  # rows that may follow where the head file ends: it is written after they are
_INVALID_SEQ = "hookonce never writes such a number"
_BODY_INDEX, _ERASED_INDEX, _HASH_INDEX = -4, -3, -2  # where they stand in a row

ProgressCallback = Callable[[int, int], None]  # rows that are done, and all rows
RemovedRanges = dict[int, tuple[int, bytes]]  # by retention: first row → last row and its hash


class SkippedRows(Struct, frozen=True):
    """A range of rows that was not salvaged, and why; `changed` if it is readable and not what was written."""

    first: int
    last: int
    why: str
    changed: bool


class Salvage:
    """One pass over an old database; `skipped_ranges` is complete after `sound_entries` is exhausted."""

    def __init__(self, database_path: Path, head_seq: int, report_progress: ProgressCallback) -> None:
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
            uri = f"{self._database_path.as_uri()}?mode=rw"
            with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
                removed_ranges = _load_removed_ranges(connection)
                for row in self._iter_rows(connection):
                    yield from self._check_row(row, removed_ranges, key)
        except sqlite3.DatabaseError:
            pass  # nothing more of it can be read
        if self._seq < self._head_seq:
            self._skip_rows(self._seq + 1, self._head_seq, _MISSING, is_changed=False)

    def _iter_rows(self, connection: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
        """Rows in batches, and one by one where a batch cannot be read."""
        last_seq, after = _find_last_seq(connection, self._head_seq), _MIN_SEQ
        statement = f"{SELECT_ROWS} WHERE seq > ? ORDER BY seq LIMIT ?"
        while True:
            try:
                rows = connection.execute(statement, (after, _READ_BATCH_ROWS)).fetchall()
                after = rows[-1][0] if rows else last_seq
            except sqlite3.DatabaseError:
                start, after = max(after, 0), min(max(after, 0) + _READ_BATCH_ROWS, last_seq)
                rows = [row for seq in range(start + 1, after + 1) for row in _read_row(connection, seq)]
            yield from rows
            self._report_progress(max(after, 0), last_seq)
            if after >= last_seq:
                return

    def _check_row(self, row: tuple[Any, ...], removals: RemovedRanges, key: bytes) -> Iterator[StoreEntry]:
        seq = row[0]
        if seq <= self._seq:
            self._skip_rows(seq, seq, _INVALID_SEQ, is_changed=True)
            return
        while self._seq + 1 in removals and removals[self._seq + 1][0] < seq:
            self._seq, self._previous_hash = removals[self._seq + 1]
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


def _load_removed_ranges(connection: sqlite3.Connection) -> RemovedRanges:
    public_keys = keys.load_public_keys()
    with suppress(sqlite3.DatabaseError, TypeError, ValueError):
        tombstones = tombstone.load_tombstones(connection)
        return {one.first: (one.last, one.last_hash) for one in tombstones if tombstone.is_genuine(one, public_keys)}
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


QUARANTINE_EVENT = "vendor.hookonce.set_aside"
_WRITE_BATCH_ROWS = 256  # rows that are written together
_LOCK_TIMEOUT_S = 2.0  # seconds for somebody who is writing
_DATABASE_SUFFIXES = ("-wal", "", "-shm")  # in this order nobody can take the log of the old one for that of a new one


class QuarantineResult(Struct, frozen=True, kw_only=True):
    """Folder of the old files, rows of the old record, rows copied, ranges skipped, and `more` rows not listed."""

    folder: str
    rows: int
    taken: int
    left: list[SkippedRows]
    more: int


def find_damage() -> str | None:
    """What is wrong with the pages of the database; None if nothing is, or there is none."""
    if not database.database_file().exists():
        return None
    try:
        with closing(database.connect_reader()) as connection:
            check_result = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            connection.execute("SELECT seq, hash, count FROM head").fetchall()
    except sqlite3.OperationalError as problem:
        is_transient = any(word in str(problem) for word in ("locked", "busy", "unable to open", "readonly"))
        return None if is_transient else str(problem)
    except sqlite3.DatabaseError as problem:
        return str(problem)
    return None if check_result == "ok" else " ".join(str(check_result).split())


def quarantine_database(
    reason: str, report_progress: ProgressCallback = lambda _count, _total: None
) -> QuarantineResult:
    """Move the database and its head file into a new folder, and copy every sound row into a new database."""
    database_path = database.database_file()
    is_damaged = find_damage() is not None
    folder = database_path.with_name(f"aside-{times.now().replace(':', '').replace('.', '')}")
    folder.mkdir(mode=0o700)
    _move_files(database_path, folder)
    last_seq = _read_last_seq(folder / "head")
    salvage = Salvage(folder / database_path.name, last_seq, report_progress)
    with Writer(durability="full") as writer:
        copied_rows = _copy_entries(writer, salvage.sound_entries())
        last_skipped_seq = max((rows.last for rows in salvage.skipped_ranges), default=0)
        result = QuarantineResult(
            folder=str(folder),
            rows=max(last_seq, copied_rows, last_skipped_seq),
            taken=copied_rows,
            left=salvage.skipped_ranges,
            more=salvage.unlisted_rows,
        )
        writer.append([build_entry(_build_record(result, reason, is_damaged=is_damaged))])
    return result


def _move_files(database_path: Path, folder: Path) -> None:
    """Move all files of a database; a writer is waited for, and finds the new one afterwards."""
    with closing(sqlite3.connect(database_path, timeout=_LOCK_TIMEOUT_S, isolation_level=None)) as connection:
        with suppress(sqlite3.DatabaseError):
            connection.execute("BEGIN IMMEDIATE")
        for suffix in _DATABASE_SUFFIXES:
            with suppress(FileNotFoundError):
                os.rename(f"{database_path}{suffix}", folder / f"{database_path.name}{suffix}")  # noqa: PTH104
        notes = (database_path.with_name(name) for name in ("head", write_guard.FAULTS_FILE))
        for file in (*notes, *database_path.parent.glob("head-cut-*")):
            with suppress(FileNotFoundError):
                file.rename(folder / file.name)


def _read_last_seq(head_path: Path) -> int:
    try:
        last_head = head_file.read_head(head_path)
    except (ValueError, OSError):
        return 0
    return 0 if last_head is None else last_head.seq


def _copy_entries(writer: Writer, entries: Iterator[StoreEntry]) -> int:
    copied_rows = 0
    while batch := list(islice(entries, _WRITE_BATCH_ROWS)):
        copied_rows += writer.append(batch)
    return copied_rows


def _build_record(result: QuarantineResult, reason: str, *, is_damaged: bool) -> Stored:
    note = f"{result.taken} of {result.rows} records were taken over"
    note += f"; the others, if any can be read, are in {result.folder}"
    gap = Gap(where="$", capability="record", strategy="set aside", effect="observes", note=f"{note}. {reason}")
    data = {"rows": result.rows, "taken": result.taken, "left": to_builtins(result.left), "more": result.more}
    event = Event(
        id=ids.new_id(),
        schema=SCHEMA,
        type=QUARANTINE_EVENT,
        agent="hookonce",
        time=times.now(),
        time_source="received",
        actor=Actor(type="user"),
        data={**data, "folder": result.folder, "damaged": is_damaged},
    )
    return Stored(event=event, gaps=[gap], level="minimal")


def describe_quarantine(record: Stored) -> Iterator[tuple[bool, str]]:
    """What a quarantine did not copy, as (whether it proves tampering, message).

    Where the database itself was damaged, rows may have gone with it; one that can be read and is wrong was changed.
    """
    data = record.event.data
    origin = f"of the record that was put aside in {data.get('folder')}"
    for gap in data.get("left", []):
        first, last = gap["first"], gap["last"]
        rows = f"record {first}" if first == last else f"records {first} to {last}"
        is_tampering = gap["changed"] or not data.get("damaged")
        yield is_tampering, f"{rows} {origin}, not taken over: {gap['why']}"
    if data.get("more"):
        yield True, f"{data['more']} more records {origin} were not taken over"
