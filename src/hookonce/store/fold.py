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

_AT_ONCE = 128  # files in one transaction, all of them open; some systems allow no more than 256
_LOOKS = 64  # at files whose calls wait, where only some are taken up
_SETTLES = 60.0  # seconds after which nobody writes more about a call of which only that it happened is known
_LEFT = 2.0  # seconds after which nobody does who is not the daemon that wrote it: a client that went on without it
_DAMAGED = ".damaged"


class Folded(Struct, frozen=True):
    """How many records are new, how many files hold lines that are not what was written, and how many calls wait.

    Of those that wait it is known that they happened, and somebody may be about to write what they were.
    """

    records: int = 0
    damaged: int = 0
    waiting: int = 0


class _Page(Struct, frozen=True):
    """A spool file: what it tells, whether all of it could be read, and the handle that keeps others away.

    While some of its calls wait, the file stays.
    """

    path: Path
    entries: list[Entry]
    sound: bool
    handle: int
    waiting: int = 0


def fold(keep: Callable[[list[Entry]], int], most: int | None = None) -> Folded:
    """Take up every file that nobody writes any more, oldest first, or the first `most` of them.

    A file goes when its rows are there.
    """
    records = damaged = 0
    waiting: dict[Path, int] = {}
    while pages := list(_pages(most or _AT_ONCE, waiting)):
        try:
            records += keep(_known(pages))
            gone = [_done(page) for page in pages]
            damaged += sum(not page.sound for page, done in zip(pages, gone, strict=True) if done)
            waiting |= {page.path: page.waiting for page, done in zip(pages, gone, strict=True) if not done}
        finally:
            for page in pages:
                os.close(page.handle)
        if most is not None:
            break
    return Folded(records, damaged, sum(waiting.values()))


def _known(pages: list[_Page]) -> list[Entry]:
    """What these files tell; of an event that stands in several, what tells most."""
    found: dict[str, Entry] = {}
    for one in (one for page in pages for one in page.entries):
        before = found.get(one.record.event.id)
        if before is None or _is_note(before.record):
            found[one.record.event.id] = one
    return list(found.values())


def _pages(most: int, seen: dict[Path, int]) -> Iterator[_Page]:
    """Files that can be taken up now, and were not looked at before; those that have to wait are noted as seen."""
    taken, waiting = 0, len(seen)
    for path in (spool.folder() / name for name in _names()):
        page = None if path in seen else _page(path)
        if page is not None and page.waiting and not page.entries:
            seen[path] = page.waiting
            os.close(page.handle)
        elif page is not None:
            taken += 1
            yield page
        if taken == most or (most < _AT_ONCE and len(seen) - waiting == _LOOKS):
            return


def _names() -> list[str]:
    """The names of all spool files, oldest first; there may be very many of them."""
    try:
        return sorted(name for name in os.listdir(spool.folder()) if name.endswith(".jsonl"))  # noqa: PTH208
    except OSError:
        return []


def _page(path: Path) -> _Page | None:
    """A file, held against others; None for one that somebody writes, or in which nothing stands yet."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        flock(handle, LOCK_EX | LOCK_NB)
        known, sound = _entries(path)
        if path.exists() and (known or not sound or _is_old(path, _SETTLES)):
            ready = [one for one in known.values() if not _may_grow(path, one)]
            return _Page(path, ready, sound, handle, len(known) - len(ready))
    except OSError:
        pass
    os.close(handle)
    return None


def _entries(path: Path) -> tuple[dict[str, Entry], bool]:
    """What a file tells of each event in the end, and whether every line of it is what was written."""
    known: dict[str, Entry] = {}
    sound = True
    whole, _, _ = path.read_bytes().rpartition(b"\n")  # behind it stands what somebody was killed in writing
    for line in whole.splitlines():
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


def _may_grow(path: Path, one: Entry) -> bool:
    """Whether somebody is about to write what a call was, of which only that it happened stands there.

    A file of one call is completed by a process that nobody waits for; nobody completes the journal of one who is gone.
    """
    return _is_note(one.record) and not _is_old(path, _SETTLES if path.stem == one.record.event.id else _LEFT)


def _is_note(record: Stored) -> bool:
    return any(gap.capability == "record" and gap.strategy == "later" for gap in record.gaps)


def _is_old(path: Path, seconds: float) -> bool:
    """Whether nobody has written there for so long; a time that has not come yet was told by a clock that was wrong."""
    return abs(time() - path.stat().st_mtime) > seconds


def _done(page: _Page) -> bool:
    """A file that was read goes; one with lines that nobody can read is kept aside. Whether it is gone."""
    if page.waiting:
        return False
    with suppress(OSError):
        if page.sound:
            page.path.unlink()
        else:
            page.path.rename(page.path.with_suffix(_DAMAGED))
        return True
    return False
