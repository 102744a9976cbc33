"""Whether somebody sits there: a controlling terminal that can be opened."""

import os


def is_there() -> bool:
    """An agent without one runs alone, and a question to it would be a question to nobody."""
    try:
        handle = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    os.close(handle)
    return True
