"""The process between us and a hook: it starts the hook, and leaves nothing running that the hook has started.

Whatever becomes of us, it sees it: when we let go of the leash or are killed, everything below it is killed. What
leaves its group, its session or its parent comes to it as an orphan, where the system can do that. It has a session
of its own, because agents kill whole process groups.
"""

import os
import signal
from collections.abc import Callable, Collection
from contextlib import suppress
from ctypes import CDLL
from pathlib import Path
from select import select
from subprocess import Popen
from sys import platform
from typing import NoReturn
from warnings import catch_warnings, simplefilter

from hookonce.handlers import limits

_SUBREAPER = 36  # prctl: orphans below a process come to it
_HIGHEST = 1 << 16  # descriptors beyond this are nobody's
_POLL = 0.01  # seconds between two looks at a process that cannot be waited for
_unended: list[int] = []  # watchdogs that had not ended when they were asked no more


def fork() -> int:
    """Copy this process. Newer Pythons warn if it has threads; what the copies here do needs none of their locks."""
    with catch_warnings():
        simplefilter("ignore", DeprecationWarning)
        return os.fork()


class Watchdog:
    """The process, and the two pipes to it: on one it tells us the hook's ending, the other is the leash."""

    def __init__(self, begin: Callable[[int, int], int]) -> None:
        """Let a function begin it, which is told its ends of the pipes and tells its number."""
        leash, held = os.pipe()
        self._leash: int | None = held
        try:
            self.news, news = os.pipe()
        except OSError:
            os.close(leash)
            os.close(held)
            raise
        try:
            self._pid = begin(leash, news)
        except (OSError, ValueError):
            os.close(held)
            os.close(self.news)
            raise
        finally:
            os.close(leash)
            os.close(news)

    def let_go(self) -> None:
        """Have everything killed that still runs."""
        if self._leash is not None:
            os.close(self._leash)
            self._leash = None

    def close(self, *, ended: bool) -> None:
        """Ask it no more; what not even a kill has ended is left to it."""
        self.let_go()
        os.close(self.news)
        if ended:
            os.waitpid(self._pid, 0)
        else:
            _unended.append(self._pid)


def reap() -> None:
    """Take away those watchdogs that have ended since; who lives long would else be followed by all of them."""
    _unended[:] = [pid for pid in _unended if not _has_ended(pid)]


def _has_ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:  # it is not ours: we are a copy of the one who started it
        return True


def copied(start: Callable[[], "Popen[bytes]"], needs: Collection[int]) -> Callable[[int, int], int]:
    """A watchdog that is copied from us: it starts the hook, and keeps only those of our descriptors that it needs."""

    def begin(leash: int, news: int) -> int:
        pid = fork()
        if pid == 0:
            _live(start, leash, news, {*needs, leash, news})
        return pid

    return begin


def _live(start: Callable[[], "Popen[bytes]"], leash: int, news: int, needs: set[int]) -> NoReturn:
    """The watchdog's whole life; it never returns into the program that it was copied from."""
    try:
        os.setsid()
        leave_alone(needs)
        limits.narrow()
        adopt_orphans()
        os.write(news, _ending(start, leash).encode(errors="replace")[:1024])
    finally:
        os._exit(0)


def _ending(start: Callable[[], "Popen[bytes]"], leash: int) -> str:
    """How it ended, once nothing of it is left: the exit code, a signal's number below zero, or why it never began."""
    try:
        process = start()
    except (OSError, ValueError) as problem:
        return f"not started: {problem}"
    _watch(process, leash)
    _end_all(process)
    return str(process.returncode)


def leave_alone(needs: Collection[int] = ()) -> None:
    """Let go of every descriptor that a copied process does not need: an agent waits until its pipes are closed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in {0, 1, 2} - {*needs}:
        os.dup2(nothing, number)
    kept = sorted({0, 1, 2, *needs})
    for one, next_one in zip(kept, [*kept[1:], _HIGHEST], strict=True):
        os.closerange(one + 1, next_one)


def _watch(process: "Popen[bytes]", leash: int) -> None:
    """Wait until it has ended, or we are to end it; its number stays its own until its group was killed."""
    try:
        select([leash, os.pidfd_open(process.pid)], [], [])
    except (OSError, AttributeError):  # an older system, where somebody has to look
        while process.poll() is None and not select([leash], [], [], _POLL)[0]:
            continue


def _end_all(process: "Popen[bytes]") -> None:
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    while found := children():
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in found:
            with suppress(OSError):
                os.waitpid(pid, 0)


def children() -> list[int]:
    """Who is directly below us; their own children come to us when they die."""
    try:
        text = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(word) for word in text.split()]


def adopt_orphans(*, wanted: bool = True) -> None:
    """Let what loses its parent below us come to us, where the system can do that, or no more."""
    if platform == "linux":
        with suppress(OSError, AttributeError):
            CDLL(None).prctl(_SUBREAPER, int(wanted), 0, 0, 0)
