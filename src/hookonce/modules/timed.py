"""HTTP link to a module: one POST per request, over idle connections that are reused.

A request has one deadline for everything together (connect, send, read), not one timeout per socket call.
"""

import io
from http.client import HTTPConnection, HTTPSConnection
from select import POLLIN, poll
from socket import socket
from time import monotonic
from typing import Any


class DeadlineSocket(io.RawIOBase):
    """Socket with one deadline for all calls together, not one timeout per call."""

    def __init__(self, end: socket) -> None:
        self.end, self.deadline = end, 0.0

    def _apply_deadline(self) -> None:
        remaining_s = self.deadline - monotonic()
        if remaining_s <= 0:
            raise TimeoutError
        self.end.settimeout(remaining_s)

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes before the deadline."""
        self._apply_deadline()
        return self.end.recv_into(buffer)

    def sendall(self, data: bytes) -> None:
        """Send all bytes before the deadline."""
        self._apply_deadline()
        self.end.sendall(data)

    def makefile(self, _: str) -> io.BufferedReader:
        """The reader of http.client; closing it does not close the connection."""
        return io.BufferedReader(_UnownedReader(self), 1 << 16)

    def close(self) -> None:
        """Close the socket."""
        super().close()
        self.end.close()


class _UnownedReader(io.RawIOBase):
    def __init__(self, owner: DeadlineSocket) -> None:
        self._owner = owner

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._owner.readinto(buffer)


def open_connection(host: str, port: int | None, deadline: float, *, secure: bool) -> HTTPConnection:
    """Open an HTTP connection with a deadline."""
    connection_type = HTTPSConnection if secure else HTTPConnection
    connection = connection_type(host, port, timeout=max(0.001, deadline - monotonic()))
    try:
        connection.connect()
    except BaseException:
        connection.close()
        raise
    deadline_socket: Any = DeadlineSocket(connection.sock)
    deadline_socket.deadline = deadline
    connection.sock = deadline_socket
    return connection


def has_pending_data(end: socket) -> bool:
    """Whether an idle connection is readable: mostly that the peer has closed it."""
    poller = poll()
    poller.register(end.fileno(), POLLIN)
    return bool(poller.poll(0))
