"""A module ends with us, even if we are killed: a shell waits for the end of a pipe that only we hold."""

import os
from contextlib import suppress
from subprocess import DEVNULL, Popen

_SHELL = "/bin/sh"
_WAIT = 'read -r group && { read -r _; kill -9 "-$group"; }'


class Leash:
    """The shell, which ends a group of processes when we let go without a word."""

    def __init__(self) -> None:
        """Start the shell; where there is none, nobody watches."""
        self._held = -1
        self._shell: Popen[bytes] | None = None
        with suppress(OSError):
            ear, self._held = os.pipe()
            try:
                self._shell = _started(ear)
            finally:
                os.close(ear)

    def hold(self, group: int) -> None:
        """Have this group ended with us."""
        with suppress(OSError):
            os.write(self._held, f"{group}\n".encode())

    def drop(self) -> None:
        """Nobody is to be ended any more; call this while the group's number is still its own."""
        shell, self._shell = self._shell, None
        if shell is not None:
            shell.kill()
            shell.wait()
        held, self._held = self._held, -1
        if held >= 0:
            os.close(held)


def _started(ear: int) -> "Popen[bytes]":
    words = [_SHELL, "-c", _WAIT]
    return Popen(words, stdin=ear, stdout=DEVNULL, stderr=DEVNULL, env={}, start_new_session=True)  # noqa: S603  ours
