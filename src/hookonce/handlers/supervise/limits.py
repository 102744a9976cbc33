"""Resource limits and privileges of child processes: descriptor limits, capabilities, no_new_privs.

The daemon raises its descriptor limit; hooks get the original one. Privileges can be dropped on Linux only: what a
system cannot take away is reported beforehand, and where dropping fails the hook does not start.
"""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sys import platform
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes

_MIN_FDS = 256  # descriptors
_original_fd_limits: list[tuple[int, int]] = []


def has_low_limits() -> bool:
    """Whether our limits are lower than a long-lived process needs."""
    kinds = (resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_DATA)
    if any(resource.getrlimit(kind)[0] != resource.RLIM_INFINITY for kind in kinds):
        return True
    hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return hard_limit != resource.RLIM_INFINITY and hard_limit < _MIN_FDS


def raise_fd_limit() -> None:
    """Raise the descriptor limit to the hard limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    _original_fd_limits.append((soft, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@contextmanager
def lowered_fd_limit() -> Iterator[None]:
    """Context manager: the original limit while a child is spawned."""
    raised_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    restore_fd_limit()
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, raised_limit)


def restore_fd_limit() -> None:
    """Restore the original descriptor limit, which hooks get."""
    if _original_fd_limits:
        resource.setrlimit(resource.RLIMIT_NOFILE, _original_fd_limits[0])


# Options of prctl.
_PR_CAPBSET_READ, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 23, 24, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_CAP_SETPCAP = 1 << 8  # the capability without which the bounding set stays as it is
_CAPABILITY_VERSION = 0x20080522  # of the numbers that capset takes: three sets of two words each
_ROOT_UID = 0


def describe_unremovable() -> str | None:
    """Describe the privileges that a hook would keep here, and why; None if none."""
    if platform != "linux":
        return f"all of them: {platform} has no way to take them away"
    if os.geteuid() == _ROOT_UID and not _capabilities() & _CAP_SETPCAP and _capabilities("CapBnd"):
        return "root's capabilities: this process may not drop any"
    return None


def drop_privileges() -> None:
    """Drop what this process would pass on to the programs that it executes, as far as it can."""
    if platform != "linux":
        return
    import ctypes  # few hooks have fewer privileges

    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == _ROOT_UID and _capabilities() & _CAP_SETPCAP:
        _drop_capabilities(libc)
    _prctl(libc, _PR_SET_NO_NEW_PRIVS, 1)


def _drop_capabilities(libc: "ctypes.CDLL") -> None:
    """Clear the sets that pass on capabilities; our own effective set ends with the next exec."""
    import ctypes

    number = 0
    while (is_set := libc.prctl(_PR_CAPBSET_READ, number, 0, 0, 0)) >= 0:
        if is_set:
            _prctl(libc, _PR_CAPBSET_DROP, number)
        number += 1
    _prctl(libc, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()
    _check_result(libc.capget(header, sets))
    sets[2] = sets[5] = 0  # effective, permitted, inheritable; once for the lower and once for the upper numbers
    _check_result(libc.capset(header, sets))


def _prctl(libc: "ctypes.CDLL", option: int, value: int) -> None:
    _check_result(libc.prctl(option, value, 0, 0, 0))


def _check_result(result: int) -> None:
    if result:
        import ctypes

        raise OSError(ctypes.get_errno(), "privileges cannot be reduced")


def _capabilities(name: str = "CapEff") -> int:
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1], 16) for line in lines if line.startswith(f"{name}:")), 0)
