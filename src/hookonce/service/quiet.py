"""Calls that concern nobody: noted, answered with silence, and looked at when nobody waits (docs/adr/0016)."""

from collections import deque

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

_MOST = 512  # calls of which only that they happened is known; beyond, the next one waits for the first of them


class Quiet:
    """What was answered already, in the order in which it happened."""

    def __init__(self, loop: Loop, journal: Journal, doors: Doors) -> None:
        """Nothing yet."""
        self._loop, self._journal, self._doors = loop, journal, doors
        self._later: deque[list[bytes]] = deque()

    def answer(self, fields: list[bytes]) -> bytes | None:
        """The silence for a call that concerns nobody, once it is noted; None for all other calls."""
        table = silent.current()
        row = _row(table, fields)
        if row is None:
            return None
        name = request.name_of(fields[2])
        if not self._journal.write(light.happened(table, row, name)):
            return None  # a record that is lost is counted on the long way
        self._later.append(fields)
        self._loop.soon(self._catch_up)
        if len(self._later) > _MOST:
            self._catch_up()
        silence: bytes = row["silence"]
        return silence

    def _catch_up(self) -> None:
        """Keep what one of these calls was."""
        if not self._later:
            return
        asked = request.read(self._later.popleft())
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
