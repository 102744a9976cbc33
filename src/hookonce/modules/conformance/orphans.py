"""Orphan processes of a checked module: they are adopted as children of ours, named, and killed."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hookonce.handlers.supervise.watchdog import adopt_orphans, child_pids

_MAX_NAME_CHARS = 120


@contextmanager
def adopt_orphan_processes() -> Iterator[list[str]]:
    """Adopt orphans for a while; in the end the list says what was left, and nothing of it runs any more."""
    own_children, leftovers = {*child_pids()}, list[str]()
    adopt_orphans()
    try:
        yield leftovers
    finally:
        while orphans := {*child_pids()} - own_children:
            for pid in sorted(orphans):
                leftovers += _kill_process(pid)
        adopt_orphans(enable=False)


def _kill_process(pid: int) -> list[str]:
    """One that has ended by itself was not left behind."""
    name = _command_line(pid)
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)
    with suppress(OSError):
        os.waitpid(pid, 0)
    return [name] if name else []


def _command_line(pid: int) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ")
    except OSError:
        return ""
    return command.decode(errors="replace")[:_MAX_NAME_CHARS]
