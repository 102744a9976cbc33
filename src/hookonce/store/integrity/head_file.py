"""Head file: the last row of the hash chain, kept outside of the database so that a cut end is noticed."""

import hmac
import os
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_SH, flock
from pathlib import Path
from sqlite3 import Connection

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base import paths
from hookonce.store.integrity import chain, keys

_LINE_FORMAT = "{:016d} {} {:016d} {:016d} "
_TEXT_BYTES = len(_LINE_FORMAT.format(0, chain.GENESIS_HASH.hex(), 0, 0))
_LINE_BYTES = _TEXT_BYTES + 64 + 1  # with a mark and the line's end
_CUT_PREFIX = "head-cut-"


class ChainHead(Struct, frozen=True):
    """Last row, its hash, how many rows there ever were, and (in the head file) the last row that was signed."""

    seq: int
    hash: bytes
    count: int
    signed_seq: int = 0


_EMPTY_CHAIN = ChainHead(0, chain.GENESIS_HASH, 0)


def head_file() -> Path:
    """The path of the head file, beside the database."""
    return paths.data_dir() / "head"


def write_head(head: ChainHead, path: Path | None = None, connection: Connection | None = None) -> None:
    """Write the chain head; always the same number of bytes, so that a full disk has room for them.

    It never goes back: a faster writer has written more. With a connection the database is checked for the old head;
    if that is gone, the end was cut off, and the old line is preserved for the audit.
    """
    head_path, key = path or head_file(), keys.load_mac_key()
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(head_path, flags, 0o600), "r+b", buffering=0) as file:
        flock(file, LOCK_EX)
        handle = file.fileno()
        line = os.pread(handle, _LINE_BYTES, 0)
        old_head = _parse_line(line, key) or _EMPTY_CHAIN
        if connection is not None and not contains_head(connection, old_head):
            _preserve_cut(head_path, old_head.seq, line)
            old_head = _EMPTY_CHAIN
        new_head = old_head if old_head.seq > head.seq else head
        new_head = replace(new_head, signed_seq=max(old_head.signed_seq, head.signed_seq))
        os.pwrite(handle, _format_line(new_head, key), 0)


def contains_head(connection: Connection, head: ChainHead) -> bool:
    """Whether a database contains this head; of a removed row only the hash of its tombstone is known."""
    row = connection.execute("SELECT hash FROM events WHERE seq = ?", (head.seq,)).fetchone()
    if row is None:
        statement = "SELECT last_hash, last FROM tombstones WHERE ? BETWEEN first AND last"
        last_hash, last = connection.execute(statement, (head.seq,)).fetchone() or (None, None)
        return head.seq == 0 or (last is not None and (last != head.seq or last_hash == head.hash))
    return bool(row[0] == head.hash)


def find_hash(connection: Connection, seq: int) -> bytes | None:
    """The hash of a row, or of a removed one at which its tombstone ends; None if nobody knows it."""
    statement = "SELECT hash FROM events WHERE seq = ?1 UNION ALL SELECT last_hash FROM tombstones WHERE last = ?1"
    row = connection.execute(statement, (seq,)).fetchone()
    return chain.GENESIS_HASH if seq == 0 else row and row[0]


def _preserve_cut(head_path: Path, seq: int, line: bytes) -> None:
    """The first cut at a row counts; a full disk stops no writer."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with suppress(OSError):
        handle = os.open(head_path.with_name(f"{_CUT_PREFIX}{seq:016d}"), flags, 0o600)
        with os.fdopen(handle, "wb") as cut_file:
            cut_file.write(line)


def load_cuts() -> list[ChainHead]:
    """The chain heads that were found to be cut off."""
    key, cut_files = keys.load_mac_key(), sorted(head_file().parent.glob(f"{_CUT_PREFIX}*"))
    heads = (_parse_line(cut_file.read_bytes(), key) for cut_file in cut_files)
    return [head for head in heads if head is not None]


def read_head(path: Path | None = None) -> ChainHead | None:
    """The chain head in the file; None if there is no file, ValueError if its MAC is wrong."""
    try:
        handle = os.open(path or head_file(), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        flock(file, LOCK_SH)
        head = _parse_line(file.read(_LINE_BYTES + 1), keys.load_mac_key())
    if head is None:
        raise ValueError("the head file is not what this machine's hookonce has written")
    return head


def _format_line(head: ChainHead, key: bytes) -> bytes:
    text = _LINE_FORMAT.format(head.seq, head.hash.hex(), head.count, head.signed_seq).encode()
    return text + hmac.digest(key, text, "sha256").hex().encode() + b"\n"


def _parse_line(line: bytes, key: bytes) -> ChainHead | None:
    text, mac = line[:_TEXT_BYTES], line[_TEXT_BYTES:]
    if mac != hmac.digest(key, text, "sha256").hex().encode() + b"\n":
        return None
    seq, row_hash, count, signed_seq = text.decode().split()
    return ChainHead(int(seq), bytes.fromhex(row_hash), int(count), int(signed_seq))
