"""Calls that concern nobody: noted, answered with silence, and looked at when nobody waits (docs/adr/0016)."""

from collections import deque
from time import monotonic

from msgspec.json import decode

from hookonce import light
from hookonce.journeys import on, silent
from hookonce.journeys.ground import Ground
from hookonce.model import Object
from hookonce.runtime.loop import Loop
from hookonce.service import request
from hookonce.service.doors import Doors
from hookonce.service.visit import Visit
from hookonce.store.journal import Journal

_MOST = 4096  # calls of which only that they happened is known; beyond, the next one waits for the first of them
_WEIGHT = 32 << 20  # and bytes that they have said, all together
_REST = 0.005  # seconds without a call in which others are looked at
_OLDEST = 5.0  # seconds after which they are looked at all the same


class Quiet:
    """What was answered already, in the order in which it happened."""

    def __init__(self, loop: Loop, journal: Journal, doors: Doors) -> None:
        """Nothing yet."""
        self._loop, self._journal, self._doors = loop, journal, doors
        self._later: deque[tuple[float, list[bytes]]] = deque()
        self._weight, self._last, self._waits, self._due = 0, 0.0, False, 0
        self._hurried = 0  # how many are to be looked at though calls come

    def answer(self, fields: list[bytes]) -> bytes | None:
        """The silence for a call that concerns nobody, once it is noted; None for all other calls."""
        self._last = monotonic()
        table = silent.current()
        row = _row(table, fields)
        if row is None:
            return None
        name = request.name_of(fields[2])
        silence: bytes = row["silence"]
        if not table["record"]:
            return silence
        if not self._journal.note(name, light.happened(table, row, name)):
            return None  # a record that is lost is counted on the long way
        self._put_aside(fields)
        return silence

    def _put_aside(self, fields: list[bytes]) -> None:
        self._later.append((self._last, fields))
        self._weight += len(fields[7])
        if len(self._later) > _MOST or self._weight > _WEIGHT:
            self._catch_up()
        self._wait()

    def _wait(self) -> None:
        if not self._waits:
            self._waits = True
            self._loop.at(monotonic() + _REST, self._look)

    def _look(self) -> None:
        """See whether there is time now; while calls come one after the other, those who wait come first."""
        self._waits = False
        if self._later and not self._is_busy():
            self._begin()
        elif self._later:
            self._wait()

    def _is_busy(self) -> bool:
        """Whether calls come one after the other, and nothing has waited for too long."""
        now = monotonic()
        return now - self._last < _REST and now - self._later[0][0] <= _OLDEST

    @property
    def is_done(self) -> bool:
        """Whether all of them were looked at."""
        return not self._later

    def hurry(self) -> None:
        """Look at all of them now, whoever calls."""
        self._hurried = len(self._later)
        self._begin()

    def _begin(self) -> None:
        if self._later and not self._due:
            self._loop.later(self._go_on)
        self._due = len(self._later)

    def _go_on(self) -> None:
        """Look at one of them, in a turn of the loop in which nobody's hooks have to be started; then at the next."""
        if self._later and not self._hurried and self._is_busy():
            self._due = 0
            self._wait()
            return
        self._due = max(min(self._due, len(self._later)) - 1, 0)
        self._hurried = max(self._hurried - 1, 0)
        if self._due > 0:
            self._loop.later(self._go_on)
        self._catch_up()

    def _catch_up(self) -> None:
        """Keep what one of these calls was."""
        if not self._later:
            return
        _, fields = self._later.popleft()
        self._weight -= len(fields[7])
        asked = request.read(fields)
        where = Ground(
            environment=asked.environment,
            cwd=asked.cwd,
            spool=self._journal,
            doors=self._doors,
            asks=False,
            lives_on=True,
        )
        Visit(self._loop, on.walk(asked.words, asked.stdin, where, asked.id), lambda _: None).go()


def _row(table: Object, fields: list[bytes]) -> Object | None:
    try:
        return light.row_of(table, fields, decode) if table else None
    except (ValueError, KeyError):  # no JSON, or none that can be read so: the long way says what it is
        return None
