"""The journal of a process that lives on: one spool file for many records, written without being opened anew.

What stands here survives the process. Somebody keeps it in the store when nobody waits; then the file begins anew.
"""

import os
from collections.abc import Callable
from fcntl import LOCK_EX, flock
from hashlib import sha256
from pathlib import Path

from hookonce import ids
from hookonce.model import Stored
from hookonce.store import spool
from hookonce.store.entry import Entry
from hookonce.texts import dump

_FULL = 4 << 20  # bytes after which a new file begins


class Journal:
    """A file that is ours alone, as long as we live."""

    def __init__(self) -> None:
        """Nothing is written yet, and no file is there."""
        self._handle: int | None = None
        self._path: Path | None = None
        self._lines = self._size = 0
        self._noted: set[str] = set()  # events of which only that they happened stands in the file
        self.kept: Callable[[Entry], object] = lambda _: None  # is told what is to be kept in the store
        self.forgotten: Callable[[str], object] = lambda _: None

    def append(self, record: Stored, /) -> bool:
        """Write a record; the later one of an event counts."""
        body = dump(record)
        done = self.write(body)
        self._noted.discard(record.event.id)
        self.kept(Entry(record, body))  # a file that cannot be written keeps nothing out of the store
        return done

    def note(self, event: str, body: bytes) -> bool:
        """Write that an event happened, of which more will be known; whether that worked."""
        done = self.write(body)
        if done:
            self._noted.add(event)
        return done

    def forget(self, event: str, /) -> None:
        """What was written of an event was none of its own."""
        self._noted.discard(event)
        self.write(dump({"forget": event}))
        self.forgotten(event)

    def has(self, event: str, /) -> bool:  # noqa: ARG002  as the other spool has it
        """One process writes one after the other: what was decided was written."""
        return True

    def close(self) -> None:
        """Write no more."""
        if self._handle is not None:
            if not self._size and self._path is not None:
                self._path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = None

    def begin_anew(self) -> None:
        """Everything that was written is kept elsewhere, unless somebody has still to say what an event was."""
        if self._handle is not None and self._size and not self._noted:
            os.ftruncate(self._handle, 0)
            self._lines = self._size = 0

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
        self._path = spool.folder() / f"{ids.fresh()}.jsonl"
        self._handle = os.open(self._path, flags, 0o600)
        flock(self._handle, LOCK_EX)  # nobody takes it up while we live
        self._lines = self._size = 0
        self._noted.clear()
        return self._handle

    def _add(self, handle: int, line: bytes) -> None:
        """All of a line or nothing of it: half a record would only be in the way."""
        written = os.write(handle, line)
        if written != len(line):
            os.ftruncate(handle, self._size)
            raise OSError(None, "the disk is full")
        self._lines, self._size = self._lines + 1, self._size + written
