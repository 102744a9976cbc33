"""The book of doors of one who answers many calls: what others may have to know stands on the disk, the rest in memory.

A call stands on the disk as soon as hooks are asked, and whoever answers without us reads and writes there too: a page
that lies there is changed there, while nobody else can. Of a call that concerned nobody nothing is written: its two
doors are two records at worst, if one of them came without us.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from os.path import exists
from pathlib import Path
from time import sleep

from hookonce.runtime import twice
from hookonce.runtime.folder import change
from hookonce.runtime.twice import Page, Seen
from hookonce.texts import dump

_MOST = 4096  # calls that are remembered
_LOOKS, _POLL = 5, 0.001  # at a page that somebody holds, and the seconds between them


class Doors:
    """What is known of each call and does not stand on the disk, newest last."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._folder = str(twice.file("").absolute())
        self._known: dict[str, Page] = {}
        self._unwritten: set[str] = set()

    def __call__(self, key: str, new: Callable[[Page], Page]) -> Page:
        """What is known of a key, changed by a function."""
        page, written = f"{self._folder}/{key}", []
        if exists(page):  # noqa: PTH110  seldom, and somebody waits
            with suppress(OSError):
                return self._changed(key, new)
            written = _read(page)
        made = new(_together(written, self._known.pop(key, [])))
        if made:
            self._known[key] = made
            self._unwritten.add(key)
        if len(self._known) > _MOST:
            self._known.pop(next(iter(self._known)))
        return made

    def write(self) -> None:
        """Let everybody know; what cannot be written is known here."""
        for key in self._unwritten:
            if any(map(_concerns, self._known.get(key, []))):
                with suppress(OSError):
                    self._changed(key, lambda page: page)
        self._unwritten.clear()

    def forget(self) -> None:
        """Forget what nobody will ask for any more."""
        for key in list(self._known):
            if not all(map(twice.is_past, self._known[key])):
                return
            del self._known[key]

    def _changed(self, key: str, new: Callable[[Page], Page]) -> Page:
        """The same on the disk, where from now on all stands that is known of the key."""
        path = Path(self._folder, key)
        with suppress(FileNotFoundError):
            _wait_for(path)
        mine = self._known.get(key, [])
        made = twice.read(change(path, lambda data: dump(new(_together(twice.read(data), mine)))))
        self._known.pop(key, None)
        return made


def _wait_for(path: Path) -> None:
    """Wait for whoever holds a page, but not for one who was stopped meanwhile: too many wait for us."""
    with path.open("rb") as file:
        for _ in range(_LOOKS):
            with suppress(BlockingIOError):
                flock(file, LOCK_EX | LOCK_NB)
                return
            sleep(_POLL)
    raise BlockingIOError("somebody holds the page")


def _read(page: str) -> Page:
    """What somebody without us has written."""
    try:
        return twice.read(Path(page).read_bytes())
    except OSError:
        return []


def _together(written: Page, known: Page) -> Page:
    """Two pages as one: of a call that is ours to decide we know best, of all others whoever wrote last."""
    if not known:
        return written
    mine = {one.first: one for one in known}
    both = [(one, mine.pop(one.first, one)) for one in written]
    return [ours if ours.pid == os.getpid() else theirs for theirs, ours in both] + list(mine.values())


def _concerns(seen: Seen) -> bool:
    """Whether somebody was asked about a call, or it is not decided yet."""
    decided = seen.decided
    return decided is None or bool(decided.runs) or decided.decision.outcome is not None
