"""Fewer privileges for hooks: they gain none by what they execute, and those of root keep none that root has.

Linux can do that. What a system cannot take away is told beforehand; what fails all the same is a hook that does not
start, for whoever has asked for this would rather have no hook than one with all privileges.
"""

import ctypes
import os
from pathlib import Path
from sys import platform

_CAN_READ, _DROP, _NO_NEW, _AMBIENT, _CLEAR = 23, 24, 38, 47, 4  # prctl
_SETPCAP = 1 << 8  # the capability without which the bounding set stays as it is
_VERSION = 0x20080522  # of the numbers that capset takes: three sets of two words each
_ROOT = 0


def lacking() -> str | None:
    """What of its privileges a hook would keep here, and why."""
    if platform != "linux":
        return f"all of them: {platform} has no way to take them away"
    if os.geteuid() == _ROOT and not _capabilities() & _SETPCAP and _is_bound():
        return "root's capabilities: this process may not drop any"
    return None


def reduce() -> None:
    """Give up what this process would pass on to the programs that it executes from now on, as far as it can."""
    if platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == _ROOT and _capabilities() & _SETPCAP:
        _drop(libc)
    _prctl(libc, _NO_NEW, 1)


def _drop(libc: ctypes.CDLL) -> None:
    """Empty the sets that pass on capabilities; our own stay, and end with the next program."""
    number = 0
    while (held := libc.prctl(_CAN_READ, number, 0, 0, 0)) >= 0:
        if held:
            _prctl(libc, _DROP, number)
        number += 1
    _prctl(libc, _AMBIENT, _CLEAR)
    header = (ctypes.c_uint32 * 2)(_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()
    _must(libc.capget(header, sets))
    sets[2] = sets[5] = 0  # effective, permitted, inheritable; once for the lower and once for the upper numbers
    _must(libc.capset(header, sets))


def _prctl(libc: ctypes.CDLL, what: int, value: int) -> None:
    _must(libc.prctl(what, value, 0, 0, 0))


def _must(failed: int) -> None:
    if failed:
        raise OSError(ctypes.get_errno(), "privileges cannot be reduced")


def _capabilities(name: str = "CapEff") -> int:
    """One of our own sets, as the system shows it."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1], 16) for line in lines if line.startswith(f"{name}:")), 0)


def _is_bound() -> bool:
    """Whether root's programs get any capability at all."""
    return _capabilities("CapBnd") != 0
