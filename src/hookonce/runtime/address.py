"""Where the HTTP door is, and the word that opens it: kept, so that what agents have in their files stays true."""

import socket
from contextlib import closing
from pathlib import Path
from secrets import randbelow, token_urlsafe

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from hookonce.config import paths
from hookonce.runtime.folder import put

LOOPBACK = "127.0.0.1"
# Below these numbers are well-known services; above them programs are given any port for their own calls, and would
# hold ours by chance while we are away.
_LOWEST, _BEYOND = 20_000, 32_768
_TRIES = 64


class Address(Struct, frozen=True):
    """A port of this machine, and the token without which nobody is answered there."""

    port: int
    token: str

    @property
    def base(self) -> str:
        """What every URL of ours begins with."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        """What an agent sends along."""
        return {"Authorization": f"Bearer {self.token}"}


def known() -> Address | None:
    """The address of this home; None if there is none, and then there is no door."""
    try:
        return decode(_file().read_bytes(), type=Address)
    except (OSError, DecodeError):
        return None


def drawn() -> Address:
    """A new one, at a port that is free now."""
    for _ in range(_TRIES):
        port = _LOWEST + randbelow(_BEYOND - _LOWEST)
        if is_free(port):
            break
    return Address(port, token_urlsafe(32))


def is_free(port: int) -> bool:
    """Whether nobody listens at a port."""
    with closing(socket.socket()) as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            end.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def keep(address: Address) -> None:
    """Have a door there from now on."""
    _file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    put(_file(), encode(address))


def forget() -> None:
    """Have no door any more."""
    _file().unlink(missing_ok=True)


def _file() -> Path:
    return paths.data() / "http.json"
