"""Checkpoints: from time to time somebody with this machine's key signs how far the record goes.

Each one also signs the one before it, and the head file knows the last: none can be taken away unnoticed.
"""

from hashlib import sha256
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import astuple

from hookonce import times
from hookonce.store import head, keys
from hookonce.store.writer import current

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

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
        made = _add(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    if made is not None and (place := _beside(connection)) is not None:
        head.note(head.Head(made.seq, made.hash, made.count), place, connection, made.seq)
    return made


def _add(connection: Connection) -> Checkpoint | None:
    now, last = current(connection), _last(connection)
    if now.seq <= (0 if last is None else last.seq):
        return None
    name, key = keys.signing()
    at = times.now()
    text = _text(now.seq, now.count, now.hash, at, b"" if last is None else last.signature)
    made = Checkpoint(now.seq, now.count, now.hash, at, name, key.sign(text))
    connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?)", astuple(made))
    return made


def _last(connection: Connection) -> Checkpoint | None:
    row = connection.execute("SELECT * FROM checkpoints ORDER BY seq DESC LIMIT 1").fetchone()
    return None if row is None else Checkpoint(*row)


def _beside(connection: Connection) -> Path | None:
    """The head file of a database; one in memory has none."""
    place = connection.execute("PRAGMA database_list").fetchone()[2]
    return Path(place).with_name("head") if place else None


def signed(connection: Connection) -> int:
    """Up to which row the record is signed."""
    found: int = connection.execute("SELECT coalesce(max(seq), 0) FROM checkpoints").fetchone()[0]
    return found


def all_of(connection: Connection) -> list[Checkpoint]:
    """Every checkpoint, in order."""
    return [Checkpoint(*row) for row in connection.execute("SELECT * FROM checkpoints ORDER BY seq")]


def is_genuine(one: Checkpoint, before: bytes, known: "dict[str, Ed25519PublicKey]") -> bool:
    """Whether one of this machine's keys has signed it, after the one with the signature `before`."""
    return is_signed(_text(one.seq, one.count, one.hash, one.at, before), one.key, one.signature, known)


def is_signed(text: bytes, name: str, signature: bytes, known: "dict[str, Ed25519PublicKey]") -> bool:
    """Whether the key of that name has signed a text."""
    from cryptography.exceptions import InvalidSignature

    key = known.get(name)
    if key is None:
        return False
    try:
        key.verify(signature, text)
    except InvalidSignature:
        return False
    return True


def _text(seq: int, count: int, row: bytes, at: str, before: bytes) -> bytes:
    return f"hookonce checkpoint {seq} {count} {row.hex()} {at} {sha256(before).hexdigest()}".encode()
