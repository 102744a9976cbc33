"""Tombstones: rows that were removed on purpose leave how many they were, what stood at both ends, and a signature."""

from sqlite3 import Connection

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from msgspec import Struct

from hookonce import times
from hookonce.store import chain, keys
from hookonce.store.checkpoint import is_signed


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
    """Remove all rows up to a number, and say so; None if there are none. Within the caller's transaction."""
    found = connection.execute("SELECT min(seq), max(seq), count(*) FROM events WHERE seq <= ?", (last,)).fetchone()
    if not found[2]:
        return None
    first, last, count = found
    before = _hash_before(connection, first)
    after = connection.execute("SELECT hash FROM events WHERE seq = ?", (last,)).fetchone()[0]
    name, key = keys.signing()
    at = times.now()
    signature = key.sign(_text(first, last, count, before, after, at, why))
    made = Tombstone(first, last, count, before, after, at, why, name, signature)
    connection.execute("DELETE FROM events WHERE seq <= ?", (last,))
    values = tuple(getattr(made, field) for field in made.__struct_fields__)
    connection.execute("INSERT INTO tombstones VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    return made


def _hash_before(connection: Connection, first: int) -> bytes:
    row = connection.execute("SELECT after FROM tombstones WHERE last = ?", (first - 1,)).fetchone()
    found: bytes = row[0] if row else chain.FIRST
    return found


def is_genuine(one: Tombstone, known: dict[str, Ed25519PublicKey]) -> bool:
    """Whether one of this machine's keys has signed it."""
    text = _text(one.first, one.last, one.count, one.before, one.after, one.at, one.why)
    return is_signed(text, one.key, one.signature, known)


def _text(first: int, last: int, count: int, before: bytes, after: bytes, at: str, why: str) -> bytes:
    return f"hookonce tombstone {first} {last} {count} {before.hex()} {after.hex()} {at} {why}".encode()


def all_of(connection: Connection) -> list[Tombstone]:
    """Every tombstone, in order."""
    return [Tombstone(*row) for row in connection.execute("SELECT * FROM tombstones ORDER BY first")]
