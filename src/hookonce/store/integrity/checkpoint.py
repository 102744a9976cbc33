"""Signed checkpoints: an Ed25519 signature over how far the hash chain goes.

Each one also signs the one before it, and the head file knows the last: none can be removed unnoticed.
"""

from hashlib import sha256
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import astuple

from hookonce.base import times
from hookonce.store.integrity import head_file, keys
from hookonce.store.writer import read_chain_head

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

CHECKPOINT_INTERVAL_ROWS = 256  # rows


class Checkpoint(Struct, frozen=True):
    """Last row, row count and hash of the chain at a time, and the key that signed them."""

    seq: int
    count: int
    hash: bytes
    signed_at: str
    key: str
    signature: bytes


def sign_checkpoint(connection: Connection) -> Checkpoint | None:
    """Sign the chain as it is now; None if nothing was added since the last checkpoint."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        new_checkpoint = _insert_checkpoint(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    if new_checkpoint is not None and (head_path := _head_path_of(connection)) is not None:
        head_file.write_head(
            head_file.ChainHead(new_checkpoint.seq, new_checkpoint.hash, new_checkpoint.count),
            head_path,
            connection,
            new_checkpoint.seq,
        )
    return new_checkpoint


def _insert_checkpoint(connection: Connection) -> Checkpoint | None:
    chain_head, last_checkpoint = read_chain_head(connection), _load_last(connection)
    if chain_head.seq <= (0 if last_checkpoint is None else last_checkpoint.seq):
        return None
    key_name, key = keys.load_signing_key()
    signed_at = times.now()
    text = _signature_text(
        chain_head.seq,
        chain_head.count,
        chain_head.hash,
        signed_at,
        b"" if last_checkpoint is None else last_checkpoint.signature,
    )
    new_checkpoint = Checkpoint(chain_head.seq, chain_head.count, chain_head.hash, signed_at, key_name, key.sign(text))
    connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?)", astuple(new_checkpoint))
    return new_checkpoint


def _load_last(connection: Connection) -> Checkpoint | None:
    row = connection.execute("SELECT * FROM checkpoints ORDER BY seq DESC LIMIT 1").fetchone()
    return None if row is None else Checkpoint(*row)


def _head_path_of(connection: Connection) -> Path | None:
    """A database in memory has no head file."""
    database_path = connection.execute("PRAGMA database_list").fetchone()[2]
    return Path(database_path).with_name("head") if database_path else None


def last_signed_seq(connection: Connection) -> int:
    """The last row that a checkpoint covers."""
    seq: int = connection.execute("SELECT coalesce(max(seq), 0) FROM checkpoints").fetchone()[0]
    return seq


def load_checkpoints(connection: Connection) -> list[Checkpoint]:
    """All checkpoints, in order."""
    return [Checkpoint(*row) for row in connection.execute("SELECT * FROM checkpoints ORDER BY seq")]


def is_genuine(candidate: Checkpoint, previous_signature: bytes, public_keys: "dict[str, Ed25519PublicKey]") -> bool:
    """Whether one of these keys has signed it, after the checkpoint with `previous_signature`."""
    return is_valid_signature(
        _signature_text(candidate.seq, candidate.count, candidate.hash, candidate.signed_at, previous_signature),
        candidate.key,
        candidate.signature,
        public_keys,
    )


def is_valid_signature(
    text: bytes, key_name: str, signature: bytes, public_keys: "dict[str, Ed25519PublicKey]"
) -> bool:
    """Whether the key of that name has signed a text."""
    from cryptography.exceptions import InvalidSignature

    key = public_keys.get(key_name)
    if key is None:
        return False
    try:
        key.verify(signature, text)
    except InvalidSignature:
        return False
    return True


def _signature_text(seq: int, count: int, row_hash: bytes, signed_at: str, previous_signature: bytes) -> bytes:
    return f"hookonce checkpoint {seq} {count} {row_hash.hex()} {signed_at} {sha256(previous_signature).hexdigest()}".encode()
