"""A daemon's beginning and end: one at a time, which is whoever holds the lock."""

import gc
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from hookonce.runtime import asking, folder
from hookonce.runtime.loop import READ, Loop

GIVEN = 3  # the descriptor of the lock that whoever starts us hands over
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST = 100  # bytes of an address that every system takes; clients look at no longer one
_held: list[int] = []


def socket_file() -> Path:
    """Where the daemon of this home listens."""
    return asking.place()


def lock_file() -> Path:
    """What only one can hold."""
    return folder.folder() / "daemon.lock"


def failed_file() -> Path:
    """The mark of a start that failed, for those who would try again at once."""
    return folder.folder() / "daemon.failed"


def lock() -> bool:
    """Whether the lock is ours now: handed over, or free."""
    handle = GIVEN if _is_lock(GIVEN) else os.open(lock_file(), _FLAGS, 0o600)
    try:
        flock(handle, LOCK_EX | LOCK_NB)
    except OSError:
        os.close(handle)
        return False
    os.set_inheritable(handle, False)  # noqa: FBT003  the system's own order of words
    _held.append(handle)
    return True


def unlock() -> None:
    """Let somebody else be the daemon."""
    while _held:
        os.close(_held.pop())


def _is_lock(handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), lock_file().lstat())
    except OSError:
        return False


def serve() -> int:
    """Be the daemon, unless there is one; the exit code."""
    from hookonce.store import log

    if (reason := _obstacle()) is not None:
        failed_file().touch(mode=0o600)
        log.write(f"daemon: {reason}")
        return 0
    if not lock():
        return 0
    try:
        _live()
    except BaseException as problem:  # noqa: BLE001  nobody sees it but our log
        log.write(f"daemon: {log.trace(problem)}")
        with suppress(OSError):
            failed_file().touch(mode=0o600)
        return 70
    return 0


def _obstacle() -> str | None:
    """Why there should be no daemon, or not this one."""
    from hookonce.handlers import limits

    if limits.is_starved():
        return "whoever called has limits that not everybody should have; the next one may start it"
    if len(bytes(socket_file())) > _LONGEST:
        return f"{socket_file()} is too long for a socket; agents are answered without a daemon, more slowly"
    return None


def _live() -> None:
    from hookonce.handlers import limits
    from hookonce.journeys import client, on
    from hookonce.service.daemon import Daemon

    client.refresh()
    on.refresh()
    limits.widen()
    daemon = Daemon(socket_file())
    failed_file().unlink(missing_ok=True)
    _on_signal(daemon.leave, daemon.loop)
    gc.collect()
    gc.disable()  # the daemon does it when nobody waits
    gc.freeze()  # what is there now stays; nobody looks through it again, and processes that we copy share it
    daemon.run()


def _on_signal(leave: Callable[[], object], loop: Loop) -> None:
    """A polite signal ends us when what is under way is done."""
    ear, mouth = os.pipe()
    os.set_blocking(mouth, False)
    signal.set_wakeup_fd(mouth)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)

    def told(_: int) -> None:
        os.read(ear, 64)
        leave()

    loop.watch(ear, READ, told)
