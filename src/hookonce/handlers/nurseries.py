"""Files of functions that are loaded before anybody asks: one nursery for each file, as it is now.

Whoever lives on keeps them, each for its own loop; everybody else has none.
"""

from time import monotonic
from typing import TYPE_CHECKING

from hookonce.runtime.loop import Loop
from hookonce.store import log

if TYPE_CHECKING:
    from hookonce.handlers.nursery import Nursery

_MOST = 32  # files
_IDLE = 600.0  # seconds without a call
_all: dict[Loop, "Nurseries"] = {}


def of(loop: Loop) -> "Nurseries | None":
    """Those that are kept where this loop turns, if any are."""
    return _all.get(loop)


class Nurseries:
    """The nurseries of all files that somebody has called for lately."""

    def __init__(self, loop: Loop) -> None:
        """None yet."""
        self._loop = loop
        self._kept: dict[str, Nursery] = {}
        _all[loop] = self

    def ask(self, file: str, digest: str, command: str) -> "Nursery | None":
        """That of a file with this content, which a command starts; None where there can be none."""
        from hookonce.handlers.nursery import Nursery  # who answers one call does without

        known = self._kept.pop(file, None)
        if known is not None and (known.is_over or known.digest != digest):
            known.retire()  # what it answers now it answers to the end
            known = None
        if known is None:
            try:
                known = Nursery(self._loop, digest, command)
            except (OSError, ValueError) as problem:
                log.write(f"daemon: {file} cannot be kept ready: {problem}")
                return None
        self._kept[file] = known  # the latest is the last
        return known

    def tend(self) -> None:
        """End those that nobody has called for a while, and the oldest of too many."""
        before = monotonic() - _IDLE
        spare = max(0, len(self._kept) - _MOST)
        for file, one in list(self._kept.items()):
            if one.is_over or (one.is_idle and (one.last < before or spare > 0)):
                spare -= 1
                one.end()
                del self._kept[file]

    def close(self) -> None:
        """End all of them."""
        for one in self._kept.values():
            one.end()
        self._kept.clear()
        _all.pop(self._loop, None)
