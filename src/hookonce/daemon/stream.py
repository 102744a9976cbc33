"""Non-blocking sockets on the event loop: an acceptor of connections, and a buffered stream with one deadline."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from hookonce.base.event_loop import READ, WRITE, EventLoop, Timer
from hookonce.client.daemon_endpoints import with_address
from hookonce.secrets import log

_CHUNK_BYTES = 1 << 16  # for more than 128 KB the C library asks the system for memory each time
IO_TIMEOUT_S = 10.0  # seconds for somebody who neither says all there is to say nor listens

_MAX_ACCEPTS = 32  # connections in one turn of the loop
_ACCEPT_RETRY_S = 0.05  # pause where no descriptors are left


def open_listener(socket_path: Path) -> socket.socket:
    """A listening socket at a path, for this user alone; who listened there before does so no more."""
    socket_path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    old_umask = os.umask(0o077)
    try:
        with_address(str(socket_path), listener.bind)
    finally:
        os.umask(old_umask)
    listener.listen(1024)
    listener.settimeout(0)
    return listener


class Acceptor:
    """Accepts connections on a listening socket until it is closed; `name` stands in the log."""

    def __init__(
        self,
        loop: EventLoop,
        listener: socket.socket,
        on_accept: Callable[[socket.socket], object],
        name: str,
        on_accepted: Callable[[], object] = lambda: None,
    ) -> None:
        """`on_accepted` is called when all those were accepted that wait, or as many as one turn takes."""
        self._loop, self._listener, self._on_accept, self._name = loop, listener, on_accept, name
        self._on_accepted = on_accepted
        listener.settimeout(0)
        loop.watch_fd(listener.fileno(), READ, self._accept)

    def close(self) -> None:
        """Accept nothing any more."""
        self._loop.remove_fd(self._listener.fileno())
        self._listener.close()

    def _accept(self, _: int) -> None:
        try:
            for _number in range(_MAX_ACCEPTS):
                if self._listener.fileno() < 0 or not self._accept_one():
                    break
        finally:
            self._on_accepted()

    def _accept_one(self) -> bool:
        """Accept a connection; whether another may wait."""
        try:
            sock, _peer = self._listener.accept()
        except BlockingIOError:
            return False
        except OSError as problem:  # no descriptors are left: whoever waits has to wait a little more
            log.write(f"{self._name}: no connection can be accepted: {problem}")
            self._loop.remove_fd(self._listener.fileno())
            self._loop.call_later(_ACCEPT_RETRY_S, self._resume)
            return False
        sock.settimeout(0)
        self._on_accept(sock)
        return True

    def _resume(self) -> None:
        if self._listener.fileno() >= 0:
            self._loop.watch_fd(self._listener.fileno(), READ, self._accept)


class BufferedStream:
    """A non-blocking socket on the event loop. Subclasses take the input."""

    def __init__(self, loop: EventLoop, sock: socket.socket) -> None:
        """Nothing is read before `handle_ready` or `wait_for`."""
        self.socket, self.loop = sock, loop
        self._on_close: Callable[[], object] | None = None
        self._write_buffer, self._mask, self._closes_after_write = b"", 0, False
        self._timer: Timer | None = None
        self._timer_at = self._deadline = 0.0  # when the timer rings, and when we have waited long enough; 0: never

    def feed(self, chunk: bytes) -> None:
        """Take input."""
        raise NotImplementedError

    def handle_ready(self, mask: int = READ) -> None:
        """Read or write what is possible now, else wait for it."""
        if mask & WRITE:
            self._flush()
        if mask & ~WRITE and self.is_open:
            self._receive()

    @property
    def is_open(self) -> bool:
        """Whether the socket is open, as far as we know."""
        return self.socket.fileno() >= 0

    def _receive(self) -> None:
        try:
            chunk = self.socket.recv(_CHUNK_BYTES)
        except BlockingIOError:
            self.wait_for(READ)
            return
        except OSError:
            chunk = b""
        if chunk:
            self.feed(chunk)
        else:
            self.close()

    def send(self, data: bytes, *, last: bool = False) -> bool:
        """Send data; after the `last` data the stream is finished. Whether all of it is with the other end already."""
        self._write_buffer, self._closes_after_write = self._write_buffer + data, last
        return self._flush()

    def send_now(self, data: bytes) -> bool:
        """Send a few bytes if nothing waits before them; OSError where nobody listens any more."""
        try:
            return not self._write_buffer and self.socket.send(data) == len(data)
        except BlockingIOError:
            return False

    def _flush(self) -> bool:
        try:
            sent_bytes = self.socket.send(self._write_buffer) if self._write_buffer else 0
        except BlockingIOError:
            sent_bytes = 0
        except OSError:
            self.close()
            return False
        self._write_buffer = self._write_buffer[sent_bytes:]
        if self._write_buffer:
            self.wait_for(READ | WRITE)
            return False
        if self._closes_after_write:
            self.finish()
        else:
            self.clear_deadline()
            self.watch(READ)
        return True

    def finish(self) -> None:
        """Everything was sent: close."""
        self.close()

    def wait_for(self, mask: int, seconds: float = IO_TIMEOUT_S) -> None:
        """Wait for events until a deadline; a deadline that is already running is kept."""
        self.watch(mask)
        if not self._deadline:
            self._deadline = monotonic() + seconds
            self._set_timer()

    def _set_timer(self) -> None:
        """One timer serves many waits: a connection of a thousand requests must not leave a thousand timers."""
        if self._timer is not None and self._timer_at <= self._deadline:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._timer_at = self.loop.call_at(self._deadline, self._handle_timer), self._deadline

    def _handle_timer(self) -> None:
        self._timer = None
        if self._deadline and self._deadline <= monotonic():
            self.close()
        elif self._deadline:
            self._set_timer()

    def watch(self, mask: int) -> None:
        """Set the events to wait for."""
        if self._mask == 0:
            self.loop.watch_fd(self.socket.fileno(), mask, self.handle_ready)
        elif self._mask != mask:
            self.loop.modify_fd(self.socket.fileno(), mask)
        self._mask = mask

    def pause(self) -> None:
        """Wait for no events, not even for a hangup."""
        if self._mask:
            self.loop.remove_fd(self.socket.fileno())
        self._mask = 0

    def notify_close(self, callback: Callable[[], object] | None) -> None:
        """Call this one at the close, and nobody else."""
        self._on_close = callback

    def clear_deadline(self) -> None:
        """Clear the deadline."""
        self._deadline = 0.0

    def close(self) -> None:
        """Close the socket, and call once whom `notify_close` has named last."""
        if not self.is_open:
            return
        self.pause()
        self.socket.close()
        if self._timer is not None:
            self._timer.cancel()
        on_close, self._on_close = self._on_close, None
        if on_close is not None:
            on_close()
