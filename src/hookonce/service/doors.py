"""The book of doors, in memory: what a call was decided at one door is known at once at the other.

Whoever answers a call without us reads it on the disk, where it stands as soon as hooks are asked. Of a call that
concerned nobody nothing is written: its two doors are two records at worst, if one of them came without us.
"""

from collections.abc import Callable
from contextlib import suppress
from os.path import exists
from pathlib import Path

from hookonce.runtime import twice
from hookonce.runtime.folder import put
from hookonce.runtime.twice import Page, Seen
from hookonce.texts import dump

_MOST = 4096  # calls that are remembered


class Doors:
    """What is known of each call, newest last."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._folder = str(twice.file("").absolute())
        self._known: dict[str, Page] = {}
        self._unwritten: set[str] = set()

    def __call__(self, key: str, new: Callable[[Page], Page]) -> Page:
        """What is known of a key, changed by a function."""
        old = self._known.pop(key, None)
        made = new(self._written(key) if old is None else old)
        self._known[key] = made
        self._unwritten.add(key)
        if len(self._known) > _MOST:
            self._known.pop(next(iter(self._known)))
        return made

    def write(self) -> None:
        """Let everybody know; what cannot be written is known here."""
        for key in self._unwritten:
            known = self._known.get(key, [])
            if any(map(_concerns, known)):
                with suppress(OSError):
                    put(Path(self._folder, key), dump(known))
        self._unwritten.clear()

    def _written(self, key: str) -> Page:
        """What somebody without us has written."""
        page = f"{self._folder}/{key}"
        if not exists(page):  # noqa: PTH110  as good as always, and somebody waits
            return []
        try:
            return twice.read(Path(page).read_bytes())
        except OSError:
            return []


def _concerns(seen: Seen) -> bool:
    """Whether somebody was asked about a call, or it is not decided yet."""
    decided = seen.decided
    return decided is None or bool(decided.runs) or decided.decision.outcome is not None
