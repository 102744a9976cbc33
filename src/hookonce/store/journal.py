"""The journal of a process that lives on: one spool file for many records, written without being opened anew.

What stands here survives the process. Somebody keeps it in the store when nobody waits; then the file begins anew.
"""

import os
from collections.abc import Callable, Iterable
from fcntl import LOCK_EX, flock
from hashlib import sha256
from pathlib import Path

from hookonce import ids
from hookonce.model import Stored
from hookonce.store import spool
from hookonce.store.entry import Entry
from hookonce.texts import dump

_FULL = 4 << 20  # bytes after which a new file begins
_REMEMBERED = 4096  # records that stand nowhere else
_MOST = 16 << 20  # bytes after which it does so in any case


class Journal:
    """A file that is ours alone, as long as we live."""

    def __init__(self) -> None:
        """Nothing is written yet, and no file is there."""
        self._handle: int | None = None
        self._path: Path | None = None
        self._lines = self._size = 0
        self._noted: set[str] = set()  # events of which only that they happened stands in the file
        self._unwritten: set[str] = set()  # events that stand nowhere but in our memory
        self._settles = False  # whether each line has to survive a loss of power
        self.kept: Callable[[Entry], object] = lambda _: None  # is told what is to be kept in the store
        self.forgotten: Callable[[str], object] = lambda _: None
        self.left: Callable[[], object] = lambda: None  # is told that a file is left for others to take up

    def append(self, record: Stored, /) -> bool:
        """Write a record; the later one of an event counts."""
        body = dump(record)
        done = self.write(body)
        if not done and record.event.id not in self._noted:
            spool.count_loss()
            if len(self._unwritten) >= _REMEMBERED:
                return False  # it is lost: memory is not the place for days on which nothing can be written
            self._unwritten.add(record.event.id)
        self._noted.discard(record.event.id)
        self.kept(Entry(record, body))  # a file that cannot be written keeps nothing out of the store
        return done

    def note(self, event: str, body: bytes) -> bool:
        """Write that an event happened, of which more will be known; whether that worked. Nothing is lost by that."""
        done = self.write(body)
        if done:
            self._noted.add(event)
        return done

    def forget(self, event: str, /) -> None:
        """What was written of an event was none of its own."""
        self.write(dump({"forget": event}))
        self._noted.discard(event)
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

    def found(self, events: Iterable[str]) -> None:
        """These are kept; of those that were taken for lost the count is taken back."""
        for event in self._unwritten.intersection(events) if self._unwritten else ():
            self._unwritten.discard(event)
            spool.count_loss(-1)

    def look(self) -> None:
        """From time to time: see how much a line has to survive, and that nobody has taken our file away."""
        self._settles = spool.is_full()
        if self._handle is not None and not os.fstat(self._handle).st_nlink:
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
            handle = self._opened() if self._handle is None or self._is_full() else self._handle
            line = b"%d %s %s\n" % (self._lines + 1, sha256(body).hexdigest().encode(), body)
            self._add(handle, line)
        except OSError:
            return False
        return True

    def _is_full(self) -> bool:
        """Whether the next line goes to a new file; what takes back a note has to stand in the same one, if it can."""
        return self._size >= (_MOST if self._noted else _FULL)

    def _opened(self) -> int:
        if self._handle is not None:
            self.close()
            self.left()
        self.look()
        spool.folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self._path = spool.folder() / f"{ids.fresh()}.jsonl"
        self._handle = os.open(self._path, flags, 0o600)
        flock(self._handle, LOCK_EX)  # nobody takes it up while we live
        self._lines = self._size = 0
        self._noted.clear()
        if self._settles:
            spool.settle(self._handle, self._path)
        return self._handle

    def _add(self, handle: int, line: bytes) -> None:
        """All of a line or nothing of it: half a record would only be in the way."""
        written = os.write(handle, line)
        if written != len(line):
            os.ftruncate(handle, self._size)
            raise OSError(None, "the disk is full")
        self._lines, self._size = self._lines + 1, self._size + written
        if self._settles:
            spool.settle(handle)
