"""Audit of the store: rows, checkpoints, tombstones, head file and schema; whatever was changed is a `Flaw`."""

import sqlite3
from collections import deque
from collections.abc import Iterator
from sqlite3 import Connection
from typing import Any

from msgspec import Struct

from hookonce.store import schema
from hookonce.store.entry import decode_entry
from hookonce.store.integrity import chain, checkpoint, head_file, keys, tombstone, write_guard
from hookonce.store.integrity.chain import INDEX_COLUMNS, SELECT_ROWS, find_row_fault
from hookonce.store.integrity.head_file import ChainHead
from hookonce.store.integrity.tombstone import DAMAGE_NOTE, Tombstone
from hookonce.store.maintenance import quarantine
from hookonce.store.maintenance.quarantine import ProgressCallback

_MAX_INTEGRITY_ERRORS = 20


def find_structure_faults(connection: Connection) -> Iterator[str]:
    """Differences from the expected schema, and errors of SQLite's own integrity check."""
    yield from schema.find_schema_faults(connection)
    for (message,) in connection.execute(f"PRAGMA integrity_check({_MAX_INTEGRITY_ERRORS})").fetchall():
        if message != "ok":
            yield f"the database is damaged: {' '.join(message.split())}"


_TYPE_INDEX = 1 + INDEX_COLUMNS.index("type")
_MAX_FLAWS = 1000  # flaws that are told; a record that was rewritten has as many as it has rows
_PROGRESS_ROWS = 5000  # rows from one word to whoever waits to the next
_NO_KEY = "the key that marks rows is not there: whether this machine has written them cannot be told"
_NO_HEAD = "the head file is not there: whether rows were cut off after the last checkpoint cannot be told"
_UNREADABLE = (sqlite3.Error, TypeError, ValueError, AttributeError, OverflowError)


class Flaw(Struct, frozen=True, kw_only=True):
    """A flaw at a row or around it; `seq` 0 is the record as a whole."""

    seq: int
    what: str
    id: str | None = None


class RowRange(Struct, frozen=True):
    """A range of rows in one state: signed, chained only, or removed."""

    first: int
    last: int
    state: str


class Audit(Struct, frozen=True, kw_only=True):
    """Result of an audit; `notes` are no flaws, but say what could not be checked. `more` flaws were not listed."""

    ok: bool
    rows: int
    removed: int
    erased: int
    flaws: list[Flaw]
    more: int
    notes: list[str]
    ranges: list[RowRange]


class _AuditRun:
    """State of one audit: trusted inputs and findings so far."""

    def __init__(self, connection: Connection, report_progress: ProgressCallback) -> None:
        self.connection, self.report_progress = connection, report_progress
        self.flaws: list[Flaw] = []
        self.notes = [f"{path} can be read or written by others" for path in keys.find_exposed_paths()]
        self.unlisted_flaws = self.row_count = self.erased_rows = self.last_signed_seq = self.seq = 0
        self.hash: bytes | None = chain.GENESIS_HASH
        self.removals: list[Tombstone] = []
        self.noted_faults = write_guard.load_faults(head_file.head_file())
        self.key = keys.load_mac_key() if keys.has_mac_key() else None
        # Read before the database is: whoever appends meanwhile must not look like somebody who cuts.
        self.cut_heads = head_file.load_cuts() if self.key else []
        self.noted_head: ChainHead | str | None = None
        try:
            self.noted_head = head_file.read_head() if self.key else None
        except (ValueError, OSError) as problem:
            self.noted_head = str(problem)

    def add_flaws(self, flaws: Iterator[Flaw]) -> None:
        """Collect flaws; an unreadable database is a flaw itself."""
        try:
            for flaw in flaws:
                if len(self.flaws) < _MAX_FLAWS:
                    self.flaws.append(flaw)
                else:
                    self.unlisted_flaws += 1
        except _UNREADABLE as problem:
            self.flaws.append(Flaw(seq=self.seq + 1, what=f"from here on the database cannot be read: {problem}"))


