"""Daemon endpoints: status query over the Unix socket, and the HTTP address with its bearer token.

The HTTP address is saved, so that what agents have in their configuration files stays valid.
"""

import socket
from contextlib import suppress
from pathlib import Path
from time import monotonic

from hookonce import wire
from hookonce.model import Object
from hookonce.runtime.folder import NoRuntimeDirError, find_runtime_dir
from hookonce.texts import load

STATUS = b"status"  # in the place of the protocol's version: a question about the daemon itself
FLUSH = b"keep"  # in the place of the build: before it answers, it puts what it has heard into the store
_STATUS_TIMEOUT_S = 2.0  # seconds for what it tells about itself


def socket_path() -> Path:
    """Path of the daemon's Unix socket."""
    return find_runtime_dir() / "socket"


def query_status(command: bytes = b"", timeout_s: float = _STATUS_TIMEOUT_S, socket_file: Path | None = None) -> Object | None:
    """The daemon's status report; None if there is no daemon, or it takes longer than the timeout.

    It is this home's daemon, or the one at another `socket_file`; with FLUSH it writes to the store first.
    """
    with suppress(OSError, ValueError, NoRuntimeDirError), socket.socket(socket.AF_UNIX) as connection:
        deadline = monotonic() + timeout_s
        connection.settimeout(timeout_s)
        connection.connect(str(socket_file or socket_path()))
        connection.sendall(wire.encode_frame([STATUS, command, *[b""] * (wire.FIELD_COUNT - 2)]))
        data = b""
        while chunk := _receive_chunk(connection, deadline):
            data += chunk
        (reply,), _ = wire.decode_replies(data)
        report: Object = load(reply[3].decode())
        return report
    return None


def _receive_chunk(connection: socket.socket, deadline: float) -> bytes:
    connection.settimeout(max(deadline - monotonic(), 0.001))
    return connection.recv(1 << 16)
