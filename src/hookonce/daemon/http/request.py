"""HTTP request as the daemon receives it: h11 parses head and body, and what could be read in two ways is refused."""

import re

import h11

from hookonce.daemon.http.connection import MAX_HEAD_BYTES, HttpError, RequestHead

MAX_BODY_BYTES = 16 << 20
_MAX_METHOD_BYTES, _MAX_TARGET_BYTES = 16, 2048
_UNIQUE_HEADERS = frozenset({b"host", b"content-length", b"transfer-encoding", b"authorization", b"expect"})
# h11 takes all of these: a lone CR or LF, a folded header, control characters, a list of lengths.
_AMBIGUOUS_HEAD = re.compile(
    rb"(?i)\r(?!\n)|(?<!\r)\n|\n[ \t]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\ncontent-length:[^\r]*,"
)
_AMBIGUOUS_CHUNK = re.compile(rb"(?<!\r)\n|\A[0-9A-Fa-f]{17}")  # a size with no end, or that ends in a lone LF
# Status and text for an error of h11, by how its message begins.
_REFUSALS = {
    "illegal request line": (400, "this is not a request line"),
    "Missing mandatory Host": (421, "this machine has another name"),
    "bad Content-Length": (400, "a length that is not a number"),
    "Only Transfer-Encoding": (501, "only chunked bodies are understood"),
    "illegal chunk header": (400, "a size that is not a number"),
    "malformed chunk footer": (400, "a chunk whose size is wrong"),
    "Receive buffer too long": (431, "there is too much data after the body"),
}
_INVALID_HEADER = (400, "an invalid header, or one that may occur only once")


class IncomingRequest:
    """One request: its head, and its body once that is whole; `trailing_data` is what came behind it."""

    def __init__(self, head: bytes) -> None:
        """Parse the bytes of a head, with the empty line at its end."""
        names = [line.partition(b":")[0].lower() for line in head.split(b"\r\n")[1:]]
        if _AMBIGUOUS_HEAD.search(head) or any(names.count(name) > 1 for name in _UNIQUE_HEADERS):
            raise HttpError(*_INVALID_HEADER)
        self._parser = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
        self._parser.receive_data(head)
        self._body, self.trailing_data = bytearray(), b""
        self.head = _build_head(self._next_event())

    def check_framing(self) -> None:
        """Refuse a request that does not say where its body ends, or says it twice, or whose body is too long."""
        length, coding = (self.head.headers.get(name) for name in ("content-length", "transfer-encoding"))
        if coding is not None and length is not None:
            raise HttpError(400, "two ways to tell where the body ends")
        if coding is None and length is None:
            raise HttpError(411, "nothing says where the body ends")
        self._check_size(int(length or 0))

    def feed(self, data: bytes) -> bytes | None:
        """The body, once all of it has come; trailers are skipped."""
        if data:
            self._parser.receive_data(data)
        while not isinstance(event := self._next_event(), h11.EndOfMessage):
            if not isinstance(event, h11.Data):
                if _AMBIGUOUS_CHUNK.search(self._parser.trailing_data[0]):
                    raise HttpError(400, "a chunk without a size")
                return None
            self._body += event.data
            self._check_size(len(self._body))
        self.trailing_data = self._parser.trailing_data[0]
        return bytes(self._body)

    def _next_event(self) -> object:
        try:
            return self._parser.next_event()
        except h11.RemoteProtocolError as error:
            message = str(error)
            refusal = next(
                (value for prefix, value in _REFUSALS.items() if message.startswith(prefix)), _INVALID_HEADER
            )
            raise HttpError(*refusal) from None

    def _check_size(self, count: int) -> None:
        if count > MAX_BODY_BYTES:
            raise HttpError(413, "a body of more than 16 MB")


def _build_head(event: object) -> RequestHead:
    if (
        not isinstance(event, h11.Request)
        or event.http_version not in {b"1.0", b"1.1"}
        or not (event.method.isupper() and len(event.method) <= _MAX_METHOD_BYTES)
        or len(event.target) > _MAX_TARGET_BYTES
    ):
        raise HttpError(400, "this is not a request line")
    headers = {name.decode(): value.decode("latin-1") for name, value in event.headers}
    options = {word.strip() for word in headers.get("connection", "").lower().split(",")}
    keep_alive = "close" not in options if event.http_version == b"1.1" else "keep-alive" in options
    return RequestHead(event.method.decode(), event.target.decode(), headers, keep_alive)
