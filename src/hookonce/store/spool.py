"""The spool: records of processes that have no store at hand, each line numbered and hashed, one file per process.

What is written here was redacted before. A line that cannot be written is counted, and never keeps an answer back.
"""

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from msgspec import DecodeError
from msgspec.json import decode, encode

from hookonce.config import paths
from hookonce.model import Stored


def folder() -> Path:
    """Where spool files lie."""
    return paths.data() / "spool"


def append(record: Stored) -> bool:
    """Write one record to a file of its own; whether that worked."""
    body = encode(record)
    line = b"1 " + sha256(body).hexdigest().encode() + b" " + body + b"\n"
    try:
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        name = folder() / f"{record.event.id}.jsonl"
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(line)
    except OSError:
        _count_loss()
        return False
    return True


def _count_loss() -> None:
    """One byte for each record that was lost, so that two who count at once both count."""
    try:
        handle = os.open(paths.data() / "lost", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(b".")
    except OSError:
        return  # the disk that refused the record refuses the count too


def lost() -> int:
    """How many records could not be written."""
    try:
        return (paths.data() / "lost").stat().st_size
    except OSError:
        return 0


def records() -> Iterator[Stored]:
    """Every record of the spool, oldest first; a line that does not fit its hash is left out."""
    for file in sorted(folder().glob("*.jsonl")):  # names are ids that begin with the time
        for line in file.read_bytes().splitlines():
            _, _, rest = line.partition(b" ")
            known, _, body = rest.partition(b" ")
            if sha256(body).hexdigest().encode() != known:
                continue
            try:
                yield decode(body, type=Stored)
            except DecodeError:
                continue
