"""Parent-death guard: a shell that kills a module's process group when our end of a pipe closes.

So a module ends with us even if we are killed with SIGKILL.
"""

import os
from contextlib import suppress
from subprocess import DEVNULL, Popen

from hookonce.base.spawn import close_fds, spawn

_SHELL = "/bin/sh"
_WATCH_SCRIPT = 'read -r group && { read -r _; kill -9 "-$group"; }'


class ParentGuard:
    """Shell that kills a process group when we exit without releasing it."""

    def __init__(self) -> None:
        """Start the shell; where there is none, nothing is guarded."""
        self._write_fd = -1
        self._shell: Popen[bytes] | None = None
        with suppress(OSError):
            read_fd, self._write_fd = os.pipe()
            self._shell = spawn([_SHELL, "-c", _WATCH_SCRIPT], (read_fd, DEVNULL, DEVNULL), env={})

    def guard_group(self, group: int) -> None:
        """Have this process group killed with us."""
        with suppress(OSError):
            os.write(self._write_fd, f"{group}\n".encode())

    def release(self) -> None:
        """Guard nothing any more; call this while the group's number is still its own."""
        shell, self._shell = self._shell, None
        if shell is not None:
            shell.kill()
            shell.wait()
        write_fd, self._write_fd = self._write_fd, -1
        close_fds(write_fd)
