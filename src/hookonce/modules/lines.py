"""JSON documents, one to a line: how they are written, found in a stream of bytes, and read."""

from msgspec import DecodeError
from msgspec.json import Decoder

from hookonce.model import Json
from hookonce.modules.protocol import MAX_MESSAGE_BYTES
from hookonce.texts import dump
from hookonce.texts import load as load_text

_decode = Decoder().decode


def encode_line(document: Json) -> bytes:
    """Encode a document as one line of JSON."""
    return dump(document) + b"\n"


def decode_line(line: bytes) -> Json:
    """Decode one line of JSON; a ValueError where it is none."""
    try:
        try:
            return _decode(line)
        except (DecodeError, UnicodeEncodeError):
            return load_text(line.decode())
    except RecursionError:
        raise ValueError("nested too deeply") from None


class LineBuffer:
    """Buffer that splits a byte stream into lines of bounded length."""

    def __init__(self, limit: int = MAX_MESSAGE_BYTES) -> None:
        self.partial = bytearray()
        self._limit, self._skipping = limit, False

    def feed(self, chunk: bytes) -> list[bytes | None]:
        """The lines that a chunk completes; None, once, for a line that is longer than the limit."""
        if chunk and not self.partial and not self._skipping and chunk.find(b"\n") == len(chunk) - 1:
            return [chunk[:-1] if len(chunk) <= self._limit else None]
        lines: list[bytes | None] = []
        *complete_parts, tail = chunk.split(b"\n")
        for part in complete_parts:
            self._add(part, lines)
            if not self._skipping:
                lines.append(bytes(self.partial))
            self.partial, self._skipping = bytearray(), False
        self._add(tail, lines)
        return lines

    def _add(self, part: bytes, lines: list[bytes | None]) -> None:
        if self._skipping:
            return
        self.partial += part
        if len(self.partial) > self._limit:
            self.partial, self._skipping = bytearray(), True
            lines.append(None)
