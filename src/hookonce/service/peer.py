"""Who is at the other end: whose process it is, and whether it lives in the same world as we do.

A caller that is confined must not have its hooks run outside of what confines it.
"""

import os
import socket
from struct import Struct as Packed

from hookonce.runtime.depth import stat_of

_CREDENTIALS = Packed("3i")
_CONFINING = (b"NoNewPrivs:\t", b"Seccomp:\t", b"Seccomp_filters:\t")
_GONE = (1 << 16,)  # more than any process is


def process(connection: socket.socket) -> tuple[int, int]:
    """The number of the process at the other end, 0 where the system does not tell, and its user."""
    if not hasattr(socket, "SO_PEERCRED"):
        return 0, os.getuid()  # the directory around the socket is ours alone
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, user, _ = _CREDENTIALS.unpack(found)
    return pid, user


def is_there(pid: int) -> bool:
    """Whether a process still runs; one that has ended may not have been taken away yet."""
    known = stat_of(pid) if pid else None
    return known is not None and known[0] not in "ZX"


def namespaces(pid: int | str = "self") -> bytes:
    """The mounts and the processes that a process sees, in the words of the system."""
    try:
        return " ".join(os.readlink(f"/proc/{pid}/ns/{kind}") for kind in ("mnt", "pid")).encode()  # noqa: PTH115
    except OSError:
        return b""


def confinement(pid: int | str = "self") -> tuple[int, ...]:
    """How much a process may not do any more, as numbers that only grow; of one that is gone, everything."""
    try:
        handle = os.open(f"/proc/{pid}/status", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return _GONE if os.path.isdir("/proc/self") else ()  # noqa: PTH112
    try:
        text = os.read(handle, 8192)
    finally:
        os.close(handle)
    found = (text.partition(word)[2].partition(b"\n")[0] for word in _CONFINING)
    return tuple(int(word or b"0") for word in found)
