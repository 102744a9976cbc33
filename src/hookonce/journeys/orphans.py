"""Processes that somebody leaves behind: they come to us while we adopt them, are named, and ended."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hookonce.handlers.watchdog import adopt_orphans, children

_SHOWN = 120


@contextmanager
def adopted() -> Iterator[list[str]]:
    """For a while; in the end the list says what was left, and nothing of it runs any more."""
    ours, left = {*children()}, list[str]()
    adopt_orphans()
    try:
        yield left
    finally:
        while found := {*children()} - ours:
            for pid in sorted(found):
                left += _ended(pid)
        adopt_orphans(wanted=False)


def _ended(pid: int) -> list[str]:
    """End one, and say what it was; one that has ended by itself was not left."""
    name = _name(pid)
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)
    with suppress(OSError):
        os.waitpid(pid, 0)
    return [name] if name else []


def _name(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ")
    except OSError:
        return ""
    return words.decode(errors="replace")[:_SHOWN]
