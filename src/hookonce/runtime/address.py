"""Where the HTTP door is, and the word that opens it: kept, so that what agents have in their files stays true."""

import socket
from contextlib import closing
from pathlib import Path
from secrets import randbelow, token_urlsafe

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from hookonce.config import paths
from hookonce.runtime.folder import write_atomic

LOOPBACK = "127.0.0.1"
# Below these numbers are well-known services; above them programs are given any port for their own calls, and would
# hold ours by chance while we are away.
_MIN_PORT, _PORT_LIMIT = 20_000, 32_768
_MAX_PORT_TRIES = 64


class HttpAddress(Struct, frozen=True):
    """A port of this machine, and the bearer token without which no request is answered."""

    port: int
    token: str

    @property
    def base(self) -> str:
        """Prefix of all our URLs."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        """HTTP headers that an agent sends."""
        return {"Authorization": f"Bearer {self.token}"}


def load_http_address() -> HttpAddress | None:
    """The saved HTTP address of this home; None if there is no HTTP listener."""
    try:
        return decode(_http_address_file().read_bytes(), type=HttpAddress)
    except (OSError, DecodeError):
        return None


def new_http_address() -> HttpAddress:
    """A new address with a random token, at a port that is free now."""
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
    _http_address_file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomic(_http_address_file(), encode(address))


def remove_http_address() -> None:
    """Remove the address: the daemon stops listening."""
    _http_address_file().unlink(missing_ok=True)


def _http_address_file() -> Path:
    return paths.data_dir() / "http.json"
