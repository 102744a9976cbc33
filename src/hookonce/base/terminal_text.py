"""Texts and output streams for a terminal, texts for CSV: escaping of what comes from others, counts with their nouns.

Printable is what Unicode calls so: control characters (C0, C1), direction marks, invisible and unassigned characters
are shown as their escapes.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

_FORMULA_STARTS = tuple("=+-@＝＋－＠|%")  # with which a cell is a formula, or a command, to some spreadsheet


def escape_unprintable(text: str) -> str:
    """Escape a text to one line, with nothing in it that a terminal would obey or hide."""
    return text if text.isprintable() else "".join(map(_escape_char, text))


def _escape_char(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode()


def escape_line(text: str) -> str:
    """Escape what is written as one line: its tabs and the line ends around it stay, those inside are escaped."""
    if text.isprintable() or not (line := text.strip("\n")):
        return text
    before, _, after = text.partition(line)
    return before + "".join(char if char == "\t" else _escape_char(char) for char in line) + after


def escape_data(text: str) -> str:
    """Escape a document for a terminal, line by line; JSON stays the same JSON."""
    return "".join(char if char.isprintable() or char in "\n\t" else _escape_json_char(char) for char in text)


def _escape_json_char(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def escape_csv_cell(value: Any) -> Any:
    """Escape a cell of CSV: one line, and no formula to a spreadsheet; numbers stay numbers."""
    if type(value) is not str:
        return value
    text = escape_unprintable(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA_STARTS) else text


def pluralize(count: int, noun: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


class EscapingStream:
    """Text stream through which everything goes that a command prints: texts of others can only be read.

    One write is one line: line ends inside of it, and whatever a terminal would obey, are escaped. Documents go to
    `buffer`, byte by byte where it is a file or a pipe. Colours and cursor moves of ours go to `unescaped_stream`.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.buffer: Any = _EscapingBuffer(stream) if stream.isatty() else getattr(stream, "buffer", None)

    def write(self, text: str) -> int:
        """Write one line, or a part of one."""
        self.stream.write(escape_line(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of these as one line."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _EscapingBuffer:
    """Bytes for a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> int:
        self._stream.write(escape_data(data.decode(errors="backslashreplace")))
        return len(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def escaping_streams() -> Iterator[None]:
    """Let stdout and stderr escape, for as long as a command runs."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (EscapingStream(stream) for stream in streams)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


def unescaped_stream(stream: TextIO) -> TextIO:
    """The stream itself, for what we have put together of escaped texts and of sequences of our own."""
    return stream.stream if isinstance(stream, EscapingStream) else stream
