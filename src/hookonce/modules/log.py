"""What a module says beside its answers: the last of it is kept."""

from collections import deque
from threading import Lock

_KEPT = 64 << 10  # bytes
_PIECE = 8 << 10
_SHOWN = 200  # characters of a line


class Log:
    """The end of what was said, in pieces."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._pieces: deque[bytes] = deque()
        self._size, self._kept, self._lock = 0, kept, Lock()
        self._said = self._before = 0  # bytes, ever and until a call began

    def add(self, said: bytes) -> None:
        """Keep this, and of what came before as much as there is room for."""
        with self._lock:
            self._said += len(said)
            for start in range(max(0, len(said) - self._kept), len(said), _PIECE):
                piece = said[start : start + _PIECE]
                self._pieces.append(piece)
                self._size += len(piece)
            while self._size > self._kept:
                self._size -= len(self._pieces.popleft())

    def text(self) -> str:
        """Everything that is left."""
        with self._lock:
            return b"".join(self._pieces).decode(errors="replace")

    def begin(self, pid: int) -> None:
        """Note that the module was started."""
        self.add(f"[started: {pid}]\n".encode())

    def turn(self) -> None:
        """A call begins: what was said before is not about it."""
        with self._lock:
            self._before = self._said

    def last(self) -> str:
        """The last line that it has said since it was started, or since a call began, for people."""
        with self._lock:
            fresh = self._said - self._before
            said = b"".join(self._pieces)[-fresh:] if fresh else b""
        for line in reversed(said.decode(errors="replace").split("\n")):
            if line.startswith("[started: "):
                break
            if line.strip():
                return line.strip()[:_SHOWN]
        return ""
