"""The spool: records of processes that have no store at hand, a file for each, its lines numbered and hashed.

What is written here was redacted before. The last line of a file counts: what is known later stands below what was
known at first. A record that cannot be written is counted, and never keeps an answer back.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from fcntl import LOCK_EX, flock
from hashlib import sha256
from pathlib import Path

from msgspec import DecodeError, ValidationError, convert
from msgspec.json import decode

from hookonce.config import paths
from hookonce.model import Stored
from hookonce.texts import dump, load

_FORGET = re.compile(rb'\d+ [0-9a-f]{64} \{"forget":"([0-9A-Za-z-]+)"\}')


def folder() -> Path:
    """Where spool files lie."""
    return paths.data() / "spool"


def append(record: Stored) -> bool:
    """Write a record, below what was written of the same event before; whether that worked."""
    body = dump(record)
    try:
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        _add(_file(record.event.id), sha256(body).hexdigest().encode() + b" " + body + b"\n")
    except OSError:
        count_loss()
        return False
    return True


def _add(path: Path, line: bytes) -> None:
    """All of a line or nothing of it: half a record would only be in the way."""
    handle = _held(path)
    with os.fdopen(handle, "r+b") as file:
        old = file.read()
        try:
            file.write(b"%d " % (old.count(b"\n") + 1) + line)
            file.flush()
        except OSError:
            _undo(path, handle, len(old))
            raise


def _held(path: Path) -> int:
    """The file, held against others; one that was taken up meanwhile is another file."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        flock(handle, LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle
        os.close(handle)


def _undo(path: Path, handle: int, length: int) -> None:
    with suppress(OSError):
        os.ftruncate(handle, length)
        if not length:
            path.unlink()


def forget(event: str) -> None:
    """What was written of an event was none of its own."""
    with suppress(OSError):
        _file(event).unlink()


def _file(event: str) -> Path:
    return folder() / f"{event}.jsonl"


def count_loss() -> None:
    """One more record is lost. The count is the length of a file without content, which a full disk still takes."""
    with suppress(OSError):
        handle = os.open(_lost(), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "r+b") as file:
            flock(file, LOCK_EX)
            os.ftruncate(handle, os.fstat(handle).st_size + 1)


def lost() -> int:
    """How many records could not be written."""
    try:
        return _lost().stat().st_size
    except OSError:
        return 0


def _lost() -> Path:
    return paths.data() / "lost"


def records() -> Iterator[Stored]:
    """Every record of the spool, oldest first."""
    found: dict[str, Stored] = {}
    for file in sorted(folder().glob("*.jsonl")):  # ids begin with the time
        for line in _lines(file):
            record = _record(line)
            if record is not None:
                known = found.get(record.event.id)
                if known is None or _doors(record) >= _doors(known):  # who came second knows both
                    found[record.event.id] = record
            elif (forgotten := _FORGET.fullmatch(line)) is not None:
                found.pop(forgotten[1].decode(), None)
    return iter(sorted(found.values(), key=lambda one: (one.event.received or one.event.time, one.event.id)))


def _doors(record: Stored) -> int:
    return len(record.event.origin.via or ()) if record.event.origin is not None else 0


def last(event: str) -> Stored | None:
    """What is known of an event; a line that does not fit its hash is left out."""
    lines = reversed(_lines(_file(event)))
    return next((record for record in map(_record, lines) if record is not None), None)


def _lines(file: Path) -> list[bytes]:
    try:
        return file.read_bytes().splitlines()
    except OSError:
        return []


def has(event: str) -> bool:
    """Whether something was written of an event."""
    return last(event) is not None


def told(line: bytes) -> tuple[bytes | None, str | None]:
    """The body that a line holds, or the event that it takes back; neither if the line is not what was written."""
    if (forgotten := _FORGET.fullmatch(line)) is not None:
        return None, forgotten[1].decode()
    _, known, body = (*line.split(b" ", 2), b"", b"")[:3]
    return (body, None) if sha256(body).hexdigest().encode() == known else (None, None)


def _record(line: bytes) -> Stored | None:
    body, _ = told(line)
    if body is None:
        return None
    try:
        return decode(body, type=Stored)
    except ValidationError:
        return None
    except DecodeError:  # what JavaScript may say and msgspec refuses
        with suppress(ValueError, ValidationError):
            return convert(load(body.decode()), type=Stored)
        return None
