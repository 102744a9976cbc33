"""Spool journal of the daemon: one locked spool file for many records, truncated when they are in the store.

A full file is kept, locked, until the records in it are in the store, and is then removed: it is read again only if
this process is killed before.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from fcntl import LOCK_EX, flock
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from hookonce.base import ids, paths
from hookonce.base.jsontext import dump
from hookonce.model import Stored
from hookonce.store.entry import StoreEntry
from hookonce.store.spool import files

_ROTATE_BYTES = 4 << 20  # bytes after which a new file begins
_MAX_UNWRITTEN_EVENTS = 4096  # records that stand nowhere else
_MAX_FILE_BYTES = 16 << 20  # bytes after which it does so in any case


class _FullFile(Struct, frozen=True):
    """A file in which nothing more is written, and its events that are not in the store yet."""

    handle: int
    path: Path
    unstored_ids: set[str]


class SpoolJournal:
    """A spool file of this process alone, and those before it with records that are not in the store yet."""

    def __init__(
        self,
        on_record: Callable[[StoreEntry], object] = lambda _: None,
        on_forget: Callable[[str], object] = lambda _: None,
        on_rotate: Callable[[], bool] = lambda: False,
    ) -> None:
        """No file is created before the first line.

        `on_record` gets what is to be stored, `on_forget` the id of a withdrawn event; `on_rotate` is called when a
        file is full, and says whether its records have to be ingested from there, because nobody else has them.
        """
        self._on_record, self._on_forget, self._on_rotate = on_record, on_forget, on_rotate
        self._handle: int | None = None
        self._path: Path | None = None
        self._lines = self._size = 0
        self._placeholder_ids: set[str] = set()  # events of which only that they happened stands in the file
        self._unstored_ids: set[str] = set()  # events in the file that are not in the store
        self._full_files: list[_FullFile] = []
        self._unwritten_ids: set[str] = set()  # events that stand nowhere but in our memory
        self._needs_sync = False  # whether each line has to survive a loss of power

    @property
    def path(self) -> Path | None:
        """The file that is being written."""
        return None if self._handle is None else self._path

    def append(self, record: Stored, /) -> bool:
        """Write a record; the last one of an event counts."""
        body = dump(record)
        is_written = self.write_body(body)
        if not is_written and record.event.id not in self._placeholder_ids:
            files.count_lost_record()
            if len(self._unwritten_ids) >= _MAX_UNWRITTEN_EVENTS:
                return False  # it is lost: memory is not the place for days on which nothing can be written
            self._unwritten_ids.add(record.event.id)
        if is_written:
            self._unstored_ids.add(record.event.id)
        self._placeholder_ids.discard(record.event.id)
        self._on_record(StoreEntry(record, body))  # a file that cannot be written keeps nothing out of the store
        return is_written

    def append_placeholder(self, event_id: str, body: bytes) -> bool:
        """Write a placeholder of an event that will be completed; returns whether it was written."""
        return self.append_placeholders([(event_id, body)])

    def append_placeholders(self, placeholders: Sequence[tuple[str, bytes]]) -> bool:
        """Write placeholders of several events at once; all of them, or none."""
        is_written = self._write_bodies([body for _, body in placeholders])
        if is_written:
            event_ids = [event_id for event_id, _ in placeholders]
            self._placeholder_ids.update(event_ids)
            self._unstored_ids.update(event_ids)
        return is_written

    def forget(self, event: str, /) -> None:
        """Withdraw what was written of an event."""
        self.write_body(dump({"forget": event}))
        self._placeholder_ids.discard(event)
        self._discard_ids([event])
        self._on_forget(event)

    def has(self, event: str, /) -> bool:  # noqa: ARG002  as the other spool has it
        """One process writes one after the other: what was decided was written."""
        return True

    def close(self) -> None:
        """Close all files, of which others ingest what is not in the store; an empty one is removed."""
        self._leave_full_files()
        if self._handle is not None:
            if not self._size and self._path is not None:
                self._path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = None

    def confirm_stored(self, event_ids: Iterable[str]) -> None:
        """These events are in the store: those counted as lost are subtracted again, and files without others go."""
        stored_ids = list(event_ids)
        for event_id in self._unwritten_ids.intersection(stored_ids) if self._unwritten_ids else ():
            self._unwritten_ids.discard(event_id)
            files.count_lost_record(-1)
        self._discard_ids(stored_ids)

    def _discard_ids(self, event_ids: list[str]) -> None:
        self._unstored_ids.difference_update(event_ids)
        for full_file in self._full_files[:]:
            full_file.unstored_ids.difference_update(event_ids)
            if not full_file.unstored_ids:
                full_file.path.unlink(missing_ok=True)
                os.close(full_file.handle)
                self._full_files.remove(full_file)

    def _leave_full_files(self) -> None:
        """Let others ingest what is in full files."""
        while self._full_files:
            os.close(self._full_files.pop().handle)

    def refresh(self) -> None:
        """Reload the durability setting, and drop a file that was unlinked."""
        self._needs_sync = files.is_sync_required()
        if self._handle is not None and not os.fstat(self._handle).st_nlink:
            os.close(self._handle)
            self._handle = None

    def truncate(self) -> None:
        """Truncate the file: all its records are in the store. Does nothing while a placeholder is in it."""
        if self._handle is not None and self._size and not self._placeholder_ids:
            os.ftruncate(self._handle, 0)
            self._lines = self._size = 0
            self._unstored_ids.clear()

    def write_body(self, body: bytes) -> bool:
        """Write the JSON bytes of a record; returns whether that worked."""
        return self._write_bodies([body])

    def _write_bodies(self, bodies: Sequence[bytes]) -> bool:
        try:
            # Rotation waits for placeholders: what withdraws one should stand in the same file.
            is_full = self._size >= (_MAX_FILE_BYTES if self._placeholder_ids else _ROTATE_BYTES)
            handle = self._open_file() if self._handle is None or is_full else self._handle
            numbers = range(self._lines + 1, self._lines + 1 + len(bodies))
            pairs = zip(numbers, bodies, strict=True)
            lines = [b"%d %s %s\n" % (number, sha256(body).hexdigest().encode(), body) for number, body in pairs]
            self._append_lines(handle, lines)
        except OSError:
            return False
        return True

    def _open_file(self) -> int:
        if self._handle is not None and self._path is not None:
            self._full_files.append(_FullFile(self._handle, self._path, self._unstored_ids))
            self._handle = None
            if self._on_rotate():
                self._leave_full_files()
            self._discard_ids([])
        self.refresh()
        paths.make_private_dir(files.spool_dir())
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self._path = files.spool_dir() / f"{ids.new_id()}.jsonl"
        self._handle = os.open(self._path, flags, 0o600)
        flock(self._handle, LOCK_EX)  # nobody takes it up while we live
        self._lines = self._size = 0
        self._placeholder_ids, self._unstored_ids = set(), set()
        if self._needs_sync:
            files.sync_file(self._handle, self._path)
        return self._handle

    def _append_lines(self, handle: int, lines: list[bytes]) -> None:
        """Whole lines or nothing."""
        text = b"".join(lines)
        byte_count = os.write(handle, text)
        if byte_count != len(text):
            os.ftruncate(handle, self._size)
            raise OSError(None, "the disk is full")
        self._lines, self._size = self._lines + len(lines), self._size + byte_count
        if self._needs_sync:
            files.sync_file(handle)
