"""Daemon endpoints: status query over the Unix socket, and the HTTP address with its bearer token.

The HTTP address is saved, so that what agents have in their configuration files stays valid.
"""

import os
import socket
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from time import monotonic

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from hookonce.base import paths, settings, wire
from hookonce.base.jsontext import load
from hookonce.base.runtime_dir import NoRuntimeDirError, find_runtime_dir, write_atomic
from hookonce.base.runtime_location import open_socket_address
from hookonce.model import Object

STATUS = b"status"  # in the place of the protocol's version: a question about the daemon itself
FLUSH = b"keep"  # in the place of the build: before it answers, it puts what it has heard into the store
_STATUS_TIMEOUT_S = 2.0  # seconds for what it tells about itself


def socket_path() -> Path:
    """Path of the daemon's Unix socket."""
    return find_runtime_dir() / "socket"


def query_status(
    command: bytes = b"", timeout_s: float = _STATUS_TIMEOUT_S, socket_file: Path | None = None
) -> Object | None:
    """The daemon's status report; None if there is no daemon, or it takes longer than the timeout.

    It is this home's daemon, or the one at another `socket_file`; with FLUSH it writes to the store first.
    """
    with suppress(OSError, ValueError, NoRuntimeDirError), socket.socket(socket.AF_UNIX) as connection:
        deadline = monotonic() + timeout_s
        connection.settimeout(timeout_s)
        with_address(str(socket_file or socket_path()), connection.connect)
        connection.sendall(wire.encode_frame([STATUS, command, *[b""] * (wire.FIELD_COUNT - 2)]))
        data = b""
        while chunk := _receive_chunk(connection, deadline):
            data += chunk
        (reply,), _ = wire.decode_replies(data)
        report: Object = load(reply[3].decode())
        return report
    return None


def with_address(path: str, use: Callable[[str], object]) -> None:
    """Connect or bind a socket at a path, however long it is."""
    address, fd = open_socket_address(path)
    try:
        use(address)
    finally:
        if fd >= 0:
            os.close(fd)


def describe_orphan() -> str | None:
    """Describe the socket that a killed daemon has left behind, if there is one."""
    with suppress(NoRuntimeDirError):
        if socket_path().exists() and query_status() is None:
            message = f"the daemon is gone and has left its socket behind ({socket_path()})"
            return f"{message}; the next call of an agent starts another, and so does hookonce daemon start"
    return None


def _receive_chunk(connection: socket.socket, deadline: float) -> bytes:
    connection.settimeout(max(deadline - monotonic(), 0.001))
    return connection.recv(1 << 16)


LOOPBACK = "127.0.0.1"
# Below these numbers are well-known services; above them programs are given any port for their own calls, and would
# hold ours by chance while we are away.
_MIN_PORT, _PORT_LIMIT = 20_000, 32_768
_MAX_PORT_TRIES = 64


class HttpAddress(Struct, frozen=True):
    """A port of this machine, and the bearer token without which no request is answered.

    `takes_events`: somebody has opened it for tools that post events, whether or not an agent posts too.
    """

    port: int
    token: str
    takes_events: bool = False

    @property
    def base(self) -> str:
        """Prefix of all our URLs."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        """HTTP headers that an agent sends."""
        return {"Authorization": f"Bearer {self.token}"}


def settings_obstacle() -> str | None:
    """Why the settings allow no HTTP listener, if so."""
    return None if settings.load().require().http else "`http = false` in config.toml forbids events over HTTP"


def load_http_address() -> HttpAddress | None:
    """The saved HTTP address of this home; None if there is no HTTP listener."""
    try:
        return decode(http_address_file().read_bytes(), type=HttpAddress)
    except (OSError, DecodeError):
        return None


def new_http_address() -> HttpAddress:
    """A new address with a random token, at a port that is free now."""
    from secrets import randbelow, token_urlsafe  # `random` behind it is more than all the rest here

    for _ in range(_MAX_PORT_TRIES):
        port = _MIN_PORT + randbelow(_PORT_LIMIT - _MIN_PORT)
        if is_port_free(port):
            break
    return HttpAddress(port, token_urlsafe(32))


def is_port_free(port: int) -> bool:
    """Whether nobody listens at a port."""
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def save_http_address(address: HttpAddress) -> None:
    """Save the address: the daemon listens there from now on."""
    paths.make_private_dir(http_address_file().parent)
    write_atomic(http_address_file(), encode(address))


def restore_http_address(address: HttpAddress | None) -> None:
    """Put back the address that was there before, or none."""
    remove_http_address()
    if address is not None:
        save_http_address(address)


def remove_http_address() -> None:
    """Remove the address: the daemon stops listening."""
    http_address_file().unlink(missing_ok=True)


def http_address_file() -> Path:
    """The file of port and token."""
    return paths.data_dir() / "http.json"