def verify(connection: Connection, report_progress: ProgressCallback = lambda _count, _total: None) -> Audit:
    """Audit the database; the keys and the head file are trusted."""
    run = _AuditRun(connection, report_progress)
    text_factory = connection.text_factory
    connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
    connection.execute("BEGIN")
    try:
        run.add_flaws(Flaw(seq=0, what=structure_fault) for structure_fault in find_structure_faults(connection))
        run.add_flaws(Flaw(seq=0, what=f"noted at {fault}") for fault in run.noted_faults)
        for check in (_check_tombstones, _check_rows, _check_checkpoints, _check_head, _check_head_file):
            run.add_flaws(check(run))
    finally:
        connection.execute("ROLLBACK")
        connection.text_factory = text_factory
    return Audit(
        ok=not run.flaws,
        rows=run.row_count,
        removed=sum(removal.count for removal in run.removals),
        erased=run.erased_rows,
        flaws=run.flaws,
        more=run.unlisted_flaws,
        notes=run.notes,
        ranges=_row_ranges(run),
    )


def _check_tombstones(run: _AuditRun) -> Iterator[Flaw]:
    public_keys = keys.load_public_keys()
    for removal in tombstone.load_tombstones(run.connection):
        message = f"rows {removal.first} to {removal.last} were removed"
        if not tombstone.is_genuine(removal, public_keys):
            yield Flaw(seq=removal.first, what=f"{message}, and not by us")
            continue
        run.removals.append(removal)
        if removal.count != removal.last - removal.first + 1:
            yield Flaw(seq=removal.first, what=f"{message}, and there were only {removal.count} of them")
        if removal.reason.endswith(DAMAGE_NOTE):
            yield Flaw(seq=removal.first, what=f"{message}{DAMAGE_NOTE}")


def _check_rows(run: _AuditRun) -> Iterator[Flaw]:
    total = run.connection.execute("SELECT count(*) FROM events").fetchone()[0]
    removals = deque(run.removals)
    for row in run.connection.execute(f"{SELECT_ROWS} ORDER BY seq"):
        while removals and removals[0].first == run.seq + 1 and row[0] > removals[0].last:
            yield from _skip_removal(run, removals.popleft())
        yield from _check_row(run, row)
        if run.row_count % _PROGRESS_ROWS == 0:
            run.report_progress(run.row_count, total)
    while removals and removals[0].first == run.seq + 1:
        yield from _skip_removal(run, removals.popleft())
    if removals:
        rows = f"rows {removals[0].first} to {removals[0].last}"
        yield Flaw(seq=removals[0].first, what=f"{rows} were removed, and something else is there")
    if run.row_count and run.key is None:
        yield Flaw(seq=0, what=_NO_KEY)


def _skip_removal(run: _AuditRun, removal: Tombstone) -> Iterator[Flaw]:
    if run.hash is not None and removal.previous_hash != run.hash:
        yield Flaw(seq=removal.first, what="what stands before a removed part is not what stood there")
    run.seq, run.hash = removal.last, removal.last_hash


def _check_row(run: _AuditRun, row: tuple[Any, ...]) -> Iterator[Flaw]:
    seq, event_id, *_, row_hash, _ = row
    previous_hash = run.hash
    if seq != run.seq + 1:
        previous_hash = None  # what stood there is gone, and cannot be compared with
        yield Flaw(seq=run.seq + 1, what=f"rows {run.seq + 1} to {seq - 1} are missing")
    problem = find_row_fault(row, previous_hash, run.key)
    if problem is not None:
        yield Flaw(seq=seq, id=str(event_id), what=problem)
    elif row[_TYPE_INDEX] == quarantine.QUARANTINE_EVENT and not row[-3]:
        yield from _check_quarantine(run, row)
    run.row_count += 1
    run.erased_rows += row[-3] == 1
    run.seq, run.hash = seq, row_hash if type(row_hash) is bytes else None


