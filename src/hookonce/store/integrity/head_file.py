"""Head file: the last row of the hash chain, kept outside of the database so that a cut end is noticed."""

import hmac
import os
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_SH, flock
from pathlib import Path
from sqlite3 import Connection

from msgspec import Struct

from hookonce.base import paths
from hookonce.store.integrity import chain, keys

_LINE_FORMAT = "{:016d} {} {:016d} {:016d} "
_TEXT_BYTES = len(_LINE_FORMAT.format(0, chain.GENESIS_HASH.hex(), 0, 0))
_LINE_BYTES = _TEXT_BYTES + 64 + 1  # with a mark and the line's end
_CUT_PREFIX = "head-cut-"


class ChainHead(Struct, frozen=True):
    """Number and hash of the last row, and how many rows there ever were."""

    seq: int
    hash: bytes
    count: int


class HeadNote(Struct, frozen=True):
    """Content of the head file: the chain head, and the last row that a checkpoint covers."""

    head: ChainHead
    signed_seq: int = 0


def head_file() -> Path:
    """The path of the head file, beside the database."""
    return paths.data_dir() / "head"


def write_head(
    head: ChainHead, path: Path | None = None, connection: Connection | None = None, signed_seq: int = 0
) -> None:
    """Write the chain head; always the same number of bytes, so that a full disk has room for them.

    It never goes back: a faster writer has written more. With a connection the database is checked for the old head;
    if that is gone, the end was cut off, and the old line is preserved for the audit.
    """
    head_path, key = path or head_file(), keys.load_mac_key()
    handle = os.open(head_path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        flock(handle, LOCK_EX)
        line = os.pread(handle, _LINE_BYTES, 0)
        old_note = _parse_line(line, key) or HeadNote(ChainHead(0, chain.GENESIS_HASH, 0))
        if connection is not None and not contains_head(connection, old_note.head):
            _preserve_cut(head_path, old_note.head.seq, line)
            old_note = HeadNote(ChainHead(0, chain.GENESIS_HASH, 0))
        furthest_head = old_note.head if old_note.head.seq > head.seq else head
        os.pwrite(handle, _format_line(HeadNote(furthest_head, max(old_note.signed_seq, signed_seq)), key), 0)
    finally:
        os.close(handle)


def contains_head(connection: Connection, head: ChainHead) -> bool:
    """Whether a database contains this head; of a removed row only the hash of its tombstone is known."""
    row = connection.execute("SELECT hash FROM events WHERE seq = ?", (head.seq,)).fetchone()
    if row is None:
        statement = "SELECT last_hash, last FROM tombstones WHERE ? BETWEEN first AND last"
        last_hash, last = connection.execute(statement, (head.seq,)).fetchone() or (None, None)
        return head.seq == 0 or (last is not None and (last != head.seq or last_hash == head.hash))
    return bool(row[0] == head.hash)


def _preserve_cut(head_path: Path, seq: int, line: bytes) -> None:
    """The first cut at a row counts; a full disk stops no writer."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with suppress(OSError):
        handle = os.open(head_path.with_name(f"{_CUT_PREFIX}{seq:016d}"), flags, 0o600)
        with os.fdopen(handle, "wb") as cut_file:
            cut_file.write(line)


def load_cuts(path: Path | None = None) -> list[ChainHead]:
    """The chain heads that were found to be cut off."""
    head_path, key = path or head_file(), keys.load_mac_key()
    lines = (cut_file.read_bytes() for cut_file in sorted(head_path.parent.glob(f"{_CUT_PREFIX}*")))
    return [cut_note.head for line in lines if (cut_note := _parse_line(line, key)) is not None]


def read_head(path: Path | None = None) -> ChainHead | None:
    """The chain head in the file; None if there is no file, ValueError if its MAC is wrong."""
    head_note = read_note(path)
    return None if head_note is None else head_note.head


def read_note(path: Path | None = None) -> HeadNote | None:
    """The whole content of the file; None if there is no file, ValueError if its MAC is wrong."""
    try:
        handle = os.open(path or head_file(), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        flock(handle, LOCK_SH)
        head_note = _parse_line(os.pread(handle, _LINE_BYTES + 1, 0), keys.load_mac_key())
    finally:
        os.close(handle)
    if head_note is None:
        raise ValueError("the head file is not what this machine's hookonce has written")
    return head_note


def _format_line(note: HeadNote, key: bytes) -> bytes:
    text = _LINE_FORMAT.format(note.head.seq, note.head.hash.hex(), note.head.count, note.signed_seq).encode()
    return text + hmac.digest(key, text, "sha256").hex().encode() + b"\n"


def _parse_line(line: bytes, key: bytes) -> HeadNote | None:
    text, mac = line[:_TEXT_BYTES], line[_TEXT_BYTES:]
    if mac != hmac.digest(key, text, "sha256").hex().encode() + b"\n":
        return None
    seq, row_hash, count, signed_seq = text.decode().split()
    return HeadNote(ChainHead(int(seq), bytes.fromhex(row_hash), int(count)), int(signed_seq))
