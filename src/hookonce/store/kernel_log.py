"""Module kernel log: its events as JSON lines beside the store, removed together with the records."""

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from fcntl import LOCK_EX, flock
from pathlib import Path

from hookonce.base import paths
from hookonce.base.jsontext import load
from hookonce.model import Json

_OPEN_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


def kernel_log_file() -> Path:
    """The path of the log."""
    return paths.data_dir() / "kernel.jsonl"


def append(lines: bytes) -> None:
    """Append lines under a lock."""
    with _lock_log() as handle:
        while lines:
            lines = lines[os.write(handle, lines) :]


def remove_events(event_ids: Collection[str]) -> int:
    """Remove events by id; returns how many."""
    id_set = frozenset(event_ids)
    return _remove_matching(lambda event: event.get("id") in id_set) if id_set else 0


def remove_before(day: str) -> int:
    """Remove events before a day (`2026-11-15`); returns how many."""
    begin_s = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    return _remove_matching(lambda event: type(event.get("ts")) in (int, float) and event["ts"] < begin_s)


@contextmanager
def _lock_log() -> Iterator[int]:
    handle = os.open(kernel_log_file(), _OPEN_FLAGS, 0o600)
    try:
        flock(handle, LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def _remove_matching(is_match: Callable[[Json], bool]) -> int:
    """Rewrites the file in place; lines that are no event stay."""
    if not kernel_log_file().is_file():
        return 0
    with _lock_log() as handle:
        with os.fdopen(os.dup(handle), "rb") as file:
            file.seek(0)
            lines = file.readlines()
        remaining_lines = [line for line in lines if not _matches(line, is_match)]
        if len(remaining_lines) != len(lines):
            os.ftruncate(handle, 0)
            content = b"".join(remaining_lines)
            while content:
                content = content[os.write(handle, content) :]
    return len(lines) - len(remaining_lines)


def _matches(line: bytes, is_match: Callable[[Json], bool]) -> bool:
    try:
        event = load(line.decode())
    except ValueError:
        return False
    return type(event) is dict and is_match(event)
