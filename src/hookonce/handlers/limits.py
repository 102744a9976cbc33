"""How many descriptors we may have: a process with many hooks under way needs more than what hooks should get."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

_FEW = 256  # descriptors
_before: list[tuple[int, int]] = []


def is_starved() -> bool:
    """Whether we may use less of the machine than a process that lives on and works for others needs."""
    strict = (resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_DATA)
    if any(resource.getrlimit(one)[0] != resource.RLIM_INFINITY for one in strict):
        return True
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return most != resource.RLIM_INFINITY and most < _FEW


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
