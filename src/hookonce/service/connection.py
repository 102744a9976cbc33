"""One client: its frame comes in, replies go out, and it is noticed when it hangs up."""

import socket
from collections.abc import Callable

from hookonce import wire
from hookonce.runtime.loop import READ, EventLoop
from hookonce.service.line import BufferedStream


class ClientConnection(BufferedStream):
    """Connection of one client: one request frame in, replies out."""

    def __init__(self, loop: EventLoop, sock: socket.socket, on_frame: Callable[["ClientConnection", bytes], object]) -> None:
        """`on_frame` is called with the frame once it is whole."""
        super().__init__(loop, sock)
        self._on_frame: Callable[[ClientConnection, bytes], object] | None = on_frame
        self._buffer = b""

    def feed(self, chunk: bytes) -> None:
        """Append a part of the frame; what comes after the frame is ignored."""
        if self._on_frame is not None:
            self._buffer = self._buffer + chunk if self._buffer else chunk
            self._try_frame(self._on_frame)

    def _try_frame(self, on_frame: Callable[["ClientConnection", bytes], object]) -> None:
        try:
            length = wire.frame_length(self._buffer[:8])
        except ValueError:
            self.close()
            return
        if length > wire.MAX_FRAME_BYTES:
            self.send(wire.encode_reply(wire.COLD, 0), last=True)
        elif length and len(self._buffer) >= length:
            frame, self._buffer, self._on_frame = self._buffer[:length], b"", None
            self.clear_deadline()
            on_frame(self, frame)
        else:
            self.wait_for(READ)

    @property
    def has_hung_up(self) -> bool:
        """Whether the client has already closed its end, after all that it sent."""
        try:
            return not self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def wait_for_hangup(self) -> None:
        """Wait until the client closes its end, which tells that it has read the answer."""
        if self.is_open:
            self.wait_for(READ)
