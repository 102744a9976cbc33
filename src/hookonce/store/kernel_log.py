"""Module kernel log: its events as JSON lines beside the store, removed together with the records."""

import os
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from fcntl import LOCK_EX, flock
from io import BytesIO
from pathlib import Path

from hookonce.base import paths
from hookonce.base.jsontext import load
from hookonce.base.runtime_dir import update_locked
from hookonce.model import Json


def kernel_log_file() -> Path:
    """The path of the log."""
    return paths.data_dir() / "kernel.jsonl"


def append(lines: bytes) -> None:
    """Append lines under a lock."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(kernel_log_file(), flags, 0o600), "ab") as file:
        flock(file, LOCK_EX)
        file.write(lines)


def remove_events(event_ids: Collection[str]) -> None:
    """Remove events by id."""
    id_set = frozenset(event_ids)
    _remove_matching(lambda event: event.get("id") in id_set)


def remove_before(day: str) -> None:
    """Remove events before a day (`2026-11-15`)."""
    begin_s = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    _remove_matching(lambda event: type(event.get("ts")) in (int, float) and event["ts"] < begin_s)


def _remove_matching(is_match: Callable[[Json], bool]) -> None:
    """Rewrites the file in place; lines that are no event stay."""

    def remaining_lines(content: bytes) -> bytes:
        return b"".join(line for line in BytesIO(content) if not _matches(line, is_match))

    if kernel_log_file().is_file():
        update_locked(kernel_log_file(), remaining_lines)


def _matches(line: bytes, is_match: Callable[[Json], bool]) -> bool:
    try:
        event = load(line.decode())
    except ValueError:
        return False
    return type(event) is dict and is_match(event)
