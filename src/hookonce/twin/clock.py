"""The clock that the daemon's deadlines are on: it goes on while the machine sleeps."""

import time

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now() -> int:
    """Nanoseconds since the machine was started."""
    return time.clock_gettime_ns(_CLOCK)
