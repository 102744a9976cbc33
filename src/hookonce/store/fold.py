"""Folding: what processes without a store have written into spool files becomes rows, and the files go."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from time import time

from msgspec import Struct

from hookonce.model import Stored
from hookonce.store import spool
from hookonce.store.entry import Entry, read

_AT_ONCE = 512  # files in one transaction
_SETTLES = 60.0  # seconds after which nobody writes more about a call of which only that it happened is known
_DAMAGED = ".damaged"


class Folded(Struct, frozen=True):
    """How many records are new, and how many files hold lines that are not what was written."""

    records: int = 0
    damaged: int = 0


class _Page(Struct, frozen=True):
    """A spool file: what it tells, whether all of it could be read, and the handle that keeps others away."""

    path: Path
    entries: list[Entry]
    sound: bool
    handle: int


def fold(keep: Callable[[list[Entry]], int], most: int | None = None) -> Folded:
    """Take up every file that nobody writes any more, oldest first, or the first `most` of them.

    A file goes when its rows are there.
    """
    records = damaged = 0
    while pages := list(_pages(most or _AT_ONCE)):
        try:
            records += keep([one for page in pages for one in page.entries])
            gone = [_done(page) for page in pages]
            damaged += sum(not page.sound for page in pages)
        finally:
            for page in pages:
                os.close(page.handle)
        if most is not None or not any(gone):
            break
    return Folded(records, damaged)


def _pages(most: int) -> Iterator[_Page]:
    taken = 0
    for path in sorted(spool.folder().glob("*.jsonl")):
        page = _page(path)
        if page is not None:
            taken += 1
            yield page
        if taken == most:
            return


def _page(path: Path) -> _Page | None:
    """A file, held against others; None for one that somebody writes, or that is not settled."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        flock(handle, LOCK_EX | LOCK_NB)
        known, sound = _entries(path)
        if path.exists() and (known or not sound or _is_old(path)) and not _may_grow(path, known):
            return _Page(path, list(known.values()), sound, handle)
    except OSError:
        pass
    os.close(handle)
    return None


def _entries(path: Path) -> tuple[dict[str, Entry], bool]:
    """What a file tells of each event in the end, and whether every line of it is what was written."""
    known: dict[str, Entry] = {}
    sound = True
    for line in path.read_bytes().splitlines():
        body, forgotten = spool.told(line)
        if forgotten is not None:
            known.pop(forgotten, None)
        elif body is None:
            sound = False
        else:
            try:
                one = read(body)
            except ValueError:  # written whole, and no record of ours
                sound = False
            else:
                known[one.record.event.id] = one
    return known, sound


def _may_grow(path: Path, known: dict[str, Entry]) -> bool:
    """Whether somebody is about to write what a call was, of which only that it happened stands there."""
    return any(map(_is_note, (one.record for one in known.values()))) and not _is_old(path)


def _is_note(record: Stored) -> bool:
    return any(gap.capability == "record" and gap.strategy == "later" for gap in record.gaps)


def _is_old(path: Path) -> bool:
    return time() - path.stat().st_mtime > _SETTLES


def _done(page: _Page) -> bool:
    """A file that was read goes; one with lines that nobody can read is kept aside. Whether it is gone."""
    with suppress(OSError):
        if page.sound:
            page.path.unlink()
        else:
            page.path.rename(page.path.with_suffix(_DAMAGED))
        return True
    return False
