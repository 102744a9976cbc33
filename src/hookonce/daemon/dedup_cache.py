"""Deduplication cache of the daemon: entries of recent calls in memory, shared ones on disk.

A call that hooks ran for is written to disk right after its answer, or while they run if that takes long, because
one-shot processes read and write there too: a file that exists is changed there, under its lock. Of a call that
concerned no hook nothing is written: at worst its two entries are two records, if one of them came without the daemon.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from time import sleep

from hookonce.base.jsontext import dump
from hookonce.dispatch import dedup
from hookonce.dispatch.dedup import DedupEntries, DedupEntry, PageBusyError

_MAX_CALLS = 4096  # calls that are remembered
_MAX_LOCK_ATTEMPTS, _LOCK_POLL_S = 5, 0.001  # at a page that somebody holds, and the seconds between them


class DedupCache:
    """Deduplication entries by key that are not on disk, newest last; as JSON, a third of what they are as objects."""

    def __init__(self) -> None:
        self._folder = str(dedup.dedup_file("").parent.absolute())
        self._pages: dict[str, bytes] = {}
        self._unwritten: set[str] = set()

    def __call__(self, key: str, update: Callable[[DedupEntries], DedupEntries]) -> DedupEntries:
        """Update the entries of a key with a function; the new entries."""
        page_path, stored_page = f"{self._folder}/{dedup.page_name(key)}", []
        if os.access(page_path, os.F_OK):  # seldom, and somebody waits
            try:
                return self._update_on_disk(key, update)
            except OSError as problem:
                stored_page = _read_page(page_path, key)
                if isinstance(problem, BlockingIOError) and not stored_page and key not in self._pages:
                    raise PageBusyError("another process writes the page") from problem
        new_page = update(_merge_pages(stored_page, self._load_page(key)))
        self._pages.pop(key, None)
        if new_page:
            self._pages[key] = dump(new_page)
            self._unwritten.add(key)
        if len(self._pages) > _MAX_CALLS:
            self._pages.pop(next(iter(self._pages)))
        return new_page

    def _load_page(self, key: str) -> DedupEntries:
        return dedup.decode_entries(self._pages[key]) if key in self._pages else []

    def flush(self) -> None:
        """Write entries to disk that other processes have to know; what cannot be written stays in memory."""
        for key in self._unwritten:
            if any(map(_is_significant, self._load_page(key))):
                with suppress(OSError):
                    self._update_on_disk(key, lambda page: page)
        self._unwritten.clear()

    def evict_expired(self) -> None:
        """Evict entries that are too old."""
        for key in list(self._pages):
            if not all(map(dedup.is_expired, self._load_page(key))):
                return
            del self._pages[key]

    def _update_on_disk(self, key: str, update: Callable[[DedupEntries], DedupEntries]) -> DedupEntries:
        """The same on disk, where all entries of the key are from then on."""
        path = f"{self._folder}/{dedup.page_name(key)}"
        own_page = self._load_page(key)
        new_page = dedup.update_page(path, key, lambda page: update(_merge_pages(page, own_page)), _try_lock)
        self._pages.pop(key, None)
        return new_page


def _try_lock(fd: int) -> None:
    """Wait briefly for the lock of a file: whoever holds it may have been stopped, and too many wait for us."""
    for _ in range(_MAX_LOCK_ATTEMPTS):
        with suppress(BlockingIOError):
            flock(fd, LOCK_EX | LOCK_NB)
            return
        sleep(_LOCK_POLL_S)
    raise BlockingIOError("somebody holds the page")


def _read_page(page_path: str, key: str) -> DedupEntries:
    try:
        return dedup.parse_entries(Path(page_path).read_bytes(), key)
    except OSError:
        return []


def _merge_pages(stored_page: DedupEntries, own_page: DedupEntries) -> DedupEntries:
    """Merge two lists of entries: for calls that this process decides ours count, for others those on disk."""
    if not own_page:
        return stored_page
    own_entries = {entry.first_id: entry for entry in own_page}
    pairs = [(entry, own_entries.pop(entry.first_id, entry)) for entry in stored_page]
    return [own_entry if own_entry.pid == os.getpid() else stored_entry for stored_entry, own_entry in pairs] + list(
        own_entries.values()
    )


def _is_significant(entry: DedupEntry) -> bool:
    """Whether hooks ran for a call, or it is not decided yet."""
    decision = entry.decided
    return decision is None or bool(decision.runs) or decision.decision.outcome is not None
