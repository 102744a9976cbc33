"""Whoever kills us kills the hooks that we started: a small process waits for our end and then ends theirs.

It learns of each process group over a pipe. When the pipe closes without a goodbye, we were killed, and the groups
that are still running are killed too. It has a session of its own, because agents kill whole process groups.
"""

import os
import signal
from contextlib import suppress

_GONE, _STARTED, _ENDED = b"!", b"+", b"-"


class Watchdog:
    """The process that outlives us by a moment."""

    def __init__(self) -> None:
        """Start it; everything that it needs is in memory by then."""
        read, write = os.pipe2(os.O_CLOEXEC)
        self._pid = os.fork()
        if self._pid == 0:
            os.close(write)
            _wait(read)
        os.close(read)
        self._pipe = write

    def started(self, group: int) -> None:
        """A process group is ours to end."""
        os.write(self._pipe, _STARTED + group.to_bytes(4, "little"))

    def ended(self, group: int) -> None:
        """It has ended by itself."""
        os.write(self._pipe, _ENDED + group.to_bytes(4, "little"))

    def close(self) -> None:
        """All is well; the watchdog goes home."""
        os.write(self._pipe, _GONE + bytes(4))
        os.close(self._pipe)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def _wait(pipe: int) -> None:
    """The watchdog's whole life; it never returns into the program that it was copied from."""
    groups: set[int] = set()
    try:
        os.setsid()
        for number in range(3):
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_RDWR), number)
        while (message := os.read(pipe, 5)) and message[:1] != _GONE:
            group = int.from_bytes(message[1:], "little")
            groups = groups | {group} if message[:1] == _STARTED else groups - {group}
        if not message:
            for group in groups:
                with suppress(OSError):
                    os.killpg(group, signal.SIGKILL)
    finally:
        os._exit(0)
