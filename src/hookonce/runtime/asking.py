"""Asking the daemon of this home about itself; it may be asked to keep first what it has not kept yet."""

import socket
from contextlib import suppress
from pathlib import Path
from time import monotonic

from hookonce import wire
from hookonce.model import Object
from hookonce.runtime.folder import NoPlace, folder
from hookonce.texts import load

STATUS = b"status"  # in the place of the protocol's version: a question about the daemon itself
KEEP = b"keep"  # in the place of the build: before it answers, it puts what it has heard into the store
_ANSWER = 2.0  # seconds for what it tells about itself


def place() -> Path:
    """Where the daemon of this home listens."""
    return folder() / "socket"


def status(word: bytes = b"", patience: float = _ANSWER, at: Path | None = None) -> Object | None:
    """What the daemon tells about itself; None if there is none, or it takes longer than we wait.

    It is this home's, or whoever listens `at` another place.
    """
    with suppress(OSError, ValueError, NoPlace), socket.socket(socket.AF_UNIX) as end:
        until = monotonic() + patience
        end.settimeout(patience)
        end.connect(str(at or place()))
        end.sendall(wire.frame([STATUS, word, *[b""] * (wire.FIELDS - 2)]))
        heard = b""
        while chunk := _chunk(end, until):
            heard += chunk
        (said,), _ = wire.replies(heard)
        found: Object = load(said[3].decode())
        return found
    return None


def _chunk(end: socket.socket, until: float) -> bytes:
    end.settimeout(max(until - monotonic(), 0.001))
    return end.recv(1 << 16)
