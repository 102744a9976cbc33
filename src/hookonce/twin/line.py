"""The line to the daemon: one frame there, at most two replies back."""

import _socket
import os
import sys
import time
from errno import EAGAIN, ECONNREFUSED, EINTR, ENOENT
from select import POLLIN, POLLOUT, poll

from hookonce.twin.call import Call
from hookonce.twin.clock import now
from hookonce.wire import ACK, ANSWER, replies, reply

LOOK = 0.005  # seconds between two looks
_HURRY = 50_000_000  # nanoseconds in which a daemon has to take a call
_LONGEST = 100  # milliseconds between two looks at the caller
_PATH = 100  # bytes of an address that every system takes
_MOST = 64 << 20  # bytes of a text that a daemon can mean
_CODES = 10  # the shell tells these from accidents
_CHUNK = 1 << 18
_HEAD = len(reply(ANSWER, 0))
# Who is at the other end: on Linux and on macOS the user stands in the same place.
_PEER = (_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12) if hasattr(_socket, "SO_PEERCRED") else (0, 1, 76)

TYPE_CHECKING = False
if TYPE_CHECKING:
    Reply = tuple[int, int, int, bytes, bytes]


class Nobody(Exception):
    """There is no daemon; one can be started."""


class Nonsense(Exception):
    """The daemon says what it should not, or that Python should answer."""


def ask(call: Call, frame: bytes) -> "Reply | None":
    """The daemon's answer, or what it said that the answer is if it came too late; None if Python has to answer."""
    try:
        line = _reach(call)
        if line is None:
            return None
        try:
            return _Talk(line, frame).answer(call)
        finally:
            line.close()
    except (OSError, Nonsense, Nobody):
        return None


def _reach(call: Call) -> _socket.socket | None:
    try:
        return dial(call)
    except Nobody:
        from hookonce.twin.start import start

        return start(call)


def dial(call: Call) -> _socket.socket | None:
    """A line to the daemon; None if there is one that is not to be asked."""
    address, problem = os.fsencode(f"{call.house}/socket"), 0
    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    line.settimeout(0)
    until = now() + _HURRY
    while len(address) <= _PATH:
        problem = line.connect_ex(address)
        if not problem and _is_peer_ours(line):
            return line
        if problem not in (EAGAIN, EINTR) or now() >= until:
            break
        time.sleep(LOOK)  # the daemon is there, and busy with others
    line.close()
    if problem in (ENOENT, ECONNREFUSED):
        raise Nobody
    return None


def _is_peer_ours(line: _socket.socket) -> bool:
    return int.from_bytes(line.getsockopt(*_PEER)[4:8], sys.byteorder) == os.getuid()


class _Talk:
    """One conversation, as far as it has come."""

    def __init__(self, line: _socket.socket, frame: bytes) -> None:
        self._line, self._rest, self._heard = line, memoryview(frame), bytearray()
        self._ack: Reply | None = None
        self._end = now() + _HURRY

    def answer(self, call: Call) -> "Reply | None":
        """Send and listen until there is an answer, or no time left for one."""
        ready = poll()
        while True:
            self._send_on()
            ready.register(self._line, POLLIN | POLLOUT if self._rest else POLLIN)
            seen = ready.poll(max(0, min(_LONGEST, (self._end - now() + 999_999) // 1_000_000)))
            call.look()
            if seen and seen[0][1] != POLLOUT:
                self._hear_on()
                if found := self._take():
                    return found
            elif not seen and now() >= self._end:
                return self._ack

    def _send_on(self) -> None:
        """Who does not listen any more may still have answered."""
        if not self._rest:
            return
        try:
            sent = self._line.send(self._rest)
        except BlockingIOError:
            return
        except OSError:
            sent = len(self._rest)
        self._rest = self._rest[sent:]
        if self._ack is None:
            self._end = now() + _HURRY

    def _hear_on(self) -> None:
        try:
            chunk = self._line.recv(_CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            raise Nonsense("it has hung up")
        self._heard += chunk

    def _take(self) -> "Reply | None":
        """What was heard so far: an answer is returned, an ACK kept."""
        while found := self._next():
            if found[0] == ANSWER:
                return found
            self._ack, self._end = found, found[1]
        return None

    def _next(self) -> "Reply | None":
        """The next reply, once all of it was heard."""
        heard = self._heard
        if heard and heard[0] != ANSWER and (heard[0] != ACK or self._ack):
            raise Nonsense("it says something else than an answer")
        if len(heard) < _HEAD:
            return None
        sizes = int.from_bytes(heard[10:14], "little"), int.from_bytes(heard[14:18], "little")
        if max(sizes) > _MOST or heard[9] >= _CODES:
            raise Nonsense("it says what nobody can mean")
        end = _HEAD + sum(sizes)
        if len(heard) < end:
            return None
        (found,), _ = replies(bytes(heard[:end]))
        del heard[:end]
        return found
