"""Resource limits and privileges of child processes: descriptor limits, capabilities, no_new_privs.

The daemon raises its descriptor limit; hooks get the original one. Privileges can be dropped on Linux only: what a
system cannot take away is reported beforehand, and where dropping fails the hook does not start.
"""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

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
    if not _original_fd_limits:
        yield
        return
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
