"""Signed checkpoints of the hash chain (Ed25519): each signs the one before it, and the head file knows the last."""

from hashlib import sha256
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import astuple, replace

from hookonce.base import times
from hookonce.store.integrity import head_file, keys
from hookonce.store.integrity.write_guard import guarded_transaction
from hookonce.store.writer import read_chain_head

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

CHECKPOINT_INTERVAL_ROWS = 256


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
    with guarded_transaction(connection):
        head = read_chain_head(connection)
        statement = "SELECT seq, signature FROM checkpoints ORDER BY seq DESC LIMIT 1"
        last_seq, last_signature = connection.execute(statement).fetchone() or (0, b"")
        if head.seq <= last_seq:
            return None
        key_name, key = keys.load_signing_key()
        point = Checkpoint(head.seq, head.count, head.hash, times.now(), key_name, b"")
        point = replace(point, signature=key.sign(_signature_text(point, last_signature)))
        connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?)", astuple(point))
    database_path = connection.execute("PRAGMA database_list").fetchone()[2]
    if database_path:  # one in memory has no head file
        head_file.write_head(replace(head, signed_seq=head.seq), Path(database_path).with_name("head"), connection)
    return point


def last_signed_seq(connection: Connection) -> int:
    """The last row that a checkpoint covers."""
    seq: int = connection.execute("SELECT coalesce(max(seq), 0) FROM checkpoints").fetchone()[0]
    return seq


def is_genuine(candidate: Checkpoint, previous_signature: bytes, public_keys: "dict[str, Ed25519PublicKey]") -> bool:
    """Whether one of these keys has signed it, after the checkpoint with `previous_signature`."""
    text = _signature_text(candidate, previous_signature)
    return keys.is_valid_signature(text, candidate.key, candidate.signature, public_keys)


def _signature_text(point: Checkpoint, previous_signature: bytes) -> bytes:
    rows = f"{point.seq} {point.count} {point.hash.hex()}"
    return f"hookonce checkpoint {rows} {point.signed_at} {sha256(previous_signature).hexdigest()}".encode()
