"""HTTP/1.1 server connection: request parsing (RFC 9112), responses, keep-alive and timeouts.

Only what agents send is understood; whatever could be read in two ways is refused.
"""

import re
import socket
from time import gmtime, strftime
from typing import NamedTuple, Protocol

from hookonce.base.event_loop import READ, EventLoop
from hookonce.base.jsontext import dump
from hookonce.daemon.stream import BufferedStream
from hookonce.secrets import log

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


_REASON_PHRASES = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    411: "Length Required",
    413: "Content Too Large",
    421: "Misdirected Request",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
}
CONTINUE_RESPONSE = b"HTTP/1.1 100 Continue\r\n\r\n"


def build_response(status: int, body: bytes, *header_lines: str, keep_alive: bool) -> bytes:
    """Build a whole response; `header_lines` are further lines of its head."""
    lines = [
        f"HTTP/1.1 {status} {_REASON_PHRASES[status]}",
        strftime("Date: %a, %d %b %Y %H:%M:%S GMT", gmtime()),
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *header_lines,
        *([] if keep_alive else ["Connection: close"]),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def error_body(message: str) -> bytes:
    """JSON body of an error."""
    return dump({"error": message})


# Seconds. Agents keep a connection for four or five of them; one that we close first could swallow a request.
_IDLE_TIMEOUT_S, _HEAD_TIMEOUT_S, _BODY_TIMEOUT_S, _LINGER_TIMEOUT_S = 120.0, 10.0, 30.0, 2.0
_BARE_LF = re.compile(rb"(?<!\r)\n")


class HttpRequestHandler(Protocol):
    """Handler of the requests of a connection."""

    def authorize(self, head: RequestHead, /) -> None:
        """Raise HttpError for a request that is not allowed."""

    def handle_request(self, connection: "HttpConnection", head: RequestHead, body: bytes, /) -> None:
        """Answer a whole request, now or later."""


class HttpConnection(BufferedStream):
    """Keep-alive connection of one HTTP client; `is_authorized` once one of its requests was authorized."""

    def __init__(self, loop: EventLoop, sock: socket.socket, handler: HttpRequestHandler) -> None:
        """No request has come yet."""
        super().__init__(loop, sock)
        self._handler, self._buffer = handler, bytearray()
        self._head: RequestHead | None = None
        self._body: BodyReader | None = None
        self._stage = ""
        self.is_busy, self.is_authorized = False, False
        self._is_processing, self._ignores_input = False, False
        self.keep_alive = True

    def feed(self, chunk: bytes) -> None:
        """Append input: a part of a request, or several."""
        if not self._ignores_input:
            self._buffer += chunk
            self._process_buffer()

    def _process_buffer(self) -> None:
        self._is_processing = True
        try:
            while self.is_open and not self._ignores_input and self._process_request():
                pass
        except HttpError as refusal:
            self.keep_alive = False
            self.respond(refusal.status, error_body(str(refusal)), *refusal.header_lines)
        except Exception as error:  # noqa: BLE001  nobody who knocks shall end the daemon for everybody
            log.write(f"http: {log.format_trace(error)}")
            self.close()
        finally:
            self._is_processing = False

    def _process_request(self) -> bool:
        """Process one request; whether the next one may be processed."""
        if self.is_busy:
            if len(self._buffer) > MAX_HEAD_BYTES:  # it can wait where it is until we have answered
                self.pause()
            return False
        if self._head is None and not self._read_head():
            return False
        body = self._body.take(self._buffer) if self._body is not None else b""
        if body is None or self._head is None:
            self._wait_stage("body", _BODY_TIMEOUT_S)
            return False
        head, self._head, self._stage = self._head, None, ""
        self.clear_deadline()
        self.is_busy, self.keep_alive = True, head.keep_alive
        self.watch(READ)
        self._handler.handle_request(self, head, body)
        return not self.is_busy

    def _read_head(self) -> bool:
        """Whether there is the head of an authorized request."""
        while self._buffer.startswith(b"\r\n"):
            del self._buffer[:2]
        if not self._buffer:
            self._wait_stage("idle", _IDLE_TIMEOUT_S)
            return False
        end = self._buffer.find(b"\r\n\r\n", 0, MAX_HEAD_BYTES)
        if _BARE_LF.search(self._buffer, 0, end if end >= 0 else MAX_HEAD_BYTES):
            raise HttpError(400, "a line that ends in nothing but a line feed")
        if end < 0:
            if len(self._buffer) >= MAX_HEAD_BYTES:
                raise HttpError(431, "a head of more than 16 KB")
            self._wait_stage("head", _HEAD_TIMEOUT_S)
            return False
        head = parse_head(bytes(self._buffer[:end]))
        del self._buffer[: end + 4]
        self._handler.authorize(head)
        self._head, self._body, self.is_authorized = head, body_reader_of(head), True
        if head.headers.get("expect", "").lower() == "100-continue" and not self._buffer:
            self.send(CONTINUE_RESPONSE)
        return True

    def _wait_stage(self, stage: str, seconds: float) -> None:
        """Wait for one stage of a request, with one deadline for the whole stage."""
        if self._stage != stage:
            self._stage = stage
            self.clear_deadline()
        self.wait_for(READ, seconds)

    def respond(self, status: int, body: bytes, *header_lines: str) -> None:
        """Respond to the active request."""
        self.is_busy, self._stage = False, ""
        if not self.is_open:
            return
        self.send(build_response(status, body, *header_lines, keep_alive=self.keep_alive), last=not self.keep_alive)
        if not self._is_processing:
            self._process_buffer()

    def finish(self) -> None:
        """Shut down our side only and linger: a client that is cut off while it sends does not read the answer."""
        self._ignores_input = True
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.close()
            return
        self.clear_deadline()
        self.wait_for(READ, _LINGER_TIMEOUT_S)
