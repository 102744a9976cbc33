"""Spool files: records of processes without a database connection, one file per event, lines numbered and hashed.

Records are redacted before. The last line of a file counts. A record that cannot be written is counted as lost,
and never delays an answer (ADR 0024).
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from fcntl import LOCK_EX, flock
from hashlib import sha256
from pathlib import Path

from hookonce.base import paths, settings
from hookonce.base.jsontext import dump
from hookonce.base.regex import lazy_pattern
from hookonce.base.runtime_dir import candidate_dirs
from hookonce.errors import HookonceError
from hookonce.model import Stored
from hookonce.store.entry import try_decode_record

_FORGET_LINE = lazy_pattern(rb'\d+ [0-9a-f]{64} \{"forget":"([0-9A-Za-z-]+)"\}')


def spool_dir() -> Path:
    """The folder of the spool files."""
    return paths.data_dir() / "spool"


def append(record: Stored) -> bool:
    """Append a record to the file of its event; returns whether that worked, and counts it as lost if not."""
    is_written = _write_record(record)
    if not is_written:
        count_lost_record()
    return is_written


def append_placeholder(record: Stored) -> bool:
    """Append the placeholder of a record that follows; returns whether that worked. If not, nothing is lost yet."""
    return _write_record(record)


def _write_record(record: Stored) -> bool:
    body = dump(record)
    try:
        paths.make_private_dir(spool_dir())
        _append_line(_event_file(record.event.id), sha256(body).hexdigest().encode() + b" " + body + b"\n")
    except OSError:
        return False
    return True


def _append_line(path: Path, line: bytes) -> None:
    """A whole line or nothing."""
    handle = _open_locked(path)
    with os.fdopen(handle, "r+b") as file:
        content = file.read()
        length = content.rfind(b"\n") + 1  # below it lies what somebody was killed in writing, or had no room for
        try:
            file.seek(length)
            file.truncate()
            file.write(b"%d " % (content.count(b"\n") + 1) + line)
            file.flush()
            if is_sync_required():
                sync_file(handle, None if length else path)
        except OSError:
            with suppress(OSError):
                os.ftruncate(handle, length)
                if not length:
                    path.unlink()
            raise


def is_sync_required() -> bool:
    """Whether a write has to be synced to the disk before an answer (durability `full`)."""
    return settings.load().durability == "full"


def sync_file(handle: int, new_file: Path | None = None) -> None:
    """Sync a file to the disk, and its folder if the file is new."""
    os.fdatasync(handle)
    if new_file is not None:
        parent_handle = os.open(new_file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(parent_handle)
        finally:
            os.close(parent_handle)


def _open_locked(path: Path) -> int:
    """A file that was ingested meanwhile is unlinked: open it again."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        flock(handle, LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle
        os.close(handle)


def forget(event: str) -> None:
    """Remove what was written of an event."""
    with suppress(OSError):
        _event_file(event).unlink()


def _event_file(event: str) -> Path:
    return spool_dir() / f"{event}.jsonl"


def count_lost_record(delta: int = 1) -> None:
    """Count a lost record, or one that was found again (-1). The count is the length of an empty file.

    Even a full disk takes that; where the data directory cannot be written at all, a file in /tmp counts.
    """
    for loss_file in (_loss_file, fallback_loss_file):
        with suppress(OSError, HookonceError):
            if _add_count(loss_file(), delta):
                return


def _add_count(path: Path, delta: int) -> bool:
    """Change a count, unless it would be less than nothing: then it was counted elsewhere."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "r+b") as file:
        flock(file, LOCK_EX)
        count = os.fstat(handle).st_size + delta
        if count >= 0:
            os.ftruncate(handle, count)
        return count >= 0


def lost_record_count() -> int:
    """How many records could not be written."""
    total = 0
    for loss_file in (_loss_file, fallback_loss_file):
        with suppress(OSError, HookonceError):
            status = loss_file().lstat()
            total += status.st_size if status.st_uid == os.getuid() else 0
    return total


def _loss_file() -> Path:
    return paths.data_dir() / "lost"


def fallback_loss_file() -> Path:
    """The file that counts lost records while the data directory cannot be written; nothing else depends on it."""
    return Path(f"/tmp/hookonce-lost-{os.getuid()}-{candidate_dirs(paths.home(), paths.data_dir())[-1].name}")  # noqa: S108


def count_conflict() -> None:
    """Count an event whose id another event has."""
    with suppress(OSError, HookonceError):
        _add_count(_conflict_file(), 1)


def conflict_count() -> int:
    """How many events came with an id that another event has."""
    try:
        return _conflict_file().lstat().st_size
    except (OSError, HookonceError):
        return 0


def _conflict_file() -> Path:
    return paths.data_dir() / "conflicts"


def load_records() -> Iterator[Stored]:
    """All records of the spool, oldest first."""
    records_by_id: dict[str, Stored] = {}
    for file in sorted(spool_dir().glob("*.jsonl")):  # ids begin with the time
        for line in _read_lines(file):
            record = _parse_record(line)
            if record is not None:
                previous = records_by_id.get(record.event.id)
                if previous is None or _via_count(record) >= _via_count(previous):  # who came second knows both
                    records_by_id[record.event.id] = record
            elif (match := _FORGET_LINE.fullmatch(line)) is not None:
                records_by_id.pop(match[1].decode(), None)
    return iter(sorted(records_by_id.values(), key=arrival_key))


def arrival_key(record: Stored) -> tuple[str, str]:
    """Sort key of records by the time at which they came in."""
    return record.event.received or record.event.time, record.event.id


def _via_count(record: Stored) -> int:
    return len(record.event.origin.via or ()) if record.event.origin is not None else 0


def load_last_record(event: str) -> Stored | None:
    """The last intact record of an event."""
    lines = reversed(_read_lines(_event_file(event)))
    return next((record for record in map(_parse_record, lines) if record is not None), None)


def find_in_journal(journal: Path, event: str) -> Stored | None:
    """The last intact record of an event in a file that holds those of many."""
    lines = (line for line in reversed(_read_lines(journal)) if event.encode() in line)
    records = (record for record in map(_parse_record, lines) if record is not None)
    return next((record for record in records if record.event.id == event), None)


def _read_lines(file: Path) -> list[bytes]:
    try:
        return file.read_bytes().splitlines()
    except OSError:
        return []


def has(event: str) -> bool:
    """Whether a record of an event was written."""
    return load_last_record(event) is not None


def parse_line(line: bytes) -> tuple[bytes | None, str | None]:
    """The body of a line, or the event that it withdraws; (None, None) if its hash is wrong."""
    if (match := _FORGET_LINE.fullmatch(line)) is not None:
        return None, match[1].decode()
    _, body_hash, body = (*line.split(b" ", 2), b"", b"")[:3]
    return (body, None) if sha256(body).hexdigest().encode() == body_hash else (None, None)


def _parse_record(line: bytes) -> Stored | None:
    return try_decode_record(parse_line(line)[0])