def _check_quarantine(run: _AuditRun, row: tuple[Any, ...]) -> Iterator[Flaw]:
    """Rows that a quarantine did not copy: that somebody had changed them is not forgotten with them."""
    for is_tampering, message in quarantine.describe_quarantine(decode_entry(row[-4]).record):
        if is_tampering:
            yield Flaw(seq=row[0], id=str(row[1]), what=message)
        else:
            run.notes.append(message)


def _check_checkpoints(run: _AuditRun) -> Iterator[Flaw]:
    public_keys, previous_signature, last_seq = keys.load_public_keys(), b"", 0
    for row in run.connection.execute("SELECT * FROM checkpoints ORDER BY seq").fetchall():
        point = checkpoint.Checkpoint(*row)
        if not checkpoint.is_genuine(point, previous_signature, public_keys):
            yield Flaw(seq=point.seq, what="a checkpoint is not the one that was signed, or the one before it is gone")
        elif point.seq > run.seq:
            yield Flaw(seq=point.seq, what=f"row {point.seq} was signed, and the record ends at {run.seq}")
        elif not head_file.contains_head(run.connection, ChainHead(point.seq, point.hash, point.count)):
            yield Flaw(seq=point.seq, what="the row is not the one that was signed")
        else:
            run.last_signed_seq = point.seq
        previous_signature, last_seq = point.signature, point.seq
    if isinstance(run.noted_head, ChainHead) and run.noted_head.signed_seq > last_seq:
        yield Flaw(seq=run.noted_head.signed_seq, what=f"the checkpoint at row {run.noted_head.signed_seq} is gone")


def _check_head(run: _AuditRun) -> Iterator[Flaw]:
    head_rows = run.connection.execute("SELECT id, seq, hash, count FROM head").fetchall()
    if len(head_rows) != 1 or head_rows[0][0] != 1:
        yield Flaw(seq=run.seq, what="the database has no head, or not the one that we made")
        return
    _, seq, head_hash, count = head_rows[0]
    if (seq, head_hash) != (run.seq, run.hash):
        yield Flaw(seq=run.seq, what=f"the record ends at {run.seq}, and its head says {seq}, or another row there")
    row_count = run.row_count + sum(removal.count for removal in run.removals)
    if count != row_count:
        message = f"the record has {row_count} rows with those that were removed; its head says {count}"
        yield Flaw(seq=run.seq, what=message)


def _check_head_file(run: _AuditRun) -> Iterator[Flaw]:
    if run.noted_head is None:
        run.notes += [_NO_HEAD] if run.seq and run.key else []
    elif isinstance(run.noted_head, str):
        yield Flaw(seq=run.seq, what=run.noted_head)
    else:
        yield from _check_cut(run, run.noted_head, f"and ends at {run.seq}: its end was cut off")
    for cut_head in run.cut_heads:
        yield from _check_cut(run, cut_head, "once, was cut off, and has gone on with other rows")


def _check_cut(run: _AuditRun, expected_head: ChainHead, explanation: str) -> Iterator[Flaw]:
    if expected_head.seq > run.seq:
        yield Flaw(seq=expected_head.seq, what=f"the record went to {expected_head.seq} {explanation}")
    elif not head_file.contains_head(run.connection, expected_head):
        yield Flaw(seq=expected_head.seq, what="the row is not the one that the head file knows")


def _row_ranges(run: _AuditRun) -> list[RowRange]:
    first = max((removal.last for removal in run.removals), default=0) + 1
    ranges = [RowRange(removal.first, removal.last, "removed") for removal in run.removals]
    ranges.append(RowRange(first, run.last_signed_seq, "signed"))
    ranges.append(RowRange(max(run.last_signed_seq + 1, first), run.seq, "chained only"))
    return [rows for rows in ranges if rows.first <= rows.last]
