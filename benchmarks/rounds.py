"""Latency benchmark: every case in shuffled rounds in one run."""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from blocks import BenchCell, BlockRunner
from cases import BenchCase, BenchCases, prepare_cases
from msgspec import Struct
from steps import measure_steps

from hookonce import __version__
from hookonce.base.times import now
from hookonce.errors import HookonceError
from hookonce.lab import bench_cases
from hookonce.lab.bench_report import KB, SHELL, BenchReport, DaemonMemory, SkippedCase, build_ratios, machine_label

# Payloads that only some are given, and how often in a round; and who is called by many at once.
_LARGE_PAYLOAD_CALLS = {100 * KB: 6, 5 * KB * KB: 1}
_LARGE_PAYLOAD_CASES = (bench_cases.FLOOR, bench_cases.ECHO, bench_cases.NO_HOOKS, bench_cases.COLD)
_CASES_BY_CALLERS = {
    8: (bench_cases.FLOOR, bench_cases.ECHO, bench_cases.NO_HOOKS, bench_cases.COLD),
    64: (
        bench_cases.ECHO,
        bench_cases.NO_HOOKS,
        bench_cases.NO_RECORD,
        bench_cases.MILLION_ROWS,
        bench_cases.FUNCTION,
        bench_cases.COMMAND_DENY,
    ),
}
_CROWD_SHARES = {
    bench_cases.FUNCTION: 2,
    bench_cases.COMMAND_DENY: 4,
    bench_cases.COLD: 20,
}  # one in so many of a crowd's calls: each keeps processes busy
# As agents call: through a shell; and with a pause, in which the caches of a processor are used by others.
_SHELL_CASES = (
    bench_cases.FLOOR,
    bench_cases.ECHO,
    bench_cases.NO_HOOKS,
    bench_cases.FUNCTION,
    bench_cases.COMMAND,
    bench_cases.COLD,
    bench_cases.PYTHON,
)
_PAUSE_CASES = (
    bench_cases.FLOOR,
    bench_cases.ECHO,
    bench_cases.NO_HOOKS,
    bench_cases.FUNCTION,
    bench_cases.FUNCTION_DENY,
    bench_cases.BARE_TRUE,
    bench_cases.BARE_GREP,
    bench_cases.COMMAND,
    bench_cases.GREP,
    bench_cases.THREE_COMMANDS,
    bench_cases.THREE_GREPS,
)
_PAUSE_MS, _PAUSE_CALLS = 50, 6


class BenchPlan(Struct, frozen=True, kw_only=True):
    """How much is measured; after so many seconds no further round is begun.

    Rounds are short and many, so that what else the machine does meets all cases alike.
    """

    rounds: int = 20
    max_seconds: float = 420.0
    share: float = 0.5  # of the calls of each case, in one round
    crowd_calls: int = 500  # calls in a round that a crowd makes
    step_calls: int = 200
    is_quick: bool = False


QUICK_PLAN = BenchPlan(rounds=4, max_seconds=90.0, share=0.25, crowd_calls=200, step_calls=50, is_quick=True)


