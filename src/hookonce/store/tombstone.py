"""Tombstones: rows that were removed on purpose leave how many they were, what stood at both ends, and a signature."""

from sqlite3 import Connection
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import astuple, replace

from hookonce import times
from hookonce.store import chain, keys
from hookonce.store.checkpoint import is_signed
from hookonce.store.soundness import ROWS, fault

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

DAMAGED = ", though not all of it was what was written"


class Tombstone(Struct, frozen=True):
    """Rows `first` to `last` are gone; `before` and `after` are the hashes around the hole and at its end."""

    first: int
    last: int
    count: int
    before: bytes
    after: bytes
    at: str
    why: str
    key: str
    signature: bytes


def bury(connection: Connection, last: int, why: str) -> Tombstone | None:
    """Remove all rows up to a number, and say so; None if there are none. Within the caller's transaction.

    They are looked at once more: what somebody had changed must not be forgotten with them.
    """
    found = connection.execute("SELECT min(seq), max(seq), count(*) FROM events WHERE seq <= ?", (last,)).fetchone()
    if not found[2]:
        return None
    first, last, count = found
    before = _hash_before(connection, first)
    after = connection.execute("SELECT hash FROM events WHERE seq = ?", (last,)).fetchone()[0]
    why += "" if _is_sound(connection, last, before) else DAMAGED
    name, key = keys.signing()
    made = Tombstone(first, last, count, before, after, times.now(), why, name, b"")
    made = replace(made, signature=key.sign(_text(made)))
    connection.execute("DELETE FROM events WHERE seq <= ?", (last,))
    connection.execute("INSERT INTO tombstones VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", astuple(made))
    return made


def _is_sound(connection: Connection, last: int, before: bytes) -> bool:
    key, seq = keys.marking(), None
    for row in connection.execute(f"{ROWS} WHERE seq <= ? ORDER BY seq", (last,)):
        if fault(row, before, key) is not None or (seq is not None and row[0] != seq + 1):
            return False
        seq, before = row[0], row[-2]
    return True


def _hash_before(connection: Connection, first: int) -> bytes:
    row = connection.execute("SELECT after FROM tombstones WHERE last = ?", (first - 1,)).fetchone()
    found: bytes = row[0] if row else chain.FIRST
    return found


def is_genuine(one: Tombstone, known: "dict[str, Ed25519PublicKey]") -> bool:
    """Whether one of this machine's keys has signed it."""
    return is_signed(_text(one), one.key, one.signature, known)


def _text(one: Tombstone) -> bytes:
    rows = f"{one.first} {one.last} {one.count} {one.before.hex()} {one.after.hex()}"
    return f"hookonce tombstone {rows} {one.at} {one.why}".encode()


def all_of(connection: Connection) -> list[Tombstone]:
    """Every tombstone, in order."""
    return [Tombstone(*row) for row in connection.execute("SELECT * FROM tombstones ORDER BY first")]
