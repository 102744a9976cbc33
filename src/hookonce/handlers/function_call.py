"""One call of a function that has its file loaded already: the event goes to a copy, and an answer comes back."""

import os
from collections.abc import Callable
from time import monotonic

from msgspec.structs import replace

from hookonce.handlers.errand import Ran
from hookonce.handlers.function_wire import SIZE, size_of
from hookonce.handlers.process import LIMIT
from hookonce.runtime.loop import READ, WRITE, Loop

_CHUNK = 1 << 16


class Asking:
    """The call: it waits for a copy, then for its answer, and in any case not longer than it may."""

    def __init__(self, loop: Loop, told: bytes, timeout: float, done: Callable[[Ran], object]) -> None:
        """It has begun to wait; `given_up` is who wants to know when that was in vain."""
        self._loop, self._done = loop, done
        self._left, self._said = memoryview(told), bytearray()
        self._began, self._line = monotonic(), -1
        self._timer = loop.at(self._began + timeout, self.end)
        self.given_up: Callable[[Asking], object] = lambda _: None
        self.number: int | None = None
        self.is_over = False

    def begin(self, line: int, number: int) -> None:
        """There is a copy, at the other end of this line."""
        self._line, self.number = line, number
        os.set_blocking(line, False)
        self._loop.watch(line, WRITE, self._feed)
        self._feed(0)

    def end(self) -> None:
        """Its time is over, or nobody waits for it any more."""
        if not self.is_over:
            self._over(Ran(failure="timeout"))
            self.given_up(self)

    def ended(self, code: int, notes: bytes) -> None:
        """The copy has ended: what it has said lies in the line, or it has failed."""
        while self._hear(0):
            continue
        if code < 0:
            self.fail(Ran(failure=f"ended by signal {-code}", stderr=notes))
        else:
            self.fail(Ran(code=code, stderr=notes))

    def fail(self, ran: Ran) -> None:
        """It has ended without an answer, if it has not ended before."""
        if not self.is_over:
            self._over(ran)

    def _feed(self, _: int) -> None:
        try:
            while self._left:
                self._left = self._left[os.write(self._line, self._left[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:  # it has ended, and whoever has started it will tell how
            self._left = memoryview(b"")
        self._loop.forget(self._line)
        self._loop.watch(self._line, READ, self._hear)

    def _hear(self, _: int) -> bool:
        """Take what there is; whether there may be more."""
        if self.is_over:
            return False
        try:
            chunk = os.read(self._line, _CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        if not chunk:
            self._loop.forget(self._line)
            return False
        self._said += chunk
        if (size := size_of(self._said)) is not None and len(self._said) >= SIZE + size:
            answer = bytes(self._said[SIZE : SIZE + min(size, LIMIT)])
            self._over(Ran(code=0, stdout=answer, cut=size > LIMIT))
        return not self.is_over

    def _over(self, ran: Ran) -> None:
        self.is_over = True
        self._timer.cancel()
        if self._line >= 0:
            self._loop.forget(self._line)
            os.close(self._line)
            self._line = -1
        self._done(replace(ran, duration=monotonic() - self._began))
