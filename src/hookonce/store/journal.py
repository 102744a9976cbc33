"""The journal of a process that lives on: one spool file for many records, written without being opened anew."""

import os
from hashlib import sha256

from hookonce import ids
from hookonce.model import Stored
from hookonce.store import spool
from hookonce.texts import dump

_FULL = 4 << 20  # bytes after which a new file begins


class Journal:
    """A file that is ours alone, as long as we live."""

    def __init__(self) -> None:
        """Nothing is written yet, and no file is there."""
        self._handle: int | None = None
        self._lines = self._size = 0

    def append(self, record: Stored, /) -> bool:
        """Write a record; the later one of an event counts."""
        return self.write(dump(record))

    def forget(self, event: str, /) -> None:
        """What was written of an event was none of its own."""
        self.write(dump({"forget": event}))

    def has(self, event: str, /) -> bool:  # noqa: ARG002  as the other spool has it
        """One process writes one after the other: what was decided was written."""
        return True

    def close(self) -> None:
        """Write no more."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def write(self, body: bytes) -> bool:
        """Write a record that is in its bytes already; whether that worked."""
        try:
            handle = self._handle if self._handle is not None and self._size < _FULL else self._opened()
            line = b"%d %s %s\n" % (self._lines + 1, sha256(body).hexdigest().encode(), body)
            self._add(handle, line)
        except OSError:
            spool.count_loss()
            return False
        return True

    def _opened(self) -> int:
        self.close()
        spool.folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self._handle = os.open(spool.folder() / f"{ids.fresh()}.jsonl", flags, 0o600)
        self._lines = self._size = 0
        return self._handle

    def _add(self, handle: int, line: bytes) -> None:
        """All of a line or nothing of it: half a record would only be in the way."""
        written = os.write(handle, line)
        if written != len(line):
            os.ftruncate(handle, self._size)
            raise OSError(None, "the disk is full")
        self._lines, self._size = self._lines + 1, self._size + written