def run_bench(
    plan: BenchPlan, progress: Callable[[str], object] = lambda _: None, record: Path | None = None
) -> BenchReport:
    """Run the benchmark.

    `record` is a folder with the data of a home that has much in its store, and is used up.
    """
    with TemporaryDirectory(prefix="hookonce-bench-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder).resolve()
        progress("making homes, and waking their daemons")
        with prepare_cases(scratch, record) as bench_cases:
            return _measure(BlockRunner(scratch), bench_cases, plan, progress)


def _measure(
    blocks: BlockRunner, bench_cases: BenchCases, plan: BenchPlan, progress: Callable[[str], object]
) -> BenchReport:
    skip_reasons, load = dict(bench_cases.skip_reasons), round(os.getloadavg()[0], 1)
    usable_cases = [case for case in bench_cases.cases if _is_usable(blocks, case, skip_reasons)]
    homes = {case.home.path: case for case in reversed(usable_cases) if case.home}  # by the first case of each
    before = {case.name: case.home.status() for case in homes.values() if case.home}
    cells = [cell for case in usable_cases for cell in _build_cells(case, plan)]
    measure = _skip_failures(blocks.measure, skip_reasons)
    rounds = run_rounds(cells, plan.rounds, plan.max_seconds, measure, progress)
    after = {case.name: case.home.status() for case in homes.values() if case.home}
    rows = blocks.rows()
    progress("stamps of each step of a call")
    if not (steps := measure_steps(blocks.scratch_folder, plan.step_calls)):
        skip_reasons["steps of a call"] = "the daemon with stamps answers no call"
    return BenchReport(
        hookonce=__version__,
        date=now()[:10],
        machine=machine_label(),
        load=load,
        client="machine code" if any(case.is_warm for case in usable_cases) else "sh and Python",
        spawner=f"C, made by {blocks.compiler}" if blocks.compiler else "Python, for want of a C compiler",
        floor=bench_cases.floor,
        rounds=rounds,
        rows=rows,
        ratios=build_ratios(rows),
        steps=steps,
        memory=[DaemonMemory.between(name, status_before, after[name]) for name, status_before in before.items()],
        skipped=[SkippedCase(case=name, reason=reason) for name, reason in skip_reasons.items()],
    )


def _is_usable(blocks: BlockRunner, case: BenchCase, skip_reasons: dict[str, str]) -> bool:
    """Whether a case answers as it should when nobody looks at the clock; the others are not measured."""

    def check(cell: BenchCell) -> None:
        result = blocks.run_block(cell)
        if result.errors or result.wrong:
            raise HookonceError("it fails" if result.errors else "it does not answer as expected")

    _skip_failures(check, skip_reasons)(BenchCell(case=case, calls=2))
    return case.name not in skip_reasons


def _skip_failures(
    measure: Callable[[BenchCell], object], skip_reasons: dict[str, str]
) -> Callable[[BenchCell], object]:
    """Measure until a case fails, which then is left out with its reason and costs no other its numbers."""

    def measure_cell(cell: BenchCell) -> None:
        if cell.case.name not in skip_reasons:
            try:
                measure(cell)
            except HookonceError as problem:
                skip_reasons[cell.case.name] = str(problem)

    return measure_cell


def _build_cells(case: BenchCase, plan: BenchPlan) -> Iterator[BenchCell]:
    """Every case alone; some through a shell, with a pause, with more callers, or with more to say."""
    calls = max(int(case.calls * plan.share), 2)
    yield BenchCell(case=case, calls=calls)
    if case.name in _SHELL_CASES:
        yield BenchCell(case=case, calls=calls, way=SHELL)
    if case.name in _PAUSE_CASES:
        yield BenchCell(case=case, calls=_PAUSE_CALLS, pause_ms=_PAUSE_MS)
    for callers, names in _CASES_BY_CALLERS.items():
        if case.name in names:
            crowd_calls = max(plan.crowd_calls // _CROWD_SHARES.get(case.name, 1), callers)
            yield BenchCell(case=case, calls=crowd_calls, callers=callers)
    if case.name in _LARGE_PAYLOAD_CASES and not plan.is_quick:
        for size, max_calls in _LARGE_PAYLOAD_CALLS.items():
            yield BenchCell(case=case, calls=min(calls, max_calls), payload=size)


def run_rounds(
    cells: list[BenchCell],
    rounds: int,
    max_seconds: float,
    measure: Callable[[BenchCell], object],
    progress: Callable[[str], object],
) -> int:
    """Measure everything in another order each time; the number of rounds that there was time for."""
    deadline = monotonic() + max_seconds
    for finished_rounds in range(rounds):
        if finished_rounds and monotonic() > deadline:
            return finished_rounds
        progress(f"round {finished_rounds + 1} of {rounds}")
        for cell in random.sample(cells, len(cells)):
            measure(cell)
    return rounds
