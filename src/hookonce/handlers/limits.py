"""How many descriptors we may have: a process with many hooks under way needs more than what hooks should get."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

_before: list[tuple[int, int]] = []


def widen() -> None:
    """As many as the system lets us have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    _before.append((soft, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@contextmanager
def narrowed() -> Iterator[None]:
    """While something is started: what it may have is decided by what we have then."""
    if not _before:
        yield
        return
    wide = resource.getrlimit(resource.RLIMIT_NOFILE)
    narrow()
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, wide)


def narrow() -> None:
    """As many as we were started with: this is what a hook may expect."""
    if _before:
        resource.setrlimit(resource.RLIMIT_NOFILE, _before[0])
