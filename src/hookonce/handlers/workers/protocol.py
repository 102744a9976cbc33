"""Worker protocol: the request frame between a worker client and a prefork worker."""

import os
from struct import pack, unpack

from msgspec import Struct, msgpack

MAX_STDERR_BYTES = 4096  # bytes of what a function writes on stderr
SIZE_PREFIX_BYTES = 4  # bytes that tell how many follow


class WorkerRequest(Struct, frozen=True):
    """One call of a function, with the caller's environment, directory and umask."""

    name: str | None
    environment: dict[bytes, bytes]
    cwd: str | None
    umask: int
    payload: bytes
    claim: tuple[str, int] | None = None  # file and client's pid of the claim by which the result outlives the daemon
    timeout_s: float = 0.0

    def apply(self) -> None:
        """Apply them to this process."""
        os.environb.clear()
        os.environb.update(self.environment)
        if self.cwd is not None:
            os.chdir(self.cwd)
        if self.umask >= 0:
            os.umask(self.umask)


def receive_request(fd: int) -> WorkerRequest:
    """Receive a request, blocking; exits if the client hangs up before."""
    buffer = bytearray()
    while (size := frame_size_of(buffer)) is None or len(buffer) < SIZE_PREFIX_BYTES + size:
        chunk = os.read(fd, 1 << 20)
        if not chunk:
            raise SystemExit(0)
        buffer += chunk
    return msgpack.decode(buffer[SIZE_PREFIX_BYTES:], type=WorkerRequest)


def encode_frame(data: bytes) -> bytes:
    """Prefix bytes with their length."""
    return pack("<I", len(data)) + data


def frame_size_of(buffer: bytearray) -> int | None:
    """Length of the frame's content, once its prefix is there."""
    return unpack("<I", buffer[:SIZE_PREFIX_BYTES])[0] if len(buffer) >= SIZE_PREFIX_BYTES else None
