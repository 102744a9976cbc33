"""Worker protocol: the frames between a worker client and a worker.

A request is its length, its number, whether the worker ends after it, and a `WorkerRequest`; a length of 0 tells the
worker that nobody needs it any more. A response is that number, whether the worker ends now, and a result frame
(`supervise/hook_results.py`).
"""

import os
from collections.abc import Mapping
from struct import Struct as Packed

from msgspec import Struct, msgpack

from hookonce.handlers.operation import OperationResult
from hookonce.handlers.supervise.hook_results import parse_result

MAX_STDERR_BYTES = 4096  # bytes of what a function writes on stderr
_HEADER, _RESPONSE_HEADER = Packed("<2I?"), Packed("<I?")
_CHUNK_BYTES = 1 << 16
DISMISSAL = _HEADER.pack(0, 0, 1)


class WorkerRequest(Struct, frozen=True, array_like=True):
    """One call of a function, with the caller's environment, directory and umask."""

    name: str | None
    environment: bytes  # encoded apart: it is mostly that of the call before
    cwd: str | None
    umask: int
    payload: bytes
    claim: tuple[str, int] | None = None  # file and client's pid of the claim by which the result outlives the daemon
    timeout_s: float = 0.0


def encode_environment(environment: Mapping[str, str]) -> bytes:
    """Encode variables."""
    return msgpack.encode({os.fsencode(name): os.fsencode(value) for name, value in environment.items()})


def decode_environment(data: bytes) -> dict[bytes, bytes]:
    """Decode variables."""
    return msgpack.decode(data, type=dict[bytes, bytes])


def encode_request(number: int, request: bytes, *, is_last: bool) -> bytes:
    """Frame of an encoded request."""
    return _HEADER.pack(len(request), number, is_last) + request


_decode_request = msgpack.Decoder(WorkerRequest).decode


def receive_request(fd: int) -> tuple[int, WorkerRequest, bool] | None:
    """Receive the number of a request, it, and whether it is the last, blocking; None if there is none any more.

    ConnectionError if the client has hung up without a word.
    """
    buffer = bytearray()
    while len(buffer) < _HEADER.size or len(buffer) < _HEADER.size + _HEADER.unpack_from(buffer)[0]:
        chunk = os.read(fd, _CHUNK_BYTES)
        if not chunk:
            raise ConnectionError("the client has hung up")
        buffer += chunk
        if buffer == DISMISSAL:
            return None
    _, number, is_last = _HEADER.unpack_from(buffer)
    return number, _decode_request(memoryview(buffer)[_HEADER.size :]), is_last


def encode_response(number: int, result: bytes, *, is_last: bool) -> bytes:
    """Frame of a result, and whether the worker ends now."""
    return _RESPONSE_HEADER.pack(number, is_last) + result


def parse_response(data: bytearray) -> tuple[int, OperationResult, bool] | None:
    """Number of a request, its result, and whether the worker ends now; None while the frame is not whole."""
    result = parse_result(data[_RESPONSE_HEADER.size :])
    if result is None:
        return None
    number, is_last = _RESPONSE_HEADER.unpack_from(data)
    return number, result, is_last
