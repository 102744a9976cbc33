"""Tail of a module's stderr, which explains why a call has failed."""

from collections import deque
from threading import Lock

START_MARK = "[started: "  # how the line begins that stands before all that a process writes
_MAX_TAIL_BYTES = 64 << 10  # bytes
_PIECE_BYTES = 8 << 10
_MAX_LINE_CHARS = 200  # characters of a line


class StderrTail:
    """Tail of a module's stderr, in pieces, of bounded size."""

    def __init__(self) -> None:
        self._pieces, self._size, self._lock = deque[bytes](), 0, Lock()
        self._total_bytes = self._call_start = 0  # bytes, ever and until a call began

    def add(self, chunk: bytes) -> None:
        """Append a chunk, and drop the oldest pieces beyond the limit."""
        with self._lock:
            self._total_bytes += len(chunk)
            for start in range(max(0, len(chunk) - _MAX_TAIL_BYTES), len(chunk), _PIECE_BYTES):
                piece = chunk[start : start + _PIECE_BYTES]
                self._pieces.append(piece)
                self._size += len(piece)
            while self._size > _MAX_TAIL_BYTES:
                self._size -= len(self._pieces.popleft())

    def mark_call(self) -> None:
        """Mark the start of a call: what was written before is not about it."""
        with self._lock:
            self._call_start = self._total_bytes

    def last_line(self) -> str:
        """The last line since the process started, or since the call started, for people."""
        with self._lock:
            new_bytes = self._total_bytes - self._call_start
            tail = b"".join(self._pieces)[-new_bytes:] if new_bytes else b""
        for line in reversed(tail.decode(errors="replace").split("\n")):
            if line.startswith(START_MARK):
                break
            if line.strip():
                return line.strip()[:_MAX_LINE_CHARS]
        return ""

    def last_words(self) -> str:
        """That line at the end of a sentence; nothing where there is none."""
        return f"; it said last: {line}" if (line := self.last_line()) else ""
