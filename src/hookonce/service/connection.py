"""One client: its frame comes in, replies go out, and it is noticed when it hangs up."""

import socket
from collections.abc import Callable

from hookonce import wire
from hookonce.runtime.loop import READ, Loop
from hookonce.service.line import Line


class Connection(Line):
    """A conversation of one frame and its replies."""

    def __init__(self, loop: Loop, end: socket.socket, asked: Callable[["Connection", bytes], object]) -> None:
        """Listen; what the client asks is told to a function once it is whole."""
        super().__init__(loop, end)
        self._asked: Callable[[Connection, bytes], object] | None = asked
        self._heard = b""

    def heard(self, chunk: bytes) -> None:
        """Take a part of the frame; after it nobody wants to hear more of a client."""
        if self._asked is not None:
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
            self.rest()
            asked(self, frame)
        else:
            self.wait(READ)

    @property
    def has_left(self) -> bool:
        """Whether the client has hung up already, after all that it has said."""
        try:
            return not self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def linger(self) -> None:
        """Nothing is left to be said; but we want to know when the client has heard it, if it is still there."""
        if self.is_open:
            self.wait(READ)
