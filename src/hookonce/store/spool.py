"""The spool: records of processes that have no store at hand, a file for each, its lines numbered and hashed.

What is written here was redacted before. The last line of a file counts: what is known later stands below what was
known at first. A record that cannot be written is counted, and never keeps an answer back.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from fcntl import LOCK_EX, flock
from hashlib import sha256
from pathlib import Path

from hookonce.config import paths, settings
from hookonce.errors import HookonceError
from hookonce.model import Stored
from hookonce.store.entry import read
from hookonce.texts import dump

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
        length = old.rfind(b"\n") + 1  # below it lies what somebody was killed in writing, or had no room for
        try:
            file.seek(length)
            file.truncate()
            file.write(b"%d " % (old.count(b"\n") + 1) + line)
            file.flush()
            if is_full():
                settle(handle, None if length else path)
        except OSError:
            _undo(path, handle, length)
            raise


def is_full() -> bool:
    """Whether what is written has to survive a loss of power before anybody is answered."""
    try:
        return settings.durability() == "full"
    except HookonceError:  # settings that cannot be read may say so
        return True


def settle(handle: int, made: Path | None = None) -> None:
    """Have a file on the disk, and not only in memory; one that was just made is to be found there too."""
    os.fdatasync(handle)
    if made is not None:
        above = os.open(made.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(above)
        finally:
            os.close(above)


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


def count_loss(by: int = 1) -> None:
    """One more record is lost, or was found again. The count is the length of a file without content.

    Even a full disk takes that; where our folder cannot be written at all, a file elsewhere counts.
    """
    for place in _counts():
        with suppress(OSError, HookonceError):
            handle = os.open(place(), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "r+b") as file:
                flock(file, LOCK_EX)
                known = os.fstat(handle).st_size
                if known + by < 0:
                    continue  # it was counted elsewhere
                os.ftruncate(handle, known + by)
                return


def lost() -> int:
    """How many records could not be written."""
    found = 0
    for place in _counts():
        with suppress(OSError, HookonceError):
            found += place().stat().st_size
    return found


elsewhere: Callable[[], Path] | None = None  # set by those who know another place


def _counts() -> list[Callable[[], Path]]:
    return [_lost] if elsewhere is None else [_lost, elsewhere]


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
    with suppress(ValueError):
        return None if body is None else read(body).record
    return None
