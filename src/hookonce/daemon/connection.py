"""Client connection on the Unix socket: frames, request parsing, and the peer's credentials and isolation.

A confined caller (seccomp, no_new_privs, other namespaces) must not have its hooks run outside of its confinement.
"""

import os
import socket
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from os import fsdecode
from os.path import lexists
from struct import Struct as Packed

from msgspec import Struct

from hookonce.base import wire
from hookonce.base.event_loop import READ, EventLoop
from hookonce.daemon.stream import BufferedStream
from hookonce.handlers.environment import LazyEnvironment

_UCRED_STRUCT = Packed("3i")
_CONFINEMENT_FIELDS = (b"NoNewPrivs:\t", b"Seccomp:\t", b"Seccomp_filters:\t")
_NAMESPACES = [
    name for name in ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts") if lexists(f"/proc/self/ns/{name}")
]
_STRICTEST_CONFINEMENT = (1 << 16,)  # more than any process is


def peer_credentials(sock: socket.socket) -> tuple[int, int]:
    """Pid (0 where the system does not tell) and user of the process at the other end."""
    if not hasattr(socket, "SO_PEERCRED"):
        return 0, os.getuid()  # the directory around the socket is ours alone
    credentials = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED_STRUCT.size)
    pid, user, _ = _UCRED_STRUCT.unpack(credentials)
    return pid, user


def isolation_of(pid: int | str = "self") -> bytes:
    """Isolation of a process: groups, capabilities, confinement, namespaces, label; nothing of one that is gone."""
    try:
        status = _read_proc_file(f"/proc/{pid}/status")
        namespaces = "".join([os.readlink(f"/proc/{pid}/ns/{name}") for name in _NAMESPACES])  # noqa: PTH115
        label = _read_proc_file(f"/proc/{pid}/attr/current") if _has_labels() else b""
    except OSError:
        return b""
    groups, *_ = status.partition(b"\nGroups:")[2].partition(b"\n")
    gids, *_ = status.partition(b"\nGid:")[2].partition(b"\n")
    confinement = status[status.find(b"\nCapInh:") : status.find(b"\nSpeculation")]
    return b"\n".join((confinement, gids, groups, namespaces.encode(), label))


@cache
def _has_labels() -> bool:
    """Whether a security module labels processes."""
    try:
        return bool(_read_proc_file("/proc/self/attr/current"))
    except OSError:
        return False


def confinement_of(isolation: bytes) -> tuple[int, ...]:
    """Confinement as numbers that only grow; of a process that is gone, the maximum."""
    if not isolation:
        return _STRICTEST_CONFINEMENT
    values = [isolation.partition(name)[2].partition(b"\n")[0] for name in _CONFINEMENT_FIELDS]
    return tuple([int(value or b"0") for value in values])


def _read_proc_file(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 8192)
    finally:
        os.close(fd)


class ClientRequest(Struct, frozen=True, kw_only=True):
    """A request frame, decoded; paths and words as Python's fsdecode gives them."""

    version: bytes
    build: str
    id: str
    argv: list[str]
    environment: Mapping[str, str]
    cwd: str
    umask: int
    stdin: bytes


def parse_request(fields: list[bytes]) -> ClientRequest:
    """Parse the fields of a frame; ValueError where they hold no request."""
    version, build, call_id, argv, environment, cwd, umask, stdin = fields[:8]
    return ClientRequest(
        version=version,
        build=fsdecode(build),
        id=parse_call_id(call_id),
        argv=fsdecode(argv).split("\0")[:-1],
        environment=_load_environment(environment),
        cwd=fsdecode(cwd),
        umask=int(umask or b"-1"),
        stdin=stdin,
    )


def parse_call_id(field: bytes) -> str:
    """Parse the call id; it becomes a file name, so nothing but letters, digits and dashes is accepted."""
    text = field.decode("ascii")
    if not text.replace("-", "").isalnum():
        raise ValueError("an id that is none")
    return text


@lru_cache(maxsize=4)
def _load_environment(field: bytes) -> LazyEnvironment:
    """The environment of a call, which is mostly that of the call before."""
    return LazyEnvironment(field)


class ClientConnection(BufferedStream):
    """Connection of one client: one request frame in, replies out."""

    def __init__(
        self, loop: EventLoop, sock: socket.socket, on_frame: Callable[["ClientConnection", bytes], object]
    ) -> None:
        """`on_frame` is called with the frame once it is whole."""
        super().__init__(loop, sock)
        self.peer_pid, self.peer_user = peer_credentials(sock)
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
