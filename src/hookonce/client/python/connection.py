"""Connection of the Python client to the daemon: sends one frame, reads at most three replies (ACK, BEGIN, answer)."""

import _socket
import os
import sys
import time
from errno import EAGAIN, ECONNREFUSED, EINTR, ENOENT
from select import POLLIN, POLLOUT, poll

from hookonce.base.runtime_location import open_socket_address
from hookonce.base.wire import ACK, ANSWER, BEGIN, decode_replies, encode_reply, write_best_effort
from hookonce.client.python.call import ClientCall, now_ns
from hookonce.client.python.frame import reply_budget_ns

POLL_INTERVAL_S = 0.005  # seconds between two looks
_MAX_FIRST_REPLY_NS = 500_000_000  # nanoseconds in which a daemon has to take a call
_POLL_INTERVAL_MS = 100  # milliseconds between two looks at the caller
_MAX_TEXT_BYTES = 64 << 20  # bytes of a text that a daemon can mean
_EXIT_CODE_LIMIT = 10  # the shell tells these from accidents
_CHUNK_BYTES = 1 << 18
_REPLY_HEADER_BYTES = len(encode_reply(ANSWER, 0))
# Who is at the other end: on Linux and on macOS the user stands in the same place.
_PEER_CREDENTIALS = (_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12) if hasattr(_socket, "SO_PEERCRED") else (0, 1, 76)

TYPE_CHECKING = False
if TYPE_CHECKING:
    DaemonReply = tuple[int, int, int, bytes, bytes]


class NoDaemonError(Exception):
    """No daemon listens; one can be started."""


class DaemonProtocolError(Exception):
    """The daemon breaks the protocol, or says that Python should answer."""


def request_reply(call: ClientCall, frame: bytes) -> "DaemonReply | None":
    """The daemon's answer, or after its deadline the one that its ACK carried; None if Python has to answer."""
    try:
        connection = _connect_or_start(call)
        if connection is None:
            return None
        exchange = _DaemonExchange(connection, frame, _first_reply_ns(call))
        try:
            return exchange.run(call)
        except (OSError, DaemonProtocolError):
            return exchange.stop_listening(call)
        finally:
            connection.close()
    except (OSError, DaemonProtocolError, NoDaemonError):
        return None


def _connect_or_start(call: ClientCall) -> _socket.socket | None:
    try:
        return connect_daemon(call)
    except NoDaemonError:
        from hookonce.client.python.launch import start_daemon

        return start_daemon(call)


def connect_daemon(call: ClientCall) -> _socket.socket | None:
    """Connect to the daemon; None if there is one that must not be asked."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.settimeout(0)
    deadline_ns = now_ns() + _first_reply_ns(call)
    address, fd = open_socket_address(f"{call.runtime_dir}/socket")
    try:
        while (error_number := connection.connect_ex(address)) in (EAGAIN, EINTR) and now_ns() < deadline_ns:
            time.sleep(POLL_INTERVAL_S)  # the daemon is there, and busy with others
    finally:
        if fd >= 0:
            os.close(fd)
    if not error_number and _is_same_user(connection) and _is_expected_daemon(call, _peer_pid(connection)):
        return connection
    connection.close()
    if error_number in (ENOENT, ECONNREFUSED):
        raise NoDaemonError
    return None


def _first_reply_ns(call: ClientCall) -> int:
    """Time in which a daemon has to take a call; in a crowd that is sooner than an interpreter starts."""
    return max(min(_MAX_FIRST_REPLY_NS, reply_budget_ns(call.argv) // 10), 0)


def _is_same_user(connection: _socket.socket) -> bool:
    return int.from_bytes(connection.getsockopt(*_PEER_CREDENTIALS)[4:8], sys.byteorder) == os.getuid()


def _peer_pid(connection: _socket.socket) -> int:
    return int.from_bytes(connection.getsockopt(*_PEER_CREDENTIALS)[:4], sys.byteorder)


def _is_expected_daemon(call: ClientCall, pid: int) -> bool:
    """Whether somebody of our user can be our daemon.

    A sandbox may let its commands replace our socket, but not leave their namespaces or gain privileges again.
    """
    if not os.path.exists("/proc/self/ns"):  # noqa: PTH110  `pathlib` is an import
        return True
    try:
        for namespace in ("mnt", "pid", "user"):
            if not os.path.samefile(f"/proc/{pid}/ns/{namespace}", f"/proc/self/ns/{namespace}"):  # noqa: PTH121
                return False
        confinement = _confinement_of(str(pid))
        is_confined = confinement > (0, 0) and confinement > _confinement_of("self")
        return not is_confined and _has_our_interpreter(call, f"/proc/{pid}/exe")
    except OSError:
        return False


def _confinement_of(process: str) -> tuple[int, int]:
    """Whether a process may gain privileges, and whether its system calls are filtered."""
    with open(f"/proc/{process}/status", "rb") as file:  # noqa: PTH123
        text = file.read()
    no_new_privileges, seccomp = (
        int(text.partition(name)[2].partition(b"\n")[0]) for name in (b"\nNoNewPrivs:", b"\nSeccomp:")
    )
    return no_new_privileges, seccomp


def _has_our_interpreter(call: ClientCall, executable: str) -> bool:
    """Whether the installation's interpreter runs; a script that starts it, or one that is gone, says nothing."""
    try:
        if os.path.samefile(executable, call.python):  # noqa: PTH121
            return True
        with open(call.python, "rb") as file:  # noqa: PTH123
            return file.read(4) != b"\x7fELF"
    except FileNotFoundError:
        return not os.path.exists(call.python)  # noqa: PTH110


