"""The call of the Python client: arguments, caller, environment, home, runtime directory, and the clock.

The clock is the one of the daemon's deadlines, which runs on while the machine sleeps. Home and runtime directory
are found here once more, as in the native client, because `base` takes too long to import.
"""

import time

NS_PER_SECOND = 1_000_000_000
NS_PER_MILLISECOND = 1_000_000
_CLOCK_ID = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now_ns() -> int:
    """Nanoseconds since the machine was started."""
    return time.clock_gettime_ns(_CLOCK_ID)
