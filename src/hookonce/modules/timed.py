"""A connection on which everything together has to be done by a deadline, not each byte by itself."""

import io
from http.client import HTTPConnection, HTTPSConnection
from select import POLLIN, poll
from socket import socket
from time import monotonic
from typing import Any


class Timed(io.RawIOBase):
    """A socket on which everything together has to be done by a deadline, not each byte by itself."""

    def __init__(self, end: socket) -> None:
        self.end, self.deadline = end, 0.0

    def _hurry(self) -> None:
        left = self.deadline - monotonic()
        if left <= 0:
            raise TimeoutError
        self.end.settimeout(left)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Some bytes, in time."""
        self._hurry()
        return self.end.recv_into(buffer)

    def sendall(self, data: bytes) -> None:
        """All bytes, in time."""
        self._hurry()
        self.end.sendall(data)

    def makefile(self, _: str) -> io.BufferedReader:
        """What the library reads an answer from; closing that one does not close the connection."""
        return io.BufferedReader(_Borrowed(self), 1 << 16)

    def close(self) -> None:
        """Hang up."""
        super().close()
        self.end.close()


class _Borrowed(io.RawIOBase):
    def __init__(self, owner: Timed) -> None:
        self._owner = owner

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._owner.readinto(buffer)


def connected(host: str, port: int | None, deadline: float, *, secure: bool) -> HTTPConnection:
    """A new connection, on which everything is done by the deadline."""
    made = HTTPSConnection if secure else HTTPConnection
    connection = made(host, port, timeout=max(0.001, deadline - monotonic()))
    try:
        connection.connect()
    except BaseException:
        connection.close()
        raise
    timed: Any = Timed(connection.sock)
    timed.deadline = deadline
    connection.sock = timed
    return connection


def has_news(end: socket) -> bool:
    """Whether something came on a connection that nobody asked for: mostly its end."""
    looks = poll()
    looks.register(end.fileno(), POLLIN)
    return bool(looks.poll(0))
