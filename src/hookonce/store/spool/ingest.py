"""Spool ingestion: records in spool files become rows of the store, and the files are removed."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from time import time

from msgspec import Struct

from hookonce.model import Stored
from hookonce.store.entry import StoreEntry, decode_entry
from hookonce.store.spool import files

_BATCH_FILES = 128  # files in one transaction, all of them open; some systems allow no more than 256
_MAX_DEFERRED_FILES = 64  # incomplete files that are looked at where only some are ingested
_SETTLE_TIME_S = 60.0  # after which nobody completes a placeholder any more
_ORPHAN_TIME_S = 2.0  # the same for a journal whose daemon is gone
_DAMAGED_SUFFIX = ".damaged"


class IngestResult(Struct, frozen=True):
    """New records, files with damaged lines, and calls of which only a placeholder was written so far."""

    new_records: int = 0
    damaged_files: int = 0
    pending_calls: int = 0


class _SpoolFile(Struct, frozen=True):
    """A locked spool file and its entries; it stays while calls in it are incomplete."""

    path: Path
    entries: list[StoreEntry]
    is_sound: bool
    handle: int
    pending_calls: int = 0


def ingest_spool(store_entries: Callable[[list[StoreEntry]], int], max_files: int | None = None) -> IngestResult:
    """Ingest files that nobody writes, oldest first, or the first `max_files`; a file goes once its rows are stored."""
    new_records = damaged_files = 0
    pending_by_path: dict[Path, int] = {}
    while spool_files := list(_iter_spool_files(max_files or _BATCH_FILES, pending_by_path)):
        try:
            new_records += store_entries(_merge_entries(spool_files))
            for spool_file in spool_files:
                if _remove_file(spool_file):
                    damaged_files += not spool_file.is_sound
                else:
                    pending_by_path[spool_file.path] = spool_file.pending_calls
        finally:
            for spool_file in spool_files:
                os.close(spool_file.handle)
        if max_files is not None:
            break
    return IngestResult(new_records, damaged_files, sum(pending_by_path.values()))


def _merge_entries(spool_files: list[_SpoolFile]) -> list[StoreEntry]:
    """Of an event in several files, a full record wins over a placeholder."""
    entries_by_id: dict[str, StoreEntry] = {}
    for entry in (entry for spool_file in spool_files for entry in spool_file.entries):
        previous = entries_by_id.get(entry.record.event.id)
        if previous is None or _is_placeholder(previous.record):
            entries_by_id[entry.record.event.id] = entry
    return list(entries_by_id.values())


def _iter_spool_files(max_files: int, pending_by_path: dict[Path, int]) -> Iterator[_SpoolFile]:
    """Files that can be ingested now; incomplete ones are added to `pending_by_path`."""
    file_count, initial_count = 0, len(pending_by_path)
    for path in (files.spool_dir() / name for name in _list_file_names()):
        spool_file = None if path in pending_by_path else _open_spool_file(path)
        if spool_file is not None and spool_file.pending_calls and not spool_file.entries:
            pending_by_path[path] = spool_file.pending_calls
            os.close(spool_file.handle)
        elif spool_file is not None:
            file_count += 1
            yield spool_file
        deferred_files = len(pending_by_path) - initial_count
        if file_count == max_files or (max_files < _BATCH_FILES and deferred_files == _MAX_DEFERRED_FILES):
            return


def _list_file_names() -> list[str]:
    try:
        return sorted(name for name in os.listdir(files.spool_dir()) if name.endswith(".jsonl"))  # noqa: PTH208
    except OSError:
        return []


def _open_spool_file(path: Path) -> _SpoolFile | None:
    """None for a file that somebody writes, or that is empty and new."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        flock(handle, LOCK_EX | LOCK_NB)
        entries_by_id, is_sound = _read_entries(path)
        if path.exists() and (entries_by_id or not is_sound or _is_old(path, _SETTLE_TIME_S)):
            ready_entries = [entry for entry in entries_by_id.values() if not _is_incomplete(path, entry)]
            return _SpoolFile(path, ready_entries, is_sound, handle, len(entries_by_id) - len(ready_entries))
    except OSError:
        pass
    os.close(handle)
    return None


def _read_entries(path: Path) -> tuple[dict[str, StoreEntry], bool]:
    """The last entry of each event, and whether every line matches its hash."""
    entries_by_id: dict[str, StoreEntry] = {}
    is_sound = True
    complete_lines, _, _ = path.read_bytes().rpartition(b"\n")  # behind it stands what somebody was killed in writing
    for line in complete_lines.splitlines():
        body, forgotten_id = files.parse_line(line)
        if forgotten_id is not None:
            entries_by_id.pop(forgotten_id, None)
        elif body is None:
            is_sound = False
        else:
            try:
                entry = decode_entry(body)
                entries_by_id[entry.record.event.id] = entry
            except ValueError:  # written whole, and no record of ours
                is_sound = False
    return entries_by_id, is_sound


def _is_incomplete(path: Path, entry: StoreEntry) -> bool:
    """Whether somebody is about to complete a placeholder: in a file of one call, but not in a journal of the dead."""
    settle_time_s = _SETTLE_TIME_S if path.stem == entry.record.event.id else _ORPHAN_TIME_S
    return _is_placeholder(entry.record) and not _is_old(path, settle_time_s)


def _is_placeholder(record: Stored) -> bool:
    return any(gap.capability == "record" and gap.strategy == "later" for gap in record.gaps)


def _is_old(path: Path, seconds: float) -> bool:
    return abs(time() - path.stat().st_mtime) > seconds


def _remove_file(spool_file: _SpoolFile) -> bool:
    """A damaged file is renamed instead of removed. Returns whether it is gone."""
    if spool_file.pending_calls:
        return False
    with suppress(OSError):
        if spool_file.is_sound:
            spool_file.path.unlink()
        else:
            spool_file.path.rename(spool_file.path.with_suffix(_DAMAGED_SUFFIX))
        return True
    return False
