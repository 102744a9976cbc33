"""The least that a daemon can be: it takes a whole frame and says the same to everybody.

What a call to it costs is what the way there and back costs; whatever ours costs more is the answering.
"""

import os
import socket
from collections.abc import Callable

from hookonce import wire
from hookonce.runtime.loop import READ, Loop

SAID = b""  # as most calls of hooks that nobody needs to hear of
_CHUNK = 1 << 18


class Echo:
    """One listening socket, and those who have not said everything yet."""

    def __init__(self, place: str) -> None:
        """Listen there, until whoever started us is gone and our stdin with them."""
        self.loop, self.wanted = Loop(), True
        self._answer = wire.reply(wire.ANSWER, 0, 0, SAID)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(place)
        self._listener.listen(1024)
        self._listener.settimeout(0)
        self.loop.watch(self._listener.fileno(), READ, self._accept)
        self.loop.watch(0, READ, self._leave)

    def _leave(self, _: int) -> None:
        self.wanted = bool(os.read(0, 1))

    def _accept(self, _: int) -> None:
        while True:
            try:
                end, _who = self._listener.accept()
            except BlockingIOError:
                return
            end.settimeout(0)
            heard = bytearray()
            if not self._take(end, heard):
                self.loop.watch(end.fileno(), READ, self._later(end, heard))

    def _later(self, end: socket.socket, heard: bytearray) -> Callable[[int], object]:
        return lambda _: self._take(end, heard, waited=True)

    def _take(self, end: socket.socket, heard: bytearray, *, waited: bool = False) -> bool:
        """Take what is there; whether the conversation is over."""
        try:
            heard += (chunk := end.recv(_CHUNK))
            if chunk and not 0 < wire.length(bytes(heard[:8])) <= len(heard):
                return False
            end.send(self._answer if chunk else b"")
        except BlockingIOError:
            return False
        except OSError:
            pass  # whoever could not wait has gone
        if waited:
            self.loop.forget(end.fileno())
        end.close()
        return True


def serve(place: str) -> None:
    """Be there for as long as we are wanted."""
    echo = Echo(place)
    while echo.wanted:
        echo.loop.turn()
