"""Blocking HTTP/1.1 client for a forked child: one request, bounded response, one redirect on the same host.

Proxies are ignored: the environment is that of whoever started the agent. Plain HTTP goes to loopback only and
never through a name server; elsewhere TLS with a verified certificate is required.
"""

from collections.abc import Callable

from msgspec import Struct

_MAX_HEAD_BYTES = 1 << 16  # bytes of all headers together
_CHUNK_BYTES = 1 << 16
_BODILESS_STATUSES = frozenset({204, 304})
_INFORMATIONAL_STATUSES = range(100, 200)
_HEX_DIGITS = b"0123456789abcdefABCDEF"


class InvalidResponse(Exception):
    """The response is invalid or cut off."""


class HttpResponse(Struct, frozen=True):
    """Status, headers by their lower-case names, and body."""

    status: int
    headers: dict[str, str]
    body: bytes


def read_response(receive: Callable[[int], bytes], limit: int, *, bodiless: bool = False) -> HttpResponse:
    """Read a response whose body may have so many bytes."""
    buffer = _ResponseBuffer(receive, limit)
    status, headers = _read_head(buffer)
    while status in _INFORMATIONAL_STATUSES:
        status, headers = _read_head(buffer)
    if bodiless or status in _BODILESS_STATUSES:
        return HttpResponse(status, headers, b"")
    return HttpResponse(status, headers, _read_body(buffer, headers))


class _ResponseBuffer:
    """Buffered reader of a response."""

    def __init__(self, receive: Callable[[int], bytes], limit: int) -> None:
        self._receive, self.limit, self._buffer = receive, limit, b""

    def read_line(self, max_bytes: int) -> bytes:
        while b"\n" not in self._buffer:
            if len(self._buffer) > max_bytes:
                raise InvalidResponse("the server's headers have no end")
            if not (chunk := self._receive(_CHUNK_BYTES)):
                raise InvalidResponse("the server hung up without an answer" if not self._buffer else "the answer was cut off")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.rstrip(b"\r")

    def read_exactly(self, count: int) -> bytes:
        while len(self._buffer) < count:
            if not (chunk := self._receive(_CHUNK_BYTES)):
                raise InvalidResponse("the answer was cut off")
            self._buffer += chunk
        data, self._buffer = self._buffer[:count], self._buffer[count:]
        return data

    def read_rest(self) -> bytes:
        while chunk := self._receive(_CHUNK_BYTES):
            self._buffer += chunk
            self.check_size(len(self._buffer))
        return self._buffer

    def check_size(self, count: int) -> None:
        if count > self.limit:
            raise InvalidResponse(f"the answer is longer than {self.limit:,} bytes")


def _read_head(buffer: _ResponseBuffer) -> tuple[int, dict[str, str]]:
    words = buffer.read_line(_MAX_HEAD_BYTES).split(None, 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not (words[1].isdigit() and len(words[1]) == 3):  # noqa: PLR2004
        raise InvalidResponse("what answers there does not speak HTTP/1.1")
    headers: dict[str, str] = {}
    size = 0
    while line := buffer.read_line(_MAX_HEAD_BYTES):
        size += len(line)
        if size > _MAX_HEAD_BYTES:
            raise InvalidResponse("the server's headers have no end")
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    return int(words[1]), headers


def _read_body(buffer: _ResponseBuffer, headers: dict[str, str]) -> bytes:
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise InvalidResponse(f"the answer is packed ({headers['content-encoding']}), which nobody has asked for")
    coding = headers.get("transfer-encoding", "").lower()
    if coding == "chunked":
        return _read_chunks(buffer)
    if coding:
        raise InvalidResponse(f"the answer has an encoding that is not known, {coding}")
    length = headers.get("content-length")
    if length is None:
        return buffer.read_rest()
    if not (length.isascii() and length.isdigit()):
        raise InvalidResponse("the answer tells no length that could be understood")
    buffer.check_size(int(length))
    return buffer.read_exactly(int(length))


def _read_chunks(buffer: _ResponseBuffer) -> bytes:
    parts: list[bytes] = []
    total = 0
    while True:
        size = _parse_chunk_size(buffer.read_line(_MAX_HEAD_BYTES).partition(b";")[0].strip())
        if size == 0:
            return b"".join(parts)  # what follows are further headers, which nobody reads
        total += size
        buffer.check_size(total)
        parts.append(buffer.read_exactly(size))
        if buffer.read_line(_MAX_HEAD_BYTES):
            raise InvalidResponse("the answer is cut in pieces that are longer than they tell")


def _parse_chunk_size(text: bytes) -> int:
    if not text or not all(byte in _HEX_DIGITS for byte in text) or len(text) > len("7fffffffffffffff"):
        raise InvalidResponse("the answer is cut in pieces that tell no size")
    return int(text, 16)
