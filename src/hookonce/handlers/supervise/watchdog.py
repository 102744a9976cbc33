"""Watchdog process between us and a hook: spawns it, and kills everything that it started.

When we close the hangup pipe or are killed, everything below the watchdog is killed. Processes that leave their
group, session or parent come to it as orphans (child subreaper), where the system can do that. It has a session
of its own, because agents kill whole process groups. The native client has another, which starts faster.
"""

import os
import signal
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from ctypes import CDLL
from functools import cache
from pathlib import Path
from select import select
from subprocess import Popen
from sys import platform

from hookonce.base.spawn import close_fds, fork_child, kill_group
from hookonce.handlers.supervise import limits

_PR_SET_CHILD_SUBREAPER = 36  # prctl: orphans below a process come to it
_POLL_INTERVAL_S = 0.01  # seconds between two looks at a process that cannot be waited for
_zombie_pids: list[int] = []  # watchdogs that had not ended when they were asked no more


class Watchdog:
    """The watchdog process and two pipes: it reports the hook's exit on one, the other is the hangup pipe."""

    def __init__(self, start: Callable[[int, int], int]) -> None:
        """Start it with a function that gets the child's ends of the pipes and returns the pid."""
        child_hangup_fd, hangup_fd = os.pipe()
        self._hangup_fd: int | None = hangup_fd
        try:
            self.status_fd, child_status_fd = os.pipe()
        except OSError:
            close_fds(child_hangup_fd, hangup_fd)
            raise
        try:
            self._pid = start(child_hangup_fd, child_status_fd)
        except (OSError, ValueError):
            close_fds(hangup_fd, self.status_fd)
            raise
        finally:
            close_fds(child_hangup_fd, child_status_fd)

    def kill(self) -> None:
        """Kill everything that still runs, by closing the hangup pipe."""
        if self._hangup_fd is not None:
            os.close(self._hangup_fd)
            self._hangup_fd = None

    def close(self, *, has_ended: bool) -> None:
        """Close the pipes; a watchdog that has not ended is reaped later."""
        self.kill()
        os.close(self.status_fd)
        if has_ended:
            os.waitpid(self._pid, 0)
        else:
            _zombie_pids.append(self._pid)


def reap() -> None:
    """Reap watchdogs that have ended since; a long-lived process would collect zombies."""
    _zombie_pids[:] = [pid for pid in _zombie_pids if not _has_ended(pid)]


def _has_ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:  # it is not ours: we are a copy of the one who started it
        return True


def forked_watchdog(start: Callable[[], "Popen[bytes]"], keep_fds: Collection[int]) -> Callable[[int, int], int]:
    """A watchdog that is forked from this process, keeps only these descriptors, and starts the hook."""
    return lambda *fds: fork_child(lambda: _run_watchdog(start, *fds), {*keep_fds, *fds})


def _run_watchdog(start: Callable[[], "Popen[bytes]"], hangup_fd: int, status_fd: int) -> None:
    """Run the hook, and report its exit code, a negative signal number, or why it never started."""
    limits.restore_fd_limit()
    adopt_orphans()
    try:
        process = start()
    except (OSError, ValueError) as problem:
        status = f"not started: {problem}"
    else:
        _wait_for_exit(process, hangup_fd)
        _kill_all(process)
        status = str(process.returncode)
    os.write(status_fd, status.encode(errors="replace")[:1024])


def _wait_for_exit(process: "Popen[bytes]", hangup_fd: int) -> None:
    """Wait for its exit or our hangup; its pid stays reserved until its group was killed."""
    try:
        select([hangup_fd, os.pidfd_open(process.pid)], [], [])
    except (OSError, AttributeError):  # an older system without pidfd: poll
        while process.poll() is None and not select([hangup_fd], [], [], _POLL_INTERVAL_S)[0]:
            continue


def _kill_all(process: "Popen[bytes]") -> None:
    kill_group(process)
    while pids := child_pids():
        for pid in pids:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            with suppress(OSError):
                os.waitpid(pid, 0)


def child_pids() -> list[int]:
    """Pids of our direct children; their own children come to us when they die."""
    try:
        text = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(word) for word in text.split()]


def adopt_orphans(*, enable: bool = True) -> None:
    """Become a child subreaper, where the system can do that, or stop being one."""
    if platform == "linux":
        with suppress(OSError, AttributeError):
            CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(enable), 0, 0, 0)


_BINARY_MAGICS = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")  # of Linux and macOS


@cache
def find_native_watchdog() -> str | None:
    """Path of the native client for this machine, if it was built."""
    file = Path(__file__).parents[2] / "client" / "native" / "hookonce-on"
    try:
        with file.open("rb") as content:
            is_native = content.read(4) in _BINARY_MAGICS
    except OSError:
        return None
    return str(file) if is_native and os.access(file, os.X_OK) else None


def native_watchdog(arguments: list[str], env: Mapping[str, str], pipes: list[int]) -> Callable[[int, int], int]:
    """A native watchdog: umask, directory and command of the hook, its environment and its descriptors."""

    def begin(hangup_fd: int, status_fd: int) -> int:
        for fd in (hangup_fd, status_fd):
            os.set_inheritable(fd, True)  # noqa: FBT003  the system's own order of words
        file_actions = [(os.POSIX_SPAWN_DUP2, pipe, number) for number, pipe in enumerate(pipes)]
        argv = [str(find_native_watchdog()), "--watch", str(hangup_fd), str(status_fd), *arguments]
        with limits.lowered_fd_limit():
            return os.posix_spawn(argv[0], argv, env, file_actions=file_actions)

    return begin
