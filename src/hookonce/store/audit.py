"""The audit: every row is looked at, and whatever was changed, removed, put in or cut off is named."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from msgspec import Struct

from hookonce.store import aside, chain, checkpoint, head, keys, structure, tombstone
from hookonce.store.entry import read
from hookonce.store.head import Head
from hookonce.store.soundness import BESIDE, ROWS, fault
from hookonce.store.tombstone import DAMAGED, Tombstone

# Summaries, which can be made anew from the rows, and how far transcripts were read.
OUTSIDE = frozenset({"counts", "told", "places", "spent", "hooks", "sessions", "transcripts"})
_TYPE = 1 + BESIDE.index("type")
_MOST = 1000  # flaws that are told; a record that was rewritten has as many as it has rows
_STEP = 5000  # rows from one word to whoever waits to the next
_NO_KEY = "the key that marks rows is not there: whether this machine has written them cannot be told"
_NO_HEAD = "the head file is not there: whether rows were cut off after the last checkpoint cannot be told"
_UNREADABLE = (sqlite3.Error, TypeError, ValueError, AttributeError, OverflowError)

Tell = Callable[[int, int], None]


class Flaw(Struct, frozen=True, kw_only=True):
    """Something that should not be: at a row, or around it; row 0 is the record as a whole."""

    seq: int
    what: str
    id: str | None = None


class Range(Struct, frozen=True):
    """Rows of which the same can be said: signed, linked to each other only, or removed."""

    first: int
    last: int
    state: str


class Audit(Struct, frozen=True, kw_only=True):
    """What was found; `notes` are no flaws, but say what could not be seen. `more` flaws were not listed."""

    ok: bool
    rows: int
    removed: int
    erased: int
    flaws: list[Flaw]
    more: int
    notes: list[str]
    ranges: list[Range]


class _Look:
    """One look at a record: what is taken for true, and what was found so far."""

    def __init__(self, connection: Connection, head_file: Path | None, tell: Tell) -> None:
        self.connection, self.tell = connection, tell
        self.flaws: list[Flaw] = []
        self.notes = [f"{path} can be read or written by others" for path in keys.exposed()]
        self.more = self.rows = self.erased = self.signed = self.seq = 0
        self.hash: bytes | None = chain.FIRST
        self.holes: list[Tombstone] = []
        self.key = keys.marking() if keys.is_marking() else None
        # Read before the database is: whoever appends meanwhile must not look like somebody who cuts.
        self.cuts = head.cuts(head_file) if self.key else []
        self.noted: head.Noted | str | None = None
        try:
            self.noted = head.read(head_file) if self.key else None
        except (ValueError, OSError) as problem:
            self.noted = str(problem)

    def add(self, flaws: Iterator[Flaw]) -> None:
        """Take up flaws, and that somebody has left something in which no flaws can be looked for."""
        try:
            for flaw in flaws:
                if len(self.flaws) < _MOST:
                    self.flaws.append(flaw)
                else:
                    self.more += 1
        except _UNREADABLE as problem:
            self.flaws.append(Flaw(seq=self.seq + 1, what=f"from here on the database cannot be read: {problem}"))


def verify(connection: Connection, head_file: Path | None = None, tell: Tell = lambda _done, _all: None) -> Audit:
    """Look at everything. The keys and the head file are taken for true."""
    look = _Look(connection, head_file, tell)
    usual = connection.text_factory
    connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
    connection.execute("BEGIN")
    try:
        look.add(Flaw(seq=0, what=what) for what in structure.faults(connection))
        for part in (_holes, _rows, _checkpoints, _ends, _outside):
            look.add(part(look))
    finally:
        connection.execute("ROLLBACK")
        connection.text_factory = usual
    return Audit(
        ok=not look.flaws,
        rows=look.rows,
        removed=sum(one.count for one in look.holes),
        erased=look.erased,
        flaws=look.flaws,
        more=look.more,
        notes=look.notes,
        ranges=_ranges(look),
    )


def _holes(look: _Look) -> Iterator[Flaw]:
    """Rows were removed by us only, all of those that were there, and none that somebody had changed."""
    known = keys.public()
    for one in tombstone.all_of(look.connection):
        gone = f"rows {one.first} to {one.last} were removed"
        if not tombstone.is_genuine(one, known):
            yield Flaw(seq=one.first, what=f"{gone}, and not by us")
            continue
        look.holes.append(one)
        if one.count != one.last - one.first + 1:
            yield Flaw(seq=one.first, what=f"{gone}, and there were only {one.count} of them")
        if one.why.endswith(DAMAGED):
            yield Flaw(seq=one.first, what=f"{gone}{DAMAGED}")


def _rows(look: _Look) -> Iterator[Flaw]:
    """Row by row: its number follows, its hash fits what stands there, its mark was made with our key."""
    total = look.connection.execute("SELECT count(*) FROM events").fetchone()[0]
    holes = iter(look.holes)
    hole = next(holes, None)
    for row in look.connection.execute(f"{ROWS} ORDER BY seq"):
        while hole is not None and hole.first == look.seq + 1 and row[0] > hole.last:
            yield from _passed(look, hole)
            hole = next(holes, None)
        yield from _row(look, row)
        if look.rows % _STEP == 0:
            look.tell(look.rows, total)
    while hole is not None and hole.first == look.seq + 1:
        yield from _passed(look, hole)
        hole = next(holes, None)
    if hole is not None:
        yield Flaw(seq=hole.first, what=f"rows {hole.first} to {hole.last} were removed, and something else is there")
    if look.rows and look.key is None:
        yield Flaw(seq=0, what=_NO_KEY)


def _passed(look: _Look, hole: Tombstone) -> Iterator[Flaw]:
    if look.hash is not None and hole.before != look.hash:
        yield Flaw(seq=hole.first, what="what stands before a removed part is not what stood there")
    look.seq, look.hash = hole.last, hole.after


def _row(look: _Look, row: tuple[Any, ...]) -> Iterator[Flaw]:
    number, name, *_, known, _ = row
    before = look.hash
    if number != look.seq + 1:
        before = None  # what stood there is gone, and cannot be compared with
        yield Flaw(seq=look.seq + 1, what=f"rows {look.seq + 1} to {number - 1} are missing")
    wrong = fault(row, before, look.key)
    if wrong is not None:
        yield Flaw(seq=number, id=str(name), what=wrong)
    elif row[_TYPE] == aside.TYPE and not row[-3]:
        yield from _put_aside(look, row)
    look.rows += 1
    look.erased += row[-3] == 1
    look.seq, look.hash = number, known if type(known) is bytes else None


def _put_aside(look: _Look, row: tuple[Any, ...]) -> Iterator[Flaw]:
    """What was not taken over from an older record: that somebody had changed it is not forgotten with it."""
    for done, what in aside.told(read(row[-4]).record):
        if done:
            yield Flaw(seq=row[0], id=str(row[1]), what=what)
        else:
            look.notes.append(what)


def _checkpoints(look: _Look) -> Iterator[Flaw]:
    """Each is signed by us, follows the one before it, and says what stands there; the last one is the last."""
    known, before, last = keys.public(), b"", 0
    for point in checkpoint.all_of(look.connection):
        if not checkpoint.is_genuine(point, before, known):
            yield Flaw(seq=point.seq, what="a checkpoint is not the one that was signed, or the one before it is gone")
        elif point.seq > look.seq:
            yield Flaw(seq=point.seq, what=f"row {point.seq} was signed, and the record ends at {look.seq}")
        elif not head.holds(look.connection, Head(point.seq, point.hash, point.count)):
            yield Flaw(seq=point.seq, what="the row is not the one that was signed")
        else:
            look.signed = point.seq
        before, last = point.signature, point.seq
    if isinstance(look.noted, head.Noted) and look.noted.signed > last:
        yield Flaw(seq=look.noted.signed, what=f"the checkpoint at row {look.noted.signed} is gone")


def _ends(look: _Look) -> Iterator[Flaw]:
    """The record goes as far as its head in the database says, and holds as many rows."""
    found = look.connection.execute("SELECT one, seq, hash, count FROM head").fetchall()
    if len(found) != 1 or found[0][0] != 1:
        yield Flaw(seq=look.seq, what="the database has no head, or not the one that we made")
        return
    _, seq, known, count = found[0]
    if (seq, known) != (look.seq, look.hash):
        yield Flaw(seq=look.seq, what=f"the record ends at {look.seq}, and its head says {seq}, or another row there")
    held = look.rows + sum(one.count for one in look.holes)
    if count != held:
        yield Flaw(seq=look.seq, what=f"the record has {held} rows with those that were removed; its head says {count}")


def _outside(look: _Look) -> Iterator[Flaw]:
    """The record goes as far as the head file says, and as it said before somebody cut it."""
    if look.noted is None:
        look.notes += [_NO_HEAD] if look.seq and look.key else []
    elif isinstance(look.noted, str):
        yield Flaw(seq=look.seq, what=look.noted)
    else:
        yield from _cut(look, look.noted.head, f"and ends at {look.seq}: its end was cut off")
    for one in look.cuts:
        yield from _cut(look, one, "once, was cut off, and has gone on with other rows")


def _cut(look: _Look, known: Head, how: str) -> Iterator[Flaw]:
    if known.seq > look.seq:
        yield Flaw(seq=known.seq, what=f"the record went to {known.seq} {how}")
    elif not head.holds(look.connection, known):
        yield Flaw(seq=known.seq, what="the row is not the one that the head file knows")


def _ranges(look: _Look) -> list[Range]:
    removed = [Range(one.first, one.last, "removed") for one in look.holes]
    first = max((one.last for one in look.holes), default=0) + 1
    signed = [Range(first, look.signed, "signed")] if look.signed >= first else []
    chained = max(look.signed + 1, first)
    return removed + signed + ([Range(chained, look.seq, "chained only")] if look.seq >= chained else [])
