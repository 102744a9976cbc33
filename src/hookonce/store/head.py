"""The head outside of the database: how far the record went when it was last written, so that a cut end is noticed."""

import hmac
import os
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_SH, flock
from pathlib import Path
from sqlite3 import Connection

from msgspec import Struct

from hookonce.config import paths
from hookonce.store import chain, keys

_FORM = "{:016d} {} {:016d} {:016d} "
_TEXT = len(_FORM.format(0, chain.FIRST.hex(), 0, 0))
_LENGTH = _TEXT + 64 + 1  # with a mark and the line's end
_CUT = "head-cut-"


class Head(Struct, frozen=True):
    """The number and hash of the last row, and how many rows there ever were."""

    seq: int
    hash: bytes
    count: int


class Noted(Struct, frozen=True):
    """What stands in the file: how far the record went, and up to which row it was signed."""

    head: Head
    signed: int = 0


def file() -> Path:
    """Beside the database, and not in it."""
    return paths.data() / "head"


def note(head: Head, path: Path | None = None, connection: Connection | None = None, signed: int = 0) -> None:
    """Write down how far the record goes; always as many bytes, so that a full disk has room for them.

    It never goes back: whoever was faster has written more. With a connection it is seen whether the database still
    holds what was noted last; if not, its end was cut off, and the old note is kept aside for the audit.
    """
    place, key = path or file(), keys.marking()
    handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        flock(handle, LOCK_EX)
        line = os.pread(handle, _LENGTH, 0)
        known = _told(line, key) or Noted(Head(0, chain.FIRST, 0))
        if connection is not None and not holds(connection, known.head):
            _keep_aside(place, known.head.seq, line)
            known = Noted(Head(0, chain.FIRST, 0))
        farther = known.head if known.head.seq > head.seq else head
        os.pwrite(handle, _line(Noted(farther, max(known.signed, signed)), key), 0)
    finally:
        os.close(handle)


def holds(connection: Connection, head: Head) -> bool:
    """Whether a database goes as far as a head says, with the same row there; of a removed row nobody can tell."""
    row = connection.execute("SELECT hash FROM events WHERE seq = ?", (head.seq,)).fetchone()
    if row is None:
        inside = "SELECT after, last FROM tombstones WHERE ? BETWEEN first AND last"
        gone = connection.execute(inside, (head.seq,)).fetchone()
        return head.seq == 0 or (gone is not None and (gone[1] != head.seq or gone[0] == head.hash))
    return bool(row[0] == head.hash)


def _keep_aside(place: Path, seq: int, line: bytes) -> None:
    """The first note of a cut counts; a disk that takes no more keeps no record back."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with suppress(OSError):
        handle = os.open(place.with_name(f"{_CUT}{seq:016d}"), flags, 0o600)
        with os.fdopen(handle, "wb") as aside:
            aside.write(line)


def cuts(path: Path | None = None) -> list[Head]:
    """How far the record went each time that its end was found to be cut off."""
    place, key = path or file(), keys.marking()
    lines = (one.read_bytes() for one in sorted(place.parent.glob(f"{_CUT}*")))
    return [known.head for line in lines if (known := _told(line, key)) is not None]


def noted(path: Path | None = None) -> Head | None:
    """How far the record went by the file; None if there is none, ValueError if somebody else wrote it."""
    known = read(path)
    return None if known is None else known.head


def read(path: Path | None = None) -> Noted | None:
    """Everything that the file says, as above."""
    try:
        handle = os.open(path or file(), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        flock(handle, LOCK_SH)
        known = _told(os.pread(handle, _LENGTH + 1, 0), keys.marking())
    finally:
        os.close(handle)
    if known is None:
        raise ValueError("the head file is not what this machine's hookonce has written")
    return known


def _line(known: Noted, key: bytes) -> bytes:
    text = _FORM.format(known.head.seq, known.head.hash.hex(), known.head.count, known.signed).encode()
    return text + hmac.digest(key, text, "sha256").hex().encode() + b"\n"


def _told(line: bytes, key: bytes) -> Noted | None:
    """What a line says; None if it is not one of ours."""
    text, mark = line[:_TEXT], line[_TEXT:]
    if mark != hmac.digest(key, text, "sha256").hex().encode() + b"\n":
        return None
    seq, row, count, signed = text.decode().split()
    return Noted(Head(int(seq), bytes.fromhex(row), int(count)), int(signed))
