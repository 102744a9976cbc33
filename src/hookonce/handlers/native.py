"""The watchdog of our native client: it does what the one in Python does, and starts in a fraction of the time."""

import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from hookonce.handlers import limits

_BINARY_MAGICS = (
    b"\x7fELF",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
)  # what the systems that we know can run by themselves


@cache
def find_native_watchdog() -> str | None:
    """Path of the native client for this machine, if it was built."""
    file = Path(__file__).parents[1] / "client" / "hookonce-on"
    try:
        with file.open("rb") as content:
            is_native = content.read(4) in _BINARY_MAGICS
    except OSError:
        return None
    return str(file) if is_native and os.access(file, os.X_OK) else None


def native_watchdog(arguments: list[str], env: Mapping[str, str], pipes: list[int]) -> Callable[[int, int], int]:
    """A native watchdog: umask, directory and command of the hook, its environment and its descriptors."""

    def begin(hangup_fd: int, status_fd: int) -> int:
        for fd in (hangup_fd, status_fd):
            os.set_inheritable(fd, True)  # noqa: FBT003  the system's own order of words
        file_actions = [(os.POSIX_SPAWN_DUP2, pipe, number) for number, pipe in enumerate(pipes)]
        argv = [str(find_native_watchdog()), "--watch", str(hangup_fd), str(status_fd), *arguments]
        with limits.lowered_fd_limit():
            return os.posix_spawn(argv[0], argv, env, file_actions=file_actions)

    return begin
