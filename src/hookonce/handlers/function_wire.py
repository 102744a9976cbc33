"""What is said between whoever asks a function and the process that has its file loaded."""

import os
from struct import pack, unpack

from msgspec import Struct, msgpack

KEPT = 4096  # bytes of what a function writes on stderr
SIZE = 4  # bytes that tell how many follow


class Request(Struct, frozen=True):
    """One call of a function, in the world of who has called."""

    name: str | None
    environment: dict[bytes, bytes]
    cwd: str | None
    umask: int
    given: bytes

    def enter(self) -> None:
        """Be in that world from now on."""
        os.environb.clear()
        os.environb.update(self.environment)
        if self.cwd is not None:
            os.chdir(self.cwd)
        if self.umask >= 0:
            os.umask(self.umask)


def encoded(request: Request) -> bytes:
    """A request as it goes to the process."""
    return framed(msgpack.encode(request))


def heard(line: int) -> Request:
    """The request, waited for; a line that breaks before ends us, for nobody wants anything."""
    found = bytearray()
    while (size := size_of(found)) is None or len(found) < SIZE + size:
        chunk = os.read(line, 1 << 20)
        if not chunk:
            raise SystemExit(0)
        found += chunk
    return msgpack.decode(found[SIZE:], type=Request)


def framed(data: bytes) -> bytes:
    """Bytes, and before them how many they are."""
    return pack("<I", len(data)) + data


def size_of(found: bytearray) -> int | None:
    """How many bytes there will be, once that is known."""
    return unpack("<I", found[:SIZE])[0] if len(found) >= SIZE else None
