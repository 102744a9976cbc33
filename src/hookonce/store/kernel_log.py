"""The log of the kernel: its events beside the record, a JSON document to a line, and forgotten together with them."""

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from fcntl import LOCK_EX, flock
from pathlib import Path

from hookonce.config import paths
from hookonce.model import Json
from hookonce.texts import load

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


def place() -> Path:
    """Where it lies."""
    return paths.data() / "kernel.jsonl"


def append(lines: bytes) -> None:
    """Add lines, while nobody rewrites it."""
    with _held() as handle:
        while lines:
            lines = lines[os.write(handle, lines) :]


def forget(names: Collection[str]) -> int:
    """Take out the events of these ids, as records are erased; how many."""
    known = frozenset(names)
    return _without(lambda event: event.get("id") in known) if known else 0


def expire(before: str) -> int:
    """Take out what happened before a day (`2026-11-15`), as records are forgotten; how many."""
    begin = datetime.fromisoformat(before).replace(tzinfo=UTC).timestamp()
    return _without(lambda event: type(event.get("ts")) in (int, float) and event["ts"] < begin)


@contextmanager
def _held() -> Iterator[int]:
    handle = os.open(place(), _FLAGS, 0o600)
    try:
        flock(handle, LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def _without(is_meant: Callable[[Json], bool]) -> int:
    """Write it anew in its place, so that nothing is left of what goes; what is no event stays."""
    if not place().is_file():
        return 0
    with _held() as handle:
        with os.fdopen(os.dup(handle), "rb") as file:
            file.seek(0)
            lines = file.readlines()
        kept = [line for line in lines if not _is(line, is_meant)]
        if len(kept) != len(lines):
            os.ftruncate(handle, 0)
            rest = b"".join(kept)
            while rest:
                rest = rest[os.write(handle, rest) :]
    return len(lines) - len(kept)


def _is(line: bytes, is_meant: Callable[[Json], bool]) -> bool:
    try:
        event = load(line.decode())
    except ValueError:
        return False
    return type(event) is dict and is_meant(event)
