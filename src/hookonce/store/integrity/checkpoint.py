"""Signed checkpoints of the hash chain (Ed25519): each signs the one before it, and the head file knows the last."""

from hashlib import sha256
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import astuple, replace

from hookonce.base import times
from hookonce.store.integrity import head_file, keys
from hookonce.store.integrity.head_file import ChainHead
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


class CheckpointDraft(Struct, frozen=True):
    """A checkpoint that is not signed yet, and the signature of the one before it."""

    head: ChainHead
    signed_at: str
    previous_signature: bytes

    @property
    def text(self) -> bytes:
        """What is to be signed."""
        point = Checkpoint(self.head.seq, self.head.count, self.head.hash, self.signed_at, "", b"")
        return _signature_text(point, self.previous_signature)


def sign_checkpoint(connection: Connection) -> Checkpoint | None:
    """Sign the chain as it is now; None if nothing was added since the last checkpoint."""
    with guarded_transaction(connection):
        draft = draft_checkpoint(connection)
        if draft is None:
            return None
        point = _insert_checkpoint(connection, draft, *sign_text(draft.text))
    _write_head(connection, draft)
    return point


def draft_checkpoint(connection: Connection) -> CheckpointDraft | None:
    """The checkpoint of the chain as it is now; None if nothing was added since the last one."""
    last_seq, last_signature = _last_checkpoint(connection)
    head = read_chain_head(connection)
    return CheckpointDraft(head, times.now(), last_signature) if head.seq > last_seq else None


def sign_text(text: bytes) -> tuple[str, bytes]:
    """The name of this machine's signing key, and its signature."""
    key_name, key = keys.load_signing_key()
    return key_name, key.sign(text)


def store_checkpoint(connection: Connection, draft: CheckpointDraft, key_name: str, signature: bytes) -> bool:
    """Store a draft that was signed meanwhile; False if another one was stored before it, or the chain is another."""
    with guarded_transaction(connection):
        is_same_chain = head_file.find_hash(connection, draft.head.seq) == draft.head.hash
        if not is_same_chain or _last_checkpoint(connection)[1] != draft.previous_signature:
            return False
        _insert_checkpoint(connection, draft, key_name, signature)
    _write_head(connection, draft)
    return True


def _last_checkpoint(connection: Connection) -> tuple[int, bytes]:
    statement = "SELECT seq, signature FROM checkpoints ORDER BY seq DESC LIMIT 1"
    return connection.execute(statement).fetchone() or (0, b"")


def _insert_checkpoint(connection: Connection, draft: CheckpointDraft, key_name: str, signature: bytes) -> Checkpoint:
    head = draft.head
    point = Checkpoint(head.seq, head.count, head.hash, draft.signed_at, key_name, signature)
    connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?)", astuple(point))
    return point


def _write_head(connection: Connection, draft: CheckpointDraft) -> None:
    database_path = connection.execute("PRAGMA database_list").fetchone()[2]
    if database_path:  # one in memory has no head file
        head = replace(draft.head, signed_seq=draft.head.seq)
        head_file.write_head(head, Path(database_path).with_name("head"), connection)


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
