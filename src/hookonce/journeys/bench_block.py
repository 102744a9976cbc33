"""Blocks of calls: one program started again and again, and what is known of it afterwards."""

import subprocess
import sys
from mmap import PAGESIZE
from pathlib import Path
from shlex import join

from msgspec import Struct

from hookonce.errors import HookonceError
from hookonce.journeys.bench_cases import SOURCES, Case, payload
from hookonce.journeys.bench_report import DIRECT, KB, Row, Tally, row
from hookonce.runtime import spawner
from hookonce.runtime.compiler import compiled

_PATIENCE = 120  # seconds for one block of calls
# Page faults of a call by our client and a shell are less than this, and those of the smallest interpreter are more;
# so often a payload is kept in memory that is new.
_FAULTS, _KEPT = 400, 1.1


class Cell(Struct, frozen=True, kw_only=True):
    """One case, called in one way."""

    case: Case
    calls: int
    way: str = DIRECT
    callers: int = 1
    payload: int = KB


class Ran(Struct, frozen=True, kw_only=True):
    """A block of calls: its nanoseconds, how many failed, were wrong or started an interpreter, and each one's time."""

    busy: int
    errors: int
    wrong: int
    heavy: int
    took: list[int]


class Blocks:
    """The spawner, the payloads, and what has been measured so far."""

    def __init__(self, scratch: Path) -> None:
        """Make ready in a directory of our own."""
        program = scratch / "spawner"
        self.compiler = compiled(SOURCES / "spawner.c", program)
        twin = [sys.executable, "-I", "-S", str(Path(spawner.__file__))]
        self._words = [str(program)] if self.compiler else twin
        self._scratch, self._number = scratch, 0
        self._tallies: dict[tuple[str, str, int, int], Tally] = {}

    def measure(self, cell: Cell) -> None:
        """One block of a case, added to what there is of it."""
        ran = self.call(cell)
        tally = self._tallies.setdefault((cell.case.name, cell.way, cell.callers, cell.payload), Tally())
        tally.took += ran.took
        tally.busy += max(ran.busy, 1)
        tally.errors += ran.errors
        tally.wrong += ran.wrong
        if cell.case.is_warm:
            tally.cold = (tally.cold or 0) + ran.heavy

    def call(self, cell: Cell) -> Ran:
        """Call as often as a cell says."""
        case = cell.case
        given = self._file(f"payload-{cell.payload}", payload(cell.payload))
        expected = self._file(f"expected-{case.name}", case.expected)
        command = case.words if cell.way == DIRECT else ["/bin/sh", "-c", join(case.words)]
        faults = _FAULTS + int(_KEPT * cell.payload / PAGESIZE)
        numbers = [cell.callers, cell.calls, case.pause, self._number, faults]
        self._number += cell.calls
        words = [*self._words, *map(str, numbers), given, expected, *command]
        wall, errors, wrong, heavy, *took = map(int, _said(words, case).split())
        busy = wall - case.pause * 1000 * cell.calls // cell.callers
        return Ran(busy=busy, errors=errors, wrong=wrong, heavy=heavy, took=took)

    def _file(self, name: str, data: bytes) -> str:
        path = self._scratch / name
        if not path.exists():
            path.write_bytes(data)
        return str(path)

    def rows(self) -> list[Row]:
        """The numbers of everything so far."""
        return [row(*key, tally) for key, tally in self._tallies.items()]


def _said(words: list[str], case: Case) -> bytes:
    """What the spawner tells."""
    try:
        done = subprocess.run(  # noqa: S603  our own programs
            words, env=case.environment, capture_output=True, timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise HookonceError(f"{case.name} takes longer than {_PATIENCE} seconds; this machine is too busy") from None
    if done.returncode:
        raise HookonceError(f"{case.name} cannot be called: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
