"""Launching of processes by the Python client: daemon start under a lock, process slots, descriptors.

One caller starts the daemon for all, and after a failed start nobody tries again for 30 seconds. Slots keep a
crowd of calls from running more interpreters at once than the machine can (ADR 0021).
"""

import os

_MAX_DESCRIPTORS = 65_536


def set_descriptors(descriptors: list[int | None]) -> None:
    """Have exactly these open descriptors, numbered from 0; None stands for /dev/null."""
    devnull = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for fd, descriptor in enumerate(descriptors):
        os.dup2(devnull if descriptor is None else descriptor, fd)
    _close_from(len(descriptors))


def _close_from(first: int) -> None:
    try:
        fds = [int(name) for name in os.listdir("/proc/self/fd")]  # noqa: PTH208
    except OSError:
        os.closerange(first, _MAX_DESCRIPTORS)
        return
    for fd in fds:
        if fd >= first:
            os.closerange(fd, fd + 1)  # the one with which the list was read is closed already
