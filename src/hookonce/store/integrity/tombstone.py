"""Signed tombstones: the count, end hashes and reason of rows that were removed on purpose."""

from sqlite3 import Connection
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import astuple, replace

from hookonce.base import times
from hookonce.store.integrity import chain, keys
from hookonce.store.integrity.chain import SELECT_ROWS, find_row_fault

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

DAMAGE_NOTE = ", though not all of it was what was written"


class Tombstone(Struct, frozen=True):
    """Rows `first` to `last` are gone; `previous_hash` is that of the row before them."""

    first: int
    last: int
    count: int
    previous_hash: bytes
    last_hash: bytes
    signed_at: str
    reason: str
    key: str
    signature: bytes


def remove_rows(connection: Connection, last: int, reason: str) -> Tombstone | None:
    """Remove all rows up to a number and sign a tombstone, in the caller's transaction; None if there are none."""
    bounds = connection.execute("SELECT min(seq), max(seq), count(*) FROM events WHERE seq <= ?", (last,)).fetchone()
    if not bounds[2]:
        return None
    first, last, count = bounds
    row = connection.execute("SELECT last_hash FROM tombstones WHERE last = ?", (first - 1,)).fetchone()
    previous_hash: bytes = row[0] if row else chain.GENESIS_HASH
    last_hash = connection.execute("SELECT hash FROM events WHERE seq = ?", (last,)).fetchone()[0]
    if not _is_sound(connection, last, previous_hash):
        reason += DAMAGE_NOTE  # that somebody had changed them must not be forgotten with them
    key_name, key = keys.load_signing_key()
    new_tombstone = Tombstone(first, last, count, previous_hash, last_hash, times.now(), reason, key_name, b"")
    new_tombstone = replace(new_tombstone, signature=key.sign(_signature_text(new_tombstone)))
    connection.execute("DELETE FROM events WHERE seq <= ?", (last,))
    connection.execute("INSERT INTO tombstones VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", astuple(new_tombstone))
    return new_tombstone


def _is_sound(connection: Connection, last: int, previous_hash: bytes) -> bool:
    key, seq = keys.load_mac_key(), None
    for row in connection.execute(f"{SELECT_ROWS} WHERE seq <= ? ORDER BY seq", (last,)):
        if find_row_fault(row, previous_hash, key) is not None or (seq is not None and row[0] != seq + 1):
            return False
        seq, previous_hash = row[0], row[-2]
    return True


def is_genuine(candidate: Tombstone, public_keys: "dict[str, Ed25519PublicKey]") -> bool:
    """Whether one of these keys has signed it."""
    return keys.is_valid_signature(_signature_text(candidate), candidate.key, candidate.signature, public_keys)


def _signature_text(candidate: Tombstone) -> bytes:
    hashes = f"{candidate.previous_hash.hex()} {candidate.last_hash.hex()}"
    rows = f"{candidate.first} {candidate.last} {candidate.count}"
    return f"hookonce tombstone {rows} {hashes} {candidate.signed_at} {candidate.reason}".encode()


def load_tombstones(connection: Connection) -> list[Tombstone]:
    """All tombstones, in order."""
    return [Tombstone(*row) for row in connection.execute("SELECT * FROM tombstones ORDER BY first")]
