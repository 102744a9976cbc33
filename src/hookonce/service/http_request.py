"""A request as RFC 9112 has it: its head, how its body is measured, and why it is refused.

Only what agents send is understood; whatever could be read in two ways is refused.
"""

import re
from typing import NamedTuple, Protocol

MOST = 16 << 20  # bytes of a body
MOST_HEAD = 16 << 10
_MOST_SIZE = 64  # bytes of the line that begins a chunk
_LINE = re.compile(rb"([A-Z]{1,16}) ([!-~]{1,2048}) HTTP/1\.([01])")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([ \t!-~\x80-\xff]*)")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[ \t!-~]*)?")
_NUMBER = re.compile(r"[0-9]{1,16}")
_ONCE = frozenset({"host", "content-length", "transfer-encoding", "authorization", "expect"})


class Refused(Exception):
    """A request that is not answered, with the status that says why."""

    def __init__(self, status: int, why: str, *more: str) -> None:
        """`more` are further lines of the response's head."""
        super().__init__(why)
        self.status, self.more = status, more


class Head(NamedTuple):
    """What comes before the body; names of headers in small letters."""

    method: str
    target: str
    headers: dict[str, str]
    keeps: bool  # whether the connection is kept for another request


def head_of(data: bytes) -> Head:
    """The head in these bytes, which end before the empty line."""
    first, *lines = data.split(b"\r\n")
    found = _LINE.fullmatch(first)
    if found is None:
        raise Refused(400, "this is no request line")
    headers: dict[str, str] = {}
    for line in lines:
        field = _FIELD.fullmatch(line)
        name = field[1].decode().lower() if field else ""
        if field is None or (name in headers and name in _ONCE):
            raise Refused(400, "a header that is none, or that can be there only once")
        headers[name] = field[2].decode("latin-1").rstrip()
    said = {word.strip() for word in headers.get("connection", "").lower().split(",")}
    keeps = "close" not in said if found[3] == b"1" else "keep-alive" in said
    return Head(found[1].decode(), found[2].decode(), headers, keeps)


class Body(Protocol):
    """How the end of a body is found."""

    def take(self, heard: bytearray, /) -> bytes | None:
        """The body, taken away from what was heard; None while something is missing."""


def body_of(head: Head) -> Body:
    """How the body after a head is measured."""
    length, coding = head.headers.get("content-length"), head.headers.get("transfer-encoding")
    if coding is not None and length is not None:
        raise Refused(400, "two ways to tell where the body ends")
    if coding is not None:
        if coding.lower() != "chunked":
            raise Refused(501, "only chunked bodies are understood")
        return Chunked()
    if length is None:
        raise Refused(411, "nothing says where the body ends")
    if _NUMBER.fullmatch(length) is None:
        raise Refused(400, "a length that is no number")
    if int(length) > MOST:
        raise Refused(413, "a body of more than 16 MB")
    return Sized(int(length))


class Sized:
    """A body of so many bytes."""

    def __init__(self, size: int) -> None:
        """As the head says."""
        self._size = size

    def take(self, heard: bytearray) -> bytes | None:
        """The body once it is whole."""
        if len(heard) < self._size:
            return None
        body = bytes(heard[: self._size])
        del heard[: self._size]
        return body


class Chunked:
    """A body in pieces, each after its size; the last one is empty."""

    def __init__(self) -> None:
        """No piece has come yet."""
        self._whole = bytearray()
        self._left = -1  # bytes of the piece that is under way; -1: its size comes next
        self._is_last = False

    def take(self, heard: bytearray) -> bytes | None:
        """The body once its last piece has come; what may follow that one is passed over."""
        while not self._is_last:
            if not (self._sized(heard) if self._left < 0 else self._piece(heard)):
                return None
        return self._ended(heard)

    def _sized(self, heard: bytearray) -> bool:
        end = heard.find(b"\r\n", 0, _MOST_SIZE)
        if end < 0:
            if len(heard) >= _MOST_SIZE or b"\n" in heard[:-1]:
                raise Refused(400, "a piece without a size")
            return False
        found = _SIZE.fullmatch(bytes(heard[:end]))
        if found is None:
            raise Refused(400, "a size that is no number")
        self._left = int(found[1], 16)
        if len(self._whole) + self._left > MOST:
            raise Refused(413, "a body of more than 16 MB")
        del heard[: end + 2]
        self._is_last = self._left == 0
        return True

    def _piece(self, heard: bytearray) -> bool:
        """Take a piece as it comes, and the end of line behind it."""
        some = min(self._left, len(heard))
        self._whole += heard[:some]
        del heard[:some]
        self._left -= some
        if self._left or len(heard) < 2:  # noqa: PLR2004  the end of a line
            return False
        if heard[:2] != b"\r\n":
            raise Refused(400, "a piece of another size than it says")
        del heard[:2]
        self._left = -1
        return True

    def _ended(self, heard: bytearray) -> bytes | None:
        while (end := heard.find(b"\r\n")) > 0:
            if end > MOST_HEAD:
                raise Refused(431, "too much is said behind the body")
            del heard[: end + 2]
        if end < 0:
            if len(heard) > MOST_HEAD:
                raise Refused(431, "too much is said behind the body")
            return None
        del heard[:2]
        return bytes(self._whole)
