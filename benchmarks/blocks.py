"""Blocks of calls: one program spawned again and again, and its timings."""

import subprocess
import sys
from hashlib import sha256
from mmap import PAGESIZE
from pathlib import Path
from shlex import join

import spawner
from cases import SOURCES, BenchCase, build_payload
from compiler import compile_program
from msgspec import Struct

from hookonce.client.daemon_endpoints import FLUSH, query_status
from hookonce.errors import HookonceError
from hookonce.lab.bench_report import DIRECT, KB, BenchRow, CallTally, build_row

_FLUSH_TIMEOUT_S = 10.0
_BLOCK_TIMEOUT_S = 120  # seconds for one block of calls
# Page faults of a call by our client and a shell are less than this, and those of the smallest interpreter are more;
# so often a payload is kept in memory that is new.
_MAX_PAGE_FAULTS, _PAYLOAD_COPIES = 400, 1.1


class BenchCell(Struct, frozen=True, kw_only=True):
    """One case, called in one way."""

    case: BenchCase
    calls: int
    way: str = DIRECT
    callers: int = 1
    payload: int = KB
    pause_ms: int = 0  # between two calls of one caller


class BlockResult(Struct, frozen=True, kw_only=True):
    """Block result: nanoseconds, failures, wrong answers, interpreter starts, and the time of each call."""

    busy_ns: int
    errors: int
    wrong: int
    heavy_count: int
    call_ns: list[int]


class BlockRunner:
    """Block runner: the spawner, the payloads, and all timings so far."""

    def __init__(self, scratch: Path) -> None:
        """Make ready in a directory of our own."""
        program = scratch / "spawner"
        self.compiler = compile_program(SOURCES / "spawner.c", program)
        python_spawner = [sys.executable, "-I", "-S", str(Path(spawner.__file__))]
        self._spawner_command = [str(program)] if self.compiler else python_spawner
        self.scratch_folder, self._next_call = scratch, 0
        self._tallies: dict[tuple[str, str, int, int, int], CallTally] = {}

    def measure(self, cell: BenchCell) -> None:
        """One block of a case, added to what there is of it."""
        result = self.run_block(cell)
        key = (cell.case.name, cell.way, cell.callers, cell.payload, cell.pause_ms)
        tally = self._tallies.setdefault(key, CallTally())
        tally.call_ns += result.call_ns
        tally.busy_ns += max(result.busy_ns, 1)
        tally.errors += result.errors
        tally.wrong += result.wrong
        if cell.case.is_warm:
            tally.cold_count = (tally.cold_count or 0) + result.heavy_count

    def run_block(self, cell: BenchCell) -> BlockResult:
        """Run the calls of a cell, one by one where something is done before each.

        What the daemon has put off until after its answers is done before anybody else is measured.
        """
        if cell.case.before_call is None:
            result = self._spawn(cell, cell.calls)
            if cell.case.home is not None:
                query_status(FLUSH, _FLUSH_TIMEOUT_S, cell.case.home.runtime_dir() / "socket")
            return result
        results = []
        for _ in range(cell.calls):
            cell.case.before_call()
            results.append(self._spawn(cell, 1))
        return BlockResult(
            busy_ns=sum(result.busy_ns for result in results),
            errors=sum(result.errors for result in results),
            wrong=sum(result.wrong for result in results),
            heavy_count=sum(result.heavy_count for result in results),
            call_ns=[call_ns for result in results for call_ns in result.call_ns],
        )

    def _spawn(self, cell: BenchCell, calls: int) -> BlockResult:
        case = cell.case
        payload = build_payload(cell.payload, case.shell_command)
        payload_file = self._write_once(f"payload-{cell.payload}-{sha256(payload).hexdigest()}", payload)
        expected_file = "-"
        if case.expected is not None:
            expected_file = self._write_once(f"expected-{sha256(case.expected).hexdigest()}", case.expected)
        command = case.command if cell.way == DIRECT else ["/bin/sh", "-c", join(case.command)]
        faults = _MAX_PAGE_FAULTS + int(_PAYLOAD_COPIES * cell.payload / PAGESIZE)
        pause_us = case.pause_us + cell.pause_ms * 1000
        numbers = [cell.callers, calls, pause_us, self._next_call, faults, case.exit_code]
        self._next_call += calls
        arguments = [*self._spawner_command, *map(str, numbers), payload_file, expected_file, *command]
        wall_ns, errors, wrong, heavy, *call_ns = map(int, _run_spawner(arguments, case).split())
        busy_ns = wall_ns - pause_us * 1000 * calls // cell.callers
        return BlockResult(busy_ns=busy_ns, errors=errors, wrong=wrong, heavy_count=heavy, call_ns=call_ns)

    def _write_once(self, name: str, data: bytes) -> str:
        path = self.scratch_folder / name
        if not path.exists():
            path.write_bytes(data)
        return str(path)

    def rows(self) -> list[BenchRow]:
        """The numbers of everything so far."""
        return [build_row(*key, tally, pause_ms) for (*key, pause_ms), tally in self._tallies.items()]


def _run_spawner(command: list[str], case: BenchCase) -> bytes:
    try:
        result = subprocess.run(
            command, env=case.environment, capture_output=True, timeout=_BLOCK_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise HookonceError(
            f"{case.name} takes longer than {_BLOCK_TIMEOUT_S} seconds; this machine is too busy"
        ) from None
    if result.returncode:
        raise HookonceError(f"{case.name} cannot be called: {result.stderr.decode(errors='replace').strip()}")
    return result.stdout
