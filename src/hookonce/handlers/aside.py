"""Work that blocks, done beside us by a copy of this process: names to be looked up, servers that may never answer.

Nobody else waits for it meanwhile. The copy ends when its time is over, when it is not wanted any more, and when we are
gone; it starts nothing, so nothing is left of it.
"""

import os
import signal
from collections.abc import Callable
from threading import Thread
from time import monotonic

from hookonce.handlers.watchdog import Watchdog, fork, leave_alone
from hookonce.runtime.loop import READ, Loop

_CHUNK = 1 << 16
_MARGIN = 1.0  # seconds after which it ends by itself, if nobody has told it to
_LEAST = 0.001  # seconds: a timer of nothing would never ring


class Aside:
    """The copy: whoever has begun it is told what it says, or None where it says nothing in time."""

    def __init__(
        self, loop: Loop, work: Callable[[], bytes], timeout: float, done: Callable[[bytes | None], object]
    ) -> None:
        """Begin it; an OSError if there is no room for another process."""
        self._loop, self._done, self._said = loop, done, bytearray()
        self._copy: Watchdog | None = Watchdog(lambda leash, news: _begin(work, leash, news, timeout))
        os.set_blocking(self._copy.news, False)
        loop.watch(self._copy.news, READ, self._hear)
        self._timer = loop.at(monotonic() + timeout, self.end)

    def end(self) -> None:
        """Hear no more of it."""
        self._over(None)

    def _hear(self, _: int) -> None:
        if self._copy is None:
            return
        try:
            chunk = os.read(self._copy.news, _CHUNK)
        except BlockingIOError:
            return
        self._said += chunk
        if not chunk:
            self._over(bytes(self._said))

    def _over(self, said: bytes | None) -> None:
        if self._copy is None:
            return
        self._timer.cancel()
        self._loop.forget(self._copy.news)
        self._copy.close(ended=said is not None)
        self._copy = None
        self._done(said)


def _begin(work: Callable[[], bytes], leash: int, news: int, timeout: float) -> int:
    pid = fork()
    if pid == 0:
        _live(work, leash, news, timeout)
    return pid


def _live(work: Callable[[], bytes], leash: int, news: int, timeout: float) -> None:
    """The whole life of the copy; it never returns into the program that it was copied from."""
    try:
        os.setsid()
        leave_alone({leash, news})
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, max(timeout + _MARGIN, _LEAST))
        Thread(target=_heed, args=(leash,), daemon=True).start()
        said = work()
        while said:
            said = said[os.write(news, said) :]
    finally:
        os._exit(0)


def _heed(leash: int) -> None:
    """Be gone as soon as nobody holds the other end."""
    try:
        os.read(leash, 1)
    finally:
        os._exit(0)
