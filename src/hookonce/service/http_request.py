"""HTTP/1.1 server connection: request parsing (RFC 9112), responses, keep-alive and timeouts.

Only what agents send is understood; whatever could be read in two ways is refused.
"""

import re
from typing import NamedTuple, Protocol

MAX_BODY_BYTES = 16 << 20  # bytes of a body
MAX_HEAD_BYTES = 16 << 10
_MAX_CHUNK_LINE_BYTES = 64  # bytes of the line that begins a chunk
_REQUEST_LINE = re.compile(rb"([A-Z]{1,16}) ([!-~]{1,2048}) HTTP/1\.([01])")
_HEADER_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([ \t!-~\x80-\xff]*)")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[ \t!-~]*)?")
_NUMBER = re.compile(r"[0-9]{1,16}")
_UNIQUE_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "authorization", "expect"})


class HttpError(Exception):
    """A request that is refused, with the HTTP status that says why."""

    def __init__(self, status: int, why: str, *header_lines: str) -> None:
        """`header_lines` are further lines of the response's head."""
        super().__init__(why)
        self.status, self.header_lines = status, header_lines


class RequestHead(NamedTuple):
    """Request line and headers; header names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    keep_alive: bool  # whether the connection is kept for another request


def parse_head(data: bytes) -> RequestHead:
    """Parse the head in these bytes, which end before the empty line."""
    first, *lines = data.split(b"\r\n")
    request_line = _REQUEST_LINE.fullmatch(first)
    if request_line is None:
        raise HttpError(400, "this is no request line")
    headers: dict[str, str] = {}
    for line in lines:
        field = _HEADER_LINE.fullmatch(line)
        name = field[1].decode().lower() if field else ""
        if field is None or (name in headers and name in _UNIQUE_HEADERS):
            raise HttpError(400, "a header that is none, or that can be there only once")
        headers[name] = field[2].decode("latin-1").rstrip()
    connection_options = {word.strip() for word in headers.get("connection", "").lower().split(",")}
    keep_alive = "close" not in connection_options if request_line[3] == b"1" else "keep-alive" in connection_options
    return RequestHead(request_line[1].decode(), request_line[2].decode(), headers, keep_alive)


class BodyReader(Protocol):
    """Reader that finds the end of a body."""

    def take(self, buffer: bytearray, /) -> bytes | None:
        """Remove the body from the buffer and return it; None while a part is missing."""


def body_reader_of(head: RequestHead) -> BodyReader:
    """The reader for the body after a head: sized or chunked."""
    length, coding = head.headers.get("content-length"), head.headers.get("transfer-encoding")
    if coding is not None and length is not None:
        raise HttpError(400, "two ways to tell where the body ends")
    if coding is not None:
        if coding.lower() != "chunked":
            raise HttpError(501, "only chunked bodies are understood")
        return ChunkedBody()
    if length is None:
        raise HttpError(411, "nothing says where the body ends")
    if _NUMBER.fullmatch(length) is None:
        raise HttpError(400, "a length that is no number")
    if int(length) > MAX_BODY_BYTES:
        raise HttpError(413, "a body of more than 16 MB")
    return SizedBody(int(length))


class SizedBody:
    """Reader of a body with Content-Length."""

    def __init__(self, size: int) -> None:
        """The length that the head says."""
        self._size = size

    def take(self, buffer: bytearray) -> bytes | None:
        """The body once it is whole."""
        if len(buffer) < self._size:
            return None
        body = bytes(buffer[: self._size])
        del buffer[: self._size]
        return body


class ChunkedBody:
    """Reader of a chunked body."""

    def __init__(self) -> None:
        """No chunk has come yet."""
        self._body = bytearray()
        self._remaining_bytes = -1  # bytes of the piece that is under way; -1: its size comes next
        self._is_last = False

    def take(self, buffer: bytearray) -> bytes | None:
        """The body once its last chunk has come; trailers are skipped."""
        while not self._is_last:
            if not (self._take_size(buffer) if self._remaining_bytes < 0 else self._take_chunk(buffer)):
                return None
        return self._take_trailer(buffer)

    def _take_size(self, buffer: bytearray) -> bool:
        end = buffer.find(b"\r\n", 0, _MAX_CHUNK_LINE_BYTES)
        if end < 0:
            if len(buffer) >= _MAX_CHUNK_LINE_BYTES or b"\n" in buffer[:-1]:
                raise HttpError(400, "a piece without a size")
            return False
        size_line = _CHUNK_SIZE.fullmatch(bytes(buffer[:end]))
        if size_line is None:
            raise HttpError(400, "a size that is no number")
        self._remaining_bytes = int(size_line[1], 16)
        if len(self._body) + self._remaining_bytes > MAX_BODY_BYTES:
            raise HttpError(413, "a body of more than 16 MB")
        del buffer[: end + 2]
        self._is_last = self._remaining_bytes == 0
        return True

    def _take_chunk(self, buffer: bytearray) -> bool:
        count = min(self._remaining_bytes, len(buffer))
        self._body += buffer[:count]
        del buffer[:count]
        self._remaining_bytes -= count
        if self._remaining_bytes or len(buffer) < 2:  # noqa: PLR2004  the end of a line
            return False
        if buffer[:2] != b"\r\n":
            raise HttpError(400, "a piece of another size than it says")
        del buffer[:2]
        self._remaining_bytes = -1
        return True

    def _take_trailer(self, buffer: bytearray) -> bytes | None:
        while (end := buffer.find(b"\r\n")) > 0:
            if end > MAX_HEAD_BYTES:
                raise HttpError(431, "too much is said behind the body")
            del buffer[: end + 2]
        if end < 0:
            if len(buffer) > MAX_HEAD_BYTES:
                raise HttpError(431, "too much is said behind the body")
            return None
        del buffer[:2]
        return bytes(self._body)
