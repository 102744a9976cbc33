"""One client: its frame comes in, replies go out, and it is noticed when it hangs up."""

import socket
from collections.abc import Callable
from time import monotonic

from hookonce import wire
from hookonce.runtime.loop import READ, WRITE, Loop, Timer

_CHUNK = 1 << 18
_PATIENCE = 10.0  # seconds for a client that neither says all it has to say nor listens


class Connection:
    """A conversation of one frame and its replies; `gone` is called when it is over."""

    def __init__(self, loop: Loop, end: socket.socket, asked: Callable[["Connection", bytes], object]) -> None:
        """Listen; what the client asks is told to a function once it is whole."""
        self.socket, self._loop = end, loop
        self._asked: Callable[[Connection, bytes], object] | None = asked
        self.gone: Callable[[], object] | None = None
        self._heard, self._unsaid = b"", b""
        self._mask, self._last = 0, False
        self._timer: Timer | None = None

    def listen(self, mask: int = READ) -> None:
        """Take what is there, or wait until there is something."""
        if mask & WRITE:
            self._speak()
        if mask & ~WRITE and self.socket.fileno() >= 0:
            self._take()

    def _take(self) -> None:
        try:
            chunk = self.socket.recv(_CHUNK)
        except BlockingIOError:
            self._wait(READ)
            return
        except OSError:
            chunk = b""
        if not chunk:
            self.close()
        elif self._asked is not None:  # after its frame nobody wants to hear more of a client
            self._heard = self._heard + chunk if self._heard else chunk
            self._ask(self._asked)

    def _ask(self, asked: Callable[["Connection", bytes], object]) -> None:
        try:
            length = wire.length(self._heard[:8])
        except ValueError:
            self.close()
            return
        if length > wire.MOST:
            self.say(wire.reply(wire.COLD, 0), last=True)
        elif length and len(self._heard) >= length:
            frame, self._heard, self._asked = self._heard[:length], b"", None
            self._cancel()
            asked(self, frame)
        else:
            self._wait(READ)

    def say(self, data: bytes, *, last: bool = False) -> None:
        """Tell the client something; after the last word the conversation is over."""
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
            self._wait(READ | WRITE)
        elif self._last:
            self.close()
        else:
            self._cancel()
            self._watch(READ)

    def linger(self) -> None:
        """Nothing is left to be said; but we want to know when the client has heard it."""
        self._wait(READ)

    def _wait(self, mask: int) -> None:
        """Wait for the client, but not for ever."""
        self._watch(mask)
        if self._timer is None:
            self._timer = self._loop.at(monotonic() + _PATIENCE, self.close)

    def _watch(self, mask: int) -> None:
        if self._mask == 0:
            self._loop.watch(self.socket.fileno(), mask, self.listen)
        elif self._mask != mask:
            self._loop.change(self.socket.fileno(), mask)
        self._mask = mask

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """It is over; whoever wants to know is told once."""
        if self.socket.fileno() < 0:
            return
        if self._mask:
            self._loop.forget(self.socket.fileno())
        self.socket.close()
        self._cancel()
        gone, self.gone = self.gone, None
        if gone is not None:
            gone()
