"""Whether somebody sits there: a controlling terminal that can be opened."""

import os

from hookonce.runtime.depth import stat_of


def is_there(caller: int = 0) -> bool:
    """Whether a process has one, by default our own.

    An agent without one runs alone, and a question to it would be a question to nobody.
    """
    if caller:
        known = stat_of(caller)
        return known is not None and known[4] != "0"  # the number of its terminal
    try:
        handle = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    os.close(handle)
    return True
