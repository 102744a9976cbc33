"""Where a call is answered: the world of who has called, and what we keep there of calls.

A process that answers one call stands on files; one that answers many has most of it in its own memory.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from hookonce.journeys import uncounted as _uncounted  # noqa: F401  says where losses are counted
from hookonce.model import Record, Stored
from hookonce.runtime import twice
from hookonce.store import spool as files


class Spool(Protocol):
    """Where records are kept first."""

    def append(self, record: Stored, /) -> bool:
        """Keep a record, below what was kept of the same event before."""

    def forget(self, event: str, /) -> None:
        """What was kept of an event was none of its own."""

    def has(self, event: str, /) -> bool:
        """Whether something was kept of an event."""


class Ground(Struct, frozen=True, kw_only=True):
    """The caller's environment, directory, umask (-1: ours) and process (0: ours), and our own books.

    `asks` is whether hooks are asked; a call that was answered before is only kept. Whoever
    lives on looks after what is to be renewed at other times than when somebody waits, and may want to see what was
    decided, as it came (`noticed`).
    """

    environment: Mapping[str, str]
    cwd: str
    umask: int = -1
    pid: int = 0
    spool: Spool
    doors: twice.Book
    asks: bool = True
    lives_on: bool = False
    noticed: Callable[[Record], object] = lambda _: None


def cold(environment: Mapping[str, str], *, asks: bool = True) -> Ground:
    """That of a process which the caller has started itself."""
    return Ground(environment=environment, cwd=_cwd(), spool=files, doors=twice.on_disk, asks=asks)


def _cwd() -> str:
    """Our directory; one that was taken away under our feet is the root."""
    try:
        return str(Path.cwd())
    except OSError:
        return os.sep
