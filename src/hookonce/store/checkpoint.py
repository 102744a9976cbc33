"""Checkpoints: from time to time somebody with this machine's key signs how far the record goes."""

from sqlite3 import Connection

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from msgspec import Struct

from hookonce import times
from hookonce.store import keys
from hookonce.store.writer import current

EVERY = 256  # rows


class Checkpoint(Struct, frozen=True):
    """How far the record went, when, and who says so."""

    seq: int
    count: int
    hash: bytes
    at: str
    key: str
    signature: bytes


def sign(connection: Connection) -> Checkpoint | None:
    """Sign the record as it is now; None if nothing was added since the last time."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        now = current(connection)
        if now.seq == signed(connection):
            connection.execute("ROLLBACK")
            return None
        name, key = keys.signing()
        at = times.now()
        made = Checkpoint(now.seq, now.count, now.hash, at, name, key.sign(_text(now.seq, now.count, now.hash, at)))
        values = (made.seq, made.count, made.hash, made.at, made.key, made.signature)
        connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?)", values)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return made


def signed(connection: Connection) -> int:
    """Up to which row the record is signed."""
    found: int = connection.execute("SELECT coalesce(max(seq), 0) FROM checkpoints").fetchone()[0]
    return found


def is_genuine(one: Checkpoint, known: dict[str, Ed25519PublicKey]) -> bool:
    """Whether one of this machine's keys has signed it."""
    return is_signed(_text(one.seq, one.count, one.hash, one.at), one.key, one.signature, known)


def is_signed(text: bytes, name: str, signature: bytes, known: dict[str, Ed25519PublicKey]) -> bool:
    """Whether the key of that name has signed a text."""
    key = known.get(name)
    if key is None:
        return False
    try:
        key.verify(signature, text)
    except InvalidSignature:
        return False
    return True


def _text(seq: int, count: int, row: bytes, at: str) -> bytes:
    return f"hookonce checkpoint {seq} {count} {row.hex()} {at}".encode()
