"""Echo daemon: reads a whole frame and answers the same to everybody.

The cost of a call to it is the cost of the transport; whatever ours costs more is the answering.

    python -I -S echo_daemon.py SOCKET FOLDER-OF-THE-PACKAGE [FOLDER-OF-THE-CLIENT]
"""

import gc
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = sys.argv[2:3]  # an isolated interpreter finds nothing by itself

from hookonce.base import wire
from hookonce.base.event_loop import READ, EventLoop

ECHO_ANSWER = b""  # as most calls of hooks that nobody needs to hear of
_CHUNK_BYTES = 1 << 18


class EchoDaemon:
    """One listening socket and its connections."""

    def __init__(self, socket_path: str) -> None:
        """Listen there, until whoever started us is gone and our stdin with them."""
        self.loop, self.is_running = EventLoop(), True
        self._answer = wire.encode_reply(wire.ANSWER, 0, 0, ECHO_ANSWER)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(socket_path)
        self._listener.listen(1024)
        self._listener.settimeout(0)
        self.loop.watch_fd(self._listener.fileno(), READ, self._accept)
        self.loop.watch_fd(0, READ, self._on_stdin)

    def _on_stdin(self, _: int) -> None:
        self.is_running = bool(os.read(0, 1))

    def _accept(self, _: int) -> None:
        while True:
            try:
                connection, _address = self._listener.accept()
            except BlockingIOError:
                return
            connection.settimeout(0)
            received_bytes = bytearray()
            if not self._read_frame(connection, received_bytes):
                self.loop.watch_fd(connection.fileno(), READ, self._read_callback(connection, received_bytes))

    def _read_callback(self, connection: socket.socket, received_bytes: bytearray) -> Callable[[int], object]:
        return lambda _: self._read_frame(connection, received_bytes, is_registered=True)

    def _read_frame(self, connection: socket.socket, received_bytes: bytearray, *, is_registered: bool = False) -> bool:
        """Take what is there; whether the conversation is over."""
        try:
            received_bytes += (chunk := connection.recv(_CHUNK_BYTES))
            if chunk and not 0 < wire.frame_length(bytes(received_bytes[:8])) <= len(received_bytes):
                return False
            connection.send(self._answer if chunk else b"")
        except BlockingIOError:
            return False
        except OSError:
            pass  # whoever could not wait has gone
        if is_registered:
            self.loop.remove_fd(connection.fileno())
        connection.close()
        return True


def lock_client(folder: str) -> None:
    """Lock what our daemon locks beside the client, by which the client knows it without a longer look."""
    sys.path += Path(folder, "interpreter").read_text(encoding="utf-8").splitlines()[2:]
    from hookonce.base.paths import use_client_home
    from hookonce.daemon import lifecycle

    use_client_home(folder)
    lifecycle.lock_client()
    gc.freeze()  # as our daemon does with what it has loaded


def serve(socket_path: str, client_folder: str | None = None) -> None:
    """Serve until stdin is closed."""
    if client_folder is not None:
        lock_client(client_folder)
    echo = EchoDaemon(socket_path)
    while echo.is_running:
        echo.loop.run_once()


if __name__ == "__main__":
    serve(sys.argv[1], *sys.argv[3:])
