"""A line to somebody: what is heard and said on it, how long we wait, and that its end is noticed."""

import socket
from collections.abc import Callable
from time import monotonic

from hookonce.runtime.loop import READ, WRITE, Loop, Timer

_CHUNK = 1 << 18
PATIENCE = 10.0  # seconds for somebody who neither says all there is to say nor listens


class Line:
    """One connection; `gone` is called when it is over. What is done with what is heard is for others to say."""

    def __init__(self, loop: Loop, end: socket.socket) -> None:
        """Nothing was heard yet."""
        self.socket, self.loop = end, loop
        self.gone: Callable[[], object] | None = None
        self._unsaid, self._mask, self._last = b"", 0, False
        self._timer: Timer | None = None
        self._rings = self._enough = 0.0  # when the timer rings, and when we have waited long enough; 0: never

    def heard(self, chunk: bytes) -> None:
        """Take what was said."""
        raise NotImplementedError

    def listen(self, mask: int = READ) -> None:
        """Take what is there, or wait until there is something."""
        if mask & WRITE:
            self._speak()
        if mask & ~WRITE and self.is_open:
            self._take()

    @property
    def is_open(self) -> bool:
        """Whether somebody is still there, as far as we know."""
        return self.socket.fileno() >= 0

    def _take(self) -> None:
        try:
            chunk = self.socket.recv(_CHUNK)
        except BlockingIOError:
            self.wait(READ)
            return
        except OSError:
            chunk = b""
        if chunk:
            self.heard(chunk)
        else:
            self.close()

    def say(self, data: bytes, *, last: bool = False) -> None:
        """Tell something; after the last word the conversation is over."""
        self._unsaid, self._last = self._unsaid + data, last
        self._speak()

    def _speak(self) -> None:
        try:
            said = self.socket.send(self._unsaid) if self._unsaid else 0
        except BlockingIOError:
            said = 0
        except OSError:
            self.close()
            return
        self._unsaid = self._unsaid[said:]
        if self._unsaid:
            self.wait(READ | WRITE)
        elif self._last:
            self.hang_up()
        else:
            self.rest()
            self.watch(READ)

    def hang_up(self) -> None:
        """All is said."""
        self.close()

    def wait(self, mask: int, seconds: float = PATIENCE) -> None:
        """Wait, but not for ever; who is waited for already gets no more time."""
        self.watch(mask)
        if not self._enough:
            self._enough = monotonic() + seconds
            self._set()

    def _set(self) -> None:
        """One timer does for many waits: who is kept for a thousand requests would else leave a thousand of them."""
        if self._timer is not None and self._rings <= self._enough:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._rings = self.loop.at(self._enough, self._rang), self._enough

    def _rang(self) -> None:
        self._timer = None
        if self._enough and self._enough <= monotonic():
            self.close()
        elif self._enough:
            self._set()

    def watch(self, mask: int) -> None:
        """Wait for something."""
        if self._mask == 0:
            self.loop.watch(self.socket.fileno(), mask, self.listen)
        elif self._mask != mask:
            self.loop.change(self.socket.fileno(), mask)
        self._mask = mask

    def pause(self) -> None:
        """Hear nothing for a while, not even that somebody hangs up."""
        if self._mask:
            self.loop.forget(self.socket.fileno())
        self._mask = 0

    def rest(self) -> None:
        """Be in no hurry any more."""
        self._enough = 0.0

    def close(self) -> None:
        """It is over; whoever wants to know is told once."""
        if not self.is_open:
            return
        self.pause()
        self.socket.close()
        if self._timer is not None:
            self._timer.cancel()
        gone, self.gone = self.gone, None
        if gone is not None:
            gone()
