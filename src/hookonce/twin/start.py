"""The daemon's start where there is none: one for all who call, and not again and again."""

import os
import time
from _socket import socket
from fcntl import LOCK_EX, LOCK_NB, flock

from hookonce.twin.call import ClientCall
from hookonce.twin.clock import now_ns
from hookonce.twin.descriptors import set_descriptors
from hookonce.twin.line import POLL_INTERVAL_S, NoDaemonError, connect_daemon

_START_TIMEOUT_NS = 500_000_000  # nanoseconds in which one that was just started has to be there
_RETRY_AFTER_S = 30  # seconds for which a failed start is not tried again
_LOCK_FILE, _FAILURE_FILE = "daemon.lock", "daemon.failed"


def start_daemon(call: ClientCall) -> socket | None:
    """Start a daemon and connect, or wait for one that somebody else starts; None if none is to be asked."""
    if _has_recent_failure(call):
        return None
    lock = call.open_runtime_file(_LOCK_FILE)
    try:
        is_starter = try_lock(lock)
        if is_starter:
            try:
                return connect_daemon(call)  # somebody may just have been faster
            except NoDaemonError:
                _fork_daemon(call, lock)
    finally:
        os.close(lock)
    connection = _await_daemon(call)
    if connection is None and is_starter:
        _mark_failed(call)
    return connection


def try_lock(lock: int) -> bool:
    """Take a file lock without waiting; whether it is ours now."""
    try:
        flock(lock, LOCK_EX | LOCK_NB)
    except OSError:
        return False
    return True


def _has_recent_failure(call: ClientCall) -> bool:
    try:
        age = time.time() - os.lstat(f"{call.runtime_dir}/{_FAILURE_FILE}").st_mtime
    except OSError:
        return False
    return abs(age) < _RETRY_AFTER_S  # a clock that was set back is no reason never to try again


def _await_daemon(call: ClientCall) -> socket | None:
    deadline_ns = now_ns() + _START_TIMEOUT_NS
    while now_ns() < deadline_ns:
        try:
            return connect_daemon(call)
        except NoDaemonError:
            call.exit_if_orphan()
            time.sleep(POLL_INTERVAL_S)
    return None


def _mark_failed(call: ClientCall) -> None:
    """Note a failed start if the daemon that we started is dead; one that lives holds the lock."""
    lock = call.open_runtime_file(_LOCK_FILE)
    if try_lock(lock):
        stamp = call.open_runtime_file(_FAILURE_FILE, os.O_TRUNC)
        os.utime(stamp)
        os.close(stamp)
    os.close(lock)


def _fork_daemon(call: ClientCall, lock: int) -> None:
    """Double fork: the daemon is nobody's child and holds the lock for as long as it lives."""
    child_pid = os.fork()
    if child_pid:
        os.waitpid(child_pid, 0)
        return
    try:
        os.setsid()
        if not os.fork():
            _exec_daemon(call, lock)
    finally:
        os._exit(0)


def _exec_daemon(call: ClientCall, lock: int) -> None:
    from signal import SIG_SETMASK, pthread_sigmask

    language = call.get_variable(b"LANG")
    environment = {
        b"HOME": call.home,
        b"PATH": b"/usr/local/bin:/usr/bin:/bin",
        b"LANG": b"C.UTF-8" if language is None else language,
    }
    pthread_sigmask(SIG_SETMASK, ())  # it outlives whoever called us, and with that their reasons
    os.chdir("/")
    set_descriptors([None, None, None, lock])
    argv = [call.python, "-I", "-S", f"{call.package_root}/hookonce/warm.py", call.folder]
    os.execve(call.python, argv, environment)  # noqa: S606  the interpreter that runs us