def _leave_claim(call: ClientCall, connection: _socket.socket) -> bool:
    """Leave the claim of hooks that the daemon runs, which may yet save their answer; whether there is one."""
    pid = _peer_pid(connection)
    try:  # noqa: SIM105  `contextlib` and `pathlib` are imports
        os.mkdir(f"{call.runtime_dir}/calls", 0o700)  # noqa: PTH102
    except OSError:
        pass  # it is there, or cannot be used either
    try:
        file = call.open_runtime_file(f"calls/{call.id}", os.O_EXCL)
    except FileExistsError:
        return True
    except OSError:
        return False
    write_best_effort(file, b'{"done":false,"pid":%d,"keeps_results":true}' % pid)
    os.close(file)
    return True


class _DaemonExchange:
    """State of one exchange."""

    def __init__(self, connection: _socket.socket, frame: bytes, first_reply_ns: int) -> None:
        self._first_reply_ns = first_reply_ns
        self._connection, self._remaining, self._input = connection, memoryview(frame), bytearray()
        self._ack: DaemonReply | None = None
        self._has_begun = False
        self._deadline_ns = now_ns() + self._first_reply_ns

    def run(self, call: ClientCall) -> "DaemonReply | None":
        """Send and receive until there is an answer, or no time left for one."""
        poller = poll()
        while True:
            self._send_more()
            poller.register(self._connection, POLLIN | POLLOUT if self._remaining else POLLIN)
            events = poller.poll(max(0, min(_POLL_INTERVAL_MS, (self._deadline_ns - now_ns() + 999_999) // 1_000_000)))
            call.exit_if_orphan()
            if events and events[0][1] != POLLOUT:
                self._receive_more()
                if daemon_reply := self._take_answer():
                    return daemon_reply
            elif not events and now_ns() >= self._deadline_ns:
                if self._ack is None:
                    raise DaemonProtocolError("it does not answer")
                return self._ack

    def stop_listening(self, call: ClientCall) -> "DaemonReply | None":
        """Take what the daemon has said as all of it, the answer too; hooks that have begun nobody runs again."""
        try:
            self._connection.shutdown(_socket.SHUT_RD)
            while True:
                self._receive_more()
                if daemon_reply := self._take_answer():
                    return daemon_reply
        except (OSError, DaemonProtocolError):
            pass
        return self._ack if self._has_begun and not _leave_claim(call, self._connection) else None

    def _send_more(self) -> None:
        """Send more of the frame; a daemon that stops reading may still have answered."""
        if not self._remaining:
            return
        try:
            byte_count = self._connection.send(self._remaining)
        except BlockingIOError:
            return
        except OSError:
            byte_count = len(self._remaining)
        self._remaining = self._remaining[byte_count:]
        if self._ack is None:
            self._deadline_ns = now_ns() + self._first_reply_ns

    def _receive_more(self) -> None:
        try:
            chunk = self._connection.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        if not chunk:
            raise DaemonProtocolError("it has hung up")
        self._input += chunk

    def _take_answer(self) -> "DaemonReply | None":
        """Take replies from the input: an answer is returned, an ACK remembered."""
        while daemon_reply := self._next_reply():
            if daemon_reply[0] == ANSWER:
                return daemon_reply
            if daemon_reply[0] == BEGIN:
                self._has_begun = True
            else:
                self._ack, self._deadline_ns = daemon_reply, daemon_reply[1]
        return None

    def _next_reply(self) -> "DaemonReply | None":
        data = self._input
        expected = (ANSWER, ACK) if self._ack is None else (ANSWER,) if self._has_begun else (ANSWER, BEGIN)
        if data and data[0] not in expected:
            raise DaemonProtocolError("it sends something other than an answer")
        if len(data) < _REPLY_HEADER_BYTES:
            return None
        sizes = int.from_bytes(data[10:14], "little"), int.from_bytes(data[14:18], "little")
        if max(sizes) > _MAX_TEXT_BYTES or data[9] >= _EXIT_CODE_LIMIT:
            raise DaemonProtocolError("its answer has an impossible value")
        end = _REPLY_HEADER_BYTES + sum(sizes)
        if len(data) < end:
            return None
        (daemon_reply,), _ = decode_replies(bytes(data[:end]))
        del data[:end]
        return daemon_reply
