"""The daemon's start where there is none: one for all who call, and not again and again."""

import os
import time
from _socket import socket
from fcntl import LOCK_EX, LOCK_NB, flock

from hookonce.twin.call import Call
from hookonce.twin.clock import now
from hookonce.twin.descriptors import lay_out
from hookonce.twin.line import LOOK, Nobody, dial

_PATIENCE = 500_000_000  # nanoseconds in which one that was just started has to be there
_FAILED = 30  # seconds for which a failed start is not tried again
_LOCK, _STAMP = "daemon.lock", "daemon.failed"


def start(call: Call) -> socket | None:
    """Start a daemon, or wait for one that somebody else starts; None if nobody is to be asked."""
    if _has_just_failed(call):
        return None
    lock = call.in_house(_LOCK)
    try:
        has_won = is_free(lock)
        if has_won:
            try:
                return dial(call)  # somebody may just have been faster
            except Nobody:
                _start(call, lock)
    finally:
        os.close(lock)
    line = _await(call)
    if line is None and has_won:
        _mark_failed(call)
    return line


def is_free(lock: int) -> bool:
    """Whether nobody else has a lock, which is then ours."""
    try:
        flock(lock, LOCK_EX | LOCK_NB)
    except OSError:
        return False
    return True


def _has_just_failed(call: Call) -> bool:
    try:
        age = time.time() - os.lstat(f"{call.house}/{_STAMP}").st_mtime
    except OSError:
        return False
    return abs(age) < _FAILED  # a clock that was set back is no reason never to try again


def _await(call: Call) -> socket | None:
    until = now() + _PATIENCE
    while now() < until:
        try:
            return dial(call)
        except Nobody:
            call.look()
            time.sleep(LOOK)
    return None


def _mark_failed(call: Call) -> None:
    """Leave a stamp if whom we have started is dead; one that lives holds the lock."""
    lock = call.in_house(_LOCK)
    if is_free(lock):
        stamp = call.in_house(_STAMP, os.O_TRUNC)
        os.utime(stamp)
        os.close(stamp)
    os.close(lock)


def _start(call: Call, lock: int) -> None:
    """It keeps the lock for as long as it lives, and is nobody's child."""
    between = os.fork()
    if between:
        os.waitpid(between, 0)
        return
    try:
        os.setsid()
        if not os.fork():
            _become_daemon(call, lock)
    finally:
        os._exit(0)


def _become_daemon(call: Call, lock: int) -> None:
    from signal import SIG_SETMASK, pthread_sigmask

    language = call.variable(b"LANG")
    world = {
        b"HOME": call.home,
        b"PATH": b"/usr/local/bin:/usr/bin:/bin",
        b"LANG": b"C.UTF-8" if language is None else language,
    }
    pthread_sigmask(SIG_SETMASK, ())  # it outlives whoever called us, and with that their reasons
    os.chdir("/")
    lay_out([None, None, None, lock])
    words = [call.python, "-I", "-S", f"{call.shelf}/hookonce/warm.py", call.folder]
    os.execve(call.python, words, world)  # noqa: S606  the interpreter that runs us
