"""Which files a process has open, and no others: a caller's would stay open for as long as we live."""

import os

_MOST = 65_536


def lay_out(wanted: list[int | None]) -> None:
    """Have exactly these descriptors, numbered from 0; nothing stands for a file that is empty and takes everything."""
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for number, descriptor in enumerate(wanted):
        os.dup2(nothing if descriptor is None else descriptor, number)
    _close_from(len(wanted))


def _close_from(first: int) -> None:
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]  # noqa: PTH208
    except OSError:
        os.closerange(first, _MOST)
        return
    for number in numbers:
        if number >= first:
            os.closerange(number, number + 1)  # the one with which the list was read is closed already
