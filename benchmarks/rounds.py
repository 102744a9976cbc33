"""Latency benchmark: every case in shuffled rounds in one run."""

import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from blocks import BenchCell, BlockRunner
from cases import BenchCase, BenchCases, prepare_cases
from msgspec import Struct

from hookonce import __version__
from hookonce.base.times import now
from hookonce.lab.latency import (
    COLD,
    ECHO,
    FLOOR,
    KB,
    SHELL,
    WARM,
    WARM_DENY,
    WARM_MILLION_ROWS,
    WARM_NO_RECORD,
    BenchReport,
    DaemonMemory,
    SkippedCase,
    build_ratios,
    machine_label,
)

# Payloads that only some are given, and how often in a round; and who is called by many at once.
_LARGE_PAYLOAD_CALLS = {100 * KB: 10, 5 * KB * KB: 2}
_LARGE_PAYLOAD_CASES = (FLOOR, ECHO, WARM, COLD)
_CASES_BY_CALLERS = {8: (FLOOR, ECHO, WARM, COLD), 64: (ECHO, WARM, WARM_NO_RECORD, WARM_MILLION_ROWS, WARM_DENY)}
_DAEMON_CASES = (FLOOR, ECHO, WARM, WARM_NO_RECORD, WARM_MILLION_ROWS)  # the others start processes of their own


class BenchPlan(Struct, frozen=True, kw_only=True):
    """How much is measured; after so many seconds no further round is begun."""

    rounds: int = 10
    max_seconds: float = 210.0
    crowd_calls: int = 1000  # calls in a round that a crowd makes
    is_quick: bool = False


QUICK_PLAN = BenchPlan(rounds=3, max_seconds=10.0, crowd_calls=100, is_quick=True)


def run_bench(
    plan: BenchPlan,
    further_cases: Sequence[BenchCase] = (),
    progress: Callable[[str], object] = lambda _: None,
    record: Path | None = None,
) -> BenchReport:
    """Run the benchmark with further cases beside ours.

    `record` is a folder with the data of a home that has much in its store, and is used up.
    """
    with TemporaryDirectory(prefix="hookonce-bench-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder).resolve()
        progress("making homes, and waking their daemons")
        with prepare_cases(scratch, record) as bench_cases:
            return _measure(BlockRunner(scratch), bench_cases, plan, further_cases, progress)


def _measure(
    blocks: BlockRunner,
    bench_cases: BenchCases,
    plan: BenchPlan,
    further_cases: Sequence[BenchCase],
    progress: Callable[[str], object],
) -> BenchReport:
    skip_reasons, load = dict(bench_cases.skip_reasons), round(os.getloadavg()[0], 1)
    usable_cases = [case for case in (*bench_cases.cases, *further_cases) if _is_usable(blocks, case, skip_reasons)]
    before = {case.name: case.home.status() for case in usable_cases if case.home}
    rounds = _run_rounds(blocks, _build_cells(usable_cases, plan), plan, progress)
    after = {case.name: case.home.status() for case in usable_cases if case.home}
    rows = blocks.rows()
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
        ratios=build_ratios(rows, [case.name for case in further_cases]),
        memory=[DaemonMemory.between(name, status_before, after[name]) for name, status_before in before.items()],
        skipped=[SkippedCase(case=name, reason=reason) for name, reason in skip_reasons.items()],
    )


def _is_usable(blocks: BlockRunner, case: BenchCase, skip_reasons: dict[str, str]) -> bool:
    """Whether a case answers as it should when nobody looks at the clock; the others are not measured."""
    result = blocks.run_block(BenchCell(case=case, calls=2))
    if result.errors or result.wrong:
        skip_reasons[case.name] = "it fails" if result.errors else "it does not answer as expected"
    return case.name not in skip_reasons


def _build_cells(usable_cases: list[BenchCase], plan: BenchPlan) -> list[BenchCell]:
    """Every case alone, directly and through a shell as agents do it; some with more callers or more to say."""
    cells = []
    for case in usable_cases:
        calls = max(case.calls // 4, 1) if plan.is_quick else case.calls
        cells += [BenchCell(case=case, calls=calls), BenchCell(case=case, calls=calls, way=SHELL)]
        for callers, names in _CASES_BY_CALLERS.items():
            if case.name in names and not (plan.is_quick and case.name not in _DAEMON_CASES):
                crowd_calls = plan.crowd_calls if case.name in _DAEMON_CASES else max(plan.crowd_calls // 20, callers)
                cells.append(BenchCell(case=case, calls=crowd_calls, callers=callers))
        if case.name in _LARGE_PAYLOAD_CASES and not plan.is_quick:
            cells += [
                BenchCell(case=case, calls=min(calls, max_calls), payload=size)
                for size, max_calls in _LARGE_PAYLOAD_CALLS.items()
            ]
    return cells


def _run_rounds(blocks: BlockRunner, cells: list[BenchCell], plan: BenchPlan, progress: Callable[[str], object]) -> int:
    """Measure everything in another order each time; the number of rounds that there was time for."""
    deadline = monotonic() + plan.max_seconds
    for finished_rounds in range(plan.rounds):
        if finished_rounds and monotonic() > deadline:
            return finished_rounds
        progress(f"round {finished_rounds + 1} of {plan.rounds}")
        for cell in random.sample(cells, len(cells)):
            blocks.measure(cell)
    return plan.rounds
