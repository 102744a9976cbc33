"""Launching of processes by the Python client: daemon start under a lock, process slots, descriptors.

One caller starts the daemon for all, and after a failed start nobody tries again for 30 seconds. Slots keep a
crowd of calls from running more interpreters at once than the machine can (ADR 0021).
"""

import os
import time
from _socket import socket
from fcntl import LOCK_EX, LOCK_NB, flock

from hookonce.client.python.call import NS_PER_SECOND, ClientCall, now_ns
from hookonce.client.python.connection import POLL_INTERVAL_S, NoDaemonError, connect_daemon

# A large payload gets memory of its own, which goes back to the system: by default glibc learns from the first one to
# put them among small objects, where they leave holes.
DAEMON_VARIABLES = {b"PATH": b"/usr/local/bin:/usr/bin:/bin", b"MALLOC_MMAP_THRESHOLD_": b"131072"}
_MAX_DESCRIPTORS = 65_536


def set_descriptors(descriptors: list[int | None]) -> None:
    """Have exactly these open descriptors, numbered from 0; None stands for /dev/null."""
    devnull = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for fd, descriptor in enumerate(descriptors):
        os.dup2(devnull if descriptor is None else descriptor, fd)
    _close_from(len(descriptors))


def _close_from(first: int) -> None:
    try:
        fds = [int(name) for name in os.listdir("/proc/self/fd")]  # noqa: PTH208
    except OSError:
        os.closerange(first, _MAX_DESCRIPTORS)
        return
    for fd in fds:
        if fd >= first:
            os.closerange(fd, fd + 1)  # the one with which the list was read is closed already


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


def own_environment(call: ClientCall) -> dict[bytes, bytes]:
    """The environment of our own processes: the caller's would choose what they, and what they start, run."""
    language = call.get_variable(b"LANG")
    return DAEMON_VARIABLES | {b"HOME": call.home, b"LANG": b"C.UTF-8" if language is None else language}


def _exec_daemon(call: ClientCall, lock: int) -> None:
    from signal import SIG_SETMASK, pthread_sigmask

    pthread_sigmask(SIG_SETMASK, ())  # it outlives whoever called us, and with that their reasons
    os.chdir("/")
    set_descriptors([None, None, None, lock])
    argv = [call.python, "-I", "-S", f"{call.package_root}/hookonce/daemon/__main__.py", call.folder]
    os.execve(call.python, argv, own_environment(call))  # noqa: S606  the interpreter that runs us


_SLOT_TIMEOUT_NS = 4 * NS_PER_SECOND  # after that one process more is better than no answer


def acquire_slot(call: ClientCall) -> int | None:
    """Acquire the first free slot, waiting up to 4 seconds; None where there are none, or after that."""
    if not call.runtime_dir:
        return None
    deadline_ns = now_ns() + _SLOT_TIMEOUT_NS
    while True:
        slot, is_full = _try_slots(call)
        if slot is not None or not is_full or now_ns() >= deadline_ns:
            return slot
        call.exit_if_orphan()
        time.sleep(POLL_INTERVAL_S)


def _try_slots(call: ClientCall) -> tuple[int | None, bool]:
    """A slot, and whether all are taken; a directory in which nothing can be created has none."""
    is_full = False
    try:
        os.makedirs(f"{call.runtime_dir}/slots", 0o700, exist_ok=True)  # noqa: PTH103
        for number in range(2 * (os.cpu_count() or 1)):
            slot = call.open_runtime_file(f"slots/{number}")
            if try_lock(slot):
                return slot, False
            is_full = True
            os.close(slot)
    except OSError:
        return None, is_full
    return None, is_full
