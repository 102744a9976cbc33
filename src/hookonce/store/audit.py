"""The audit: every row is looked at, and whatever was changed, removed, put in or cut off is named."""

import hmac
from collections.abc import Iterator
from pathlib import Path
from sqlite3 import Connection

from msgspec import Struct

from hookonce.store import chain, head, keys, tombstone
from hookonce.store.checkpoint import Checkpoint, is_genuine
from hookonce.store.writer import current

_MOST = 1000  # problems that are told; a record that was rewritten has as many as it has rows


class Flaw(Struct, frozen=True, kw_only=True):
    """Something that should not be: at a row, or around it."""

    seq: int
    what: str
    id: str | None = None


class Range(Struct, frozen=True):
    """Rows of which the same can be said: signed, or linked to each other only."""

    first: int
    last: int
    state: str


class Audit(Struct, frozen=True, kw_only=True):
    """What was found."""

    ok: bool
    rows: int
    removed: int
    erased: int
    flaws: list[Flaw]
    ranges: list[Range]


def verify(connection: Connection, head_file: Path | None = None) -> Audit:
    """Look at everything. The key that marks rows and the head file are taken for true."""
    connection.execute("BEGIN")
    try:
        flaws: list[Flaw] = []
        counts = {"rows": 0, "erased": 0}
        for flaw in _walk(connection, counts):
            if len(flaws) < _MOST:
                flaws.append(flaw)
        flaws += [*_signatures(connection), *_ends(connection, head_file)]
        removed = sum(one.count for one in tombstone.all_of(connection))
        ranges = _ranges(connection)
    finally:
        connection.execute("ROLLBACK")
    return Audit(ok=not flaws, removed=removed, flaws=flaws, ranges=ranges, **counts)


def _walk(connection: Connection, counts: dict[str, int]) -> Iterator[Flaw]:
    """Row by row: its number follows, its hash fits what stands there, its mark was made with our key."""
    key = keys.marking()
    holes = {one.first: one for one in tombstone.all_of(connection)}
    seq, before = 0, chain.FIRST
    for number, name, body, erased, row, mark in connection.execute(
        "SELECT seq, id, body, erased, hash, mac FROM events ORDER BY seq"
    ):
        counts["rows"] += 1
        counts["erased"] += erased
        while seq + 1 in holes and seq + 1 != number:
            hole = holes[seq + 1]
            if hole.before != before:
                yield Flaw(seq=hole.first, what="what stands before a removed part is not what stood there")
            seq, before = hole.last, hole.after
        if number != seq + 1:
            yield Flaw(seq=seq + 1, what=f"rows {seq + 1} to {number - 1} are missing")
        known = body if erased else chain.digest(body)
        if chain.link(number, before, known) != row:
            yield Flaw(seq=number, id=name, what="the row, or the one before it, is not what was written")
        elif not hmac.compare_digest(chain.mark(key, row), mark):
            yield Flaw(seq=number, id=name, what="the row was written by somebody without this machine's key")
        seq, before = number, row


def _signatures(connection: Connection) -> Iterator[Flaw]:
    """Checkpoints and tombstones are signed by us, and say what stands there."""
    known = keys.public()
    for one in tombstone.all_of(connection):
        if not tombstone.is_genuine(one, known):
            yield Flaw(seq=one.first, what=f"rows {one.first} to {one.last} were removed, and not by us")
    for row in connection.execute("SELECT * FROM checkpoints ORDER BY seq"):
        point = Checkpoint(*row)
        if not is_genuine(point, known):
            yield Flaw(seq=point.seq, what="a checkpoint was not signed by this machine's key")
        elif (found := _hash_at(connection, point.seq)) is not None and found != point.hash:
            yield Flaw(seq=point.seq, what="the row is not the one that was signed")


def _hash_at(connection: Connection, seq: int) -> bytes | None:
    row = connection.execute("SELECT hash FROM events WHERE seq = ?", (seq,)).fetchone()
    row = row or connection.execute("SELECT after FROM tombstones WHERE last = ?", (seq,)).fetchone()
    return row[0] if row else None


def _ends(connection: Connection, head_file: Path | None) -> Iterator[Flaw]:
    """The record goes as far as its head says, as the head file says, and as the last checkpoint says."""
    now = current(connection)
    last = connection.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    last = last or connection.execute("SELECT last, after FROM tombstones ORDER BY last DESC LIMIT 1").fetchone()
    seq, row = last or (0, chain.FIRST)
    if (now.seq, now.hash) != (seq, row):
        yield Flaw(seq=now.seq, what=f"the record ends at {seq}, and its head says {now.seq}")
    try:
        known = head.noted(head_file)
    except ValueError as problem:
        yield Flaw(seq=now.seq, what=str(problem))
        return
    if known is not None and (known.seq > seq or known.count > now.count):
        yield Flaw(seq=known.seq, what=f"the record went to {known.seq} and ends at {seq}: its end was cut off")
    elif known is not None and (found := _hash_at(connection, known.seq)) is not None and found != known.hash:
        yield Flaw(seq=known.seq, what="the row is not the one that the head file knows")
    reached = connection.execute("SELECT max(seq) FROM checkpoints").fetchone()[0] or 0
    if reached > seq:
        yield Flaw(seq=reached, what=f"row {reached} was signed, and the record ends at {seq}")


def _ranges(connection: Connection) -> list[Range]:
    signed = connection.execute("SELECT coalesce(max(seq), 0) FROM checkpoints").fetchone()[0]
    first = connection.execute("SELECT coalesce(min(seq), 0) FROM events").fetchone()[0]
    last = current(connection).seq
    found = [Range(first, signed, "signed")] if first and signed >= first else []
    return found + ([Range(max(signed + 1, first), last, "chained only")] if last > signed else [])
