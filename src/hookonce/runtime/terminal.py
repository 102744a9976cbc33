"""Whether somebody sits there: a controlling terminal that can be opened."""

import os

from hookonce.runtime.depth import read_proc_stat


def has_terminal(caller_pid: int = 0) -> bool:
    """Whether a process, by default our own, has a controlling terminal that can be opened.

    An agent without one runs alone, and a question to it would be a question to nobody.
    """
    if caller_pid:
        fields = read_proc_stat(caller_pid)
        return fields is not None and fields[4] != "0"  # the number of its terminal
    try:
        fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    os.close(fd)
    return True
