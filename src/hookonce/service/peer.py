"""Client connection on the Unix socket: frames, request parsing, and the peer's credentials and confinement.

A confined caller (seccomp, no_new_privs, other namespaces) must not have its hooks run outside of its confinement.
"""

import os
import socket
from struct import Struct as Packed

from hookonce.runtime.depth import read_proc_stat

_UCRED_STRUCT = Packed("3i")
_CONFINEMENT_FIELDS = (b"NoNewPrivs:\t", b"Seccomp:\t", b"Seccomp_filters:\t")
_MAX_CONFINEMENT = (1 << 16,)  # more than any process is


def peer_credentials(sock: socket.socket) -> tuple[int, int]:
    """Pid (0 where the system does not tell) and user of the process at the other end."""
    if not hasattr(socket, "SO_PEERCRED"):
        return 0, os.getuid()  # the directory around the socket is ours alone
    credentials = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED_STRUCT.size)
    pid, user, _ = _UCRED_STRUCT.unpack(credentials)
    return pid, user


def is_process_alive(pid: int) -> bool:
    """Whether a process still runs; a zombie does not."""
    stat = read_proc_stat(pid) if pid else None
    return stat is not None and stat[0] not in "ZX"


def namespaces_of(pid: int | str = "self") -> bytes:
    """Mount and pid namespaces of a process, as /proc names them."""
    try:
        return " ".join(os.readlink(f"/proc/{pid}/ns/{kind}") for kind in ("mnt", "pid")).encode()  # noqa: PTH115
    except OSError:
        return b""


def confinement_of(pid: int | str = "self") -> tuple[int, ...]:
    """Confinement of a process as numbers that only grow; of one that is gone, the maximum."""
    try:
        fd = os.open(f"/proc/{pid}/status", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return _MAX_CONFINEMENT if os.path.isdir("/proc/self") else ()  # noqa: PTH112
    try:
        text = os.read(fd, 8192)
    finally:
        os.close(fd)
    values = (text.partition(value)[2].partition(b"\n")[0] for value in _CONFINEMENT_FIELDS)
    return tuple(int(value or b"0") for value in values)
