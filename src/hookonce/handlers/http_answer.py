"""A server's answer, read from its line: no more of it than we want to hear, however much it has to say."""

from collections.abc import Callable

from msgspec import Struct

_HEAD = 1 << 16  # bytes of all headers together
_CHUNK = 1 << 16
_BODILESS = frozenset({204, 304})
_CONTINUE = range(100, 200)
_HEXADECIMAL = b"0123456789abcdefABCDEF"


class Broken(Exception):
    """What was heard is no answer."""


class Answer(Struct, frozen=True):
    """Status, headers by their lower-case names, and body."""

    status: int
    headers: dict[str, str]
    body: bytes


def read(hear: Callable[[int], bytes], limit: int, *, bodiless: bool = False) -> Answer:
    """The answer, whose body may have so many bytes."""
    source = _Source(hear, limit)
    status, headers = _head(source)
    while status in _CONTINUE:
        status, headers = _head(source)
    if bodiless or status in _BODILESS:
        return Answer(status, headers, b"")
    return Answer(status, headers, _body(source, headers))


class _Source:
    """What is heard, in pieces as they are needed."""

    def __init__(self, hear: Callable[[int], bytes], limit: int) -> None:
        self._hear, self.limit, self._rest = hear, limit, b""

    def line(self, most: int) -> bytes:
        while b"\n" not in self._rest:
            if len(self._rest) > most:
                raise Broken("the server's headers have no end")
            if not (more := self._hear(_CHUNK)):
                raise Broken("the server hung up without an answer" if not self._rest else "the answer was cut off")
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        return line.rstrip(b"\r")

    def exactly(self, count: int) -> bytes:
        while len(self._rest) < count:
            if not (more := self._hear(_CHUNK)):
                raise Broken("the answer was cut off")
            self._rest += more
        found, self._rest = self._rest[:count], self._rest[count:]
        return found

    def rest(self) -> bytes:
        while more := self._hear(_CHUNK):
            self._rest += more
            self.fits(len(self._rest))
        return self._rest

    def fits(self, count: int) -> None:
        if count > self.limit:
            raise Broken(f"the answer is longer than {self.limit:,} bytes")


def _head(source: _Source) -> tuple[int, dict[str, str]]:
    words = source.line(_HEAD).split(None, 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not (words[1].isdigit() and len(words[1]) == 3):  # noqa: PLR2004
        raise Broken("what answers there does not speak HTTP/1.1")
    headers: dict[str, str] = {}
    size = 0
    while line := source.line(_HEAD):
        size += len(line)
        if size > _HEAD:
            raise Broken("the server's headers have no end")
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    return int(words[1]), headers


def _body(source: _Source, headers: dict[str, str]) -> bytes:
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise Broken(f"the answer is packed ({headers['content-encoding']}), which nobody has asked for")
    coding = headers.get("transfer-encoding", "").lower()
    if coding == "chunked":
        return _chunks(source)
    if coding:
        raise Broken(f"the answer has an encoding that is not known, {coding}")
    length = headers.get("content-length")
    if length is None:
        return source.rest()
    if not (length.isascii() and length.isdigit()):
        raise Broken("the answer tells no length that could be understood")
    source.fits(int(length))
    return source.exactly(int(length))


def _chunks(source: _Source) -> bytes:
    parts: list[bytes] = []
    total = 0
    while True:
        size = _size(source.line(_HEAD).partition(b";")[0].strip())
        if size == 0:
            return b"".join(parts)  # what follows are further headers, which nobody reads
        total += size
        source.fits(total)
        parts.append(source.exactly(size))
        if source.line(_HEAD):
            raise Broken("the answer is cut in pieces that are longer than they tell")


def _size(text: bytes) -> int:
    if not text or not all(byte in _HEXADECIMAL for byte in text) or len(text) > len("7fffffffffffffff"):
        raise Broken("the answer is cut in pieces that tell no size")
    return int(text, 16)
