"""How long an agent waits for us, on this machine: everything in one run, in rounds that are shuffled."""

import os
import platform
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from msgspec import Struct

from hookonce import __version__
from hookonce.journeys.bench_block import Blocks, Cell
from hookonce.journeys.bench_cases import ANSWERING, Case, Cases, cases
from hookonce.journeys.bench_report import (
    COLD,
    ECHO,
    FLOOR,
    KB,
    MILLION,
    SHELL,
    UNRECORDED,
    WARM,
    Memory,
    Report,
    Skipped,
    ratios,
)
from hookonce.times import now

# Payloads that only some are given, and how often in a round; and who is called by many at once.
_BIG = {100 * KB: 10, 5 * KB * KB: 2}
_BIG_CASES = (FLOOR, ECHO, WARM, COLD)
_CROWDS = {8: (FLOOR, ECHO, WARM, COLD), 64: (ECHO, WARM, UNRECORDED, MILLION, ANSWERING)}
_FAST = (FLOOR, ECHO, WARM, UNRECORDED, MILLION)  # the others start processes of their own


class Plan(Struct, frozen=True, kw_only=True):
    """How much is measured; after so many seconds no further round is begun."""

    rounds: int = 10
    seconds: float = 210.0
    crowd: int = 1000  # calls in a round that a crowd makes
    is_quick: bool = False


QUICK = Plan(rounds=3, seconds=10.0, crowd=100, is_quick=True)


def run(
    plan: Plan,
    more: Sequence[Case] = (),
    tell: Callable[[str], object] = lambda _: None,
    record: Path | None = None,
) -> Report:
    """Measure everything, and further programs beside it; a function is told how far it is.

    `record` is a folder with the data of a home that has much in its record, and is used up.
    """
    with TemporaryDirectory(prefix="hookonce-bench-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder).resolve()
        tell("making homes, and waking their daemons")
        with cases(scratch, record) as found:
            return _measured(Blocks(scratch), found, plan, more, tell)


def _measured(blocks: Blocks, found: Cases, plan: Plan, more: Sequence[Case], tell: Callable[[str], object]) -> Report:
    skipped, load = dict(found.skipped), round(os.getloadavg()[0], 1)
    fit = [case for case in (*found.cases, *more) if _is_fit(blocks, case, skipped)]
    before = {case.name: case.home.status() for case in fit if case.home}
    rounds = _rounds(blocks, _cells(fit, plan), plan, tell)
    after = {case.name: case.home.status() for case in fit if case.home}
    rows = blocks.rows()
    return Report(
        hookonce=__version__,
        date=now()[:10],
        machine=machine(),
        load=load,
        client="machine code" if any(case.is_warm for case in fit) else "sh and Python",
        spawner=f"C, made by {blocks.compiler}" if blocks.compiler else "Python, for want of a C compiler",
        floor=found.floor,
        rounds=rounds,
        rows=rows,
        ratios=ratios(rows, [case.name for case in more]),
        memory=[Memory.between(name, told, after[name]) for name, told in before.items()],
        skipped=[Skipped(case=name, reason=reason) for name, reason in skipped.items()],
    )


def _is_fit(blocks: Blocks, case: Case, skipped: dict[str, str]) -> bool:
    """Whether a case answers as it should when nobody looks at the clock; the others are not measured."""
    ran = blocks.call(Cell(case=case, calls=2))
    if ran.errors or ran.wrong:
        skipped[case.name] = "it fails" if ran.errors else "it does not answer as expected"
    return case.name not in skipped


def _cells(fit: list[Case], plan: Plan) -> list[Cell]:
    """Every case alone, directly and through a shell as agents do it; some with more callers or more to say."""
    found = []
    for case in fit:
        calls = max(case.calls // 4, 1) if plan.is_quick else case.calls
        found += [Cell(case=case, calls=calls), Cell(case=case, calls=calls, way=SHELL)]
        for callers, names in _CROWDS.items():
            if case.name in names and not (plan.is_quick and case.name not in _FAST):
                crowd = plan.crowd if case.name in _FAST else max(plan.crowd // 20, callers)
                found.append(Cell(case=case, calls=crowd, callers=callers))
        if case.name in _BIG_CASES and not plan.is_quick:
            found += [Cell(case=case, calls=min(calls, most), payload=size) for size, most in _BIG.items()]
    return found


def _rounds(blocks: Blocks, cells: list[Cell], plan: Plan, tell: Callable[[str], object]) -> int:
    """Measure everything in another order each time; the number of rounds that there was time for."""
    end = monotonic() + plan.seconds
    for done in range(plan.rounds):
        if done and monotonic() > end:
            return done
        tell(f"round {done + 1} of {plan.rounds}")
        for cell in random.sample(cells, len(cells)):
            blocks.measure(cell)
    return plan.rounds


def machine() -> str:
    """What kind of machine this is, and not which one."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
