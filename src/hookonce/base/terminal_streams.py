"""Output streams of commands, through which everything goes that is printed: texts of others can only be read.

One write is one line: line ends inside of it, and whatever a terminal would obey, are escaped. Documents go to
`buffer`, byte by byte where it is a file or a pipe. Colours and cursor moves of ours go to `unescaped_stream`.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from hookonce.base.terminal_text import escape_data, escape_line


class EscapingStream:
    """Text stream that escapes what is written to it."""

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
