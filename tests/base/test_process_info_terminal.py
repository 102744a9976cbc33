"""Whether somebody sits there."""

import os
import pty

from hookonce.base import process_info


def found_by(fork):
    """What a process finds that was started like this."""
    pid, *rest = fork()
    if pid == 0:
        os._exit(process_info.has_terminal())
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    for handle in rest:
        os.close(handle)
    return bool(code)


def alone():
    """A process without a terminal, as a server starts one."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
    return (pid,)


def test_a_terminal_is_there_when_it_can_be_opened():
    """
    Whatever stdin and stdout are.
    """
    assert found_by(pty.fork)
    assert not found_by(alone)
