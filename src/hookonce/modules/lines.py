"""JSON documents, one to a line: how they are written, found in a stream of bytes, and read."""

from msgspec import DecodeError
from msgspec.json import Decoder

from hookonce.model import Json
from hookonce.modules.protocol import LIMIT
from hookonce.texts import dump
from hookonce.texts import load as load_text

_decode = Decoder().decode


def line_of(document: Json) -> bytes:
    """The document as a line."""
    return dump(document) + b"\n"


def document_of(line: bytes) -> Json:
    """The document of a line; a ValueError where it is none."""
    try:
        try:
            return _decode(line)
        except (DecodeError, UnicodeEncodeError):
            return load_text(line.decode())
    except RecursionError:
        raise ValueError("nested too deeply") from None


class Lines:
    """What has come of a line so far."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.rest = bytearray()
        self._limit, self._skipping = limit, False

    def feed(self, chunk: bytes) -> list[bytes | None]:
        """The lines that a chunk completes; None, once, for a line that is longer than the limit."""
        if chunk and not self.rest and not self._skipping and chunk.find(b"\n") == len(chunk) - 1:
            return [chunk[:-1] if len(chunk) <= self._limit else None]
        found: list[bytes | None] = []
        *ends, last = chunk.split(b"\n")
        for part in ends:
            self._add(part, found)
            if not self._skipping:
                found.append(bytes(self.rest))
            self.rest, self._skipping = bytearray(), False
        self._add(last, found)
        return found

    def _add(self, part: bytes, found: list[bytes | None]) -> None:
        if self._skipping:
            return
        self.rest += part
        if len(self.rest) > self._limit:
            self.rest, self._skipping = bytearray(), True
            found.append(None)
