"""Benchmark report: names of cases, the numbers of each, and the ratios that are aimed at.

Its JSON form is schemas/bench.json.
"""

import os
import platform
from math import ceil
from typing import Literal

from msgspec import Struct

from hookonce.lab import bench_cases
from hookonce.model import Object

KB = 1 << 10
DIRECT, SHELL = "direct", "sh -c"

_MAX_PAUSE_CHANGE_RATIO = 1.2  # of a ratio with a pause between calls to the same ratio without


class RatioTarget(Struct, frozen=True):
    """A number of a case divided by the same of another (and a multiple of a third), or a count; and its aim."""

    case: str
    to: str | None
    aim: float | None = None
    of: str = "p50_ms"
    callers: int = 1
    plus: str | None = None  # added to what is divided by, so many times
    times: float = 1.0
    to_of: str | None = None  # the number that is divided by, where it is another one


_CROWD = 64
_TARGETS = (
    RatioTarget(bench_cases.ECHO, bench_cases.FLOOR),
    RatioTarget(bench_cases.NO_HOOKS, bench_cases.FLOOR, 3.0),
    RatioTarget(bench_cases.NO_HOOKS, bench_cases.ECHO, 1.25),
    RatioTarget(bench_cases.NO_HOOKS, bench_cases.ECHO, 1.7, of="p99_ms"),
    RatioTarget(bench_cases.FUNCTION, bench_cases.NO_HOOKS, 1.0, plus=bench_cases.FLOOR, times=4),
    RatioTarget(bench_cases.FUNCTION_DENY, bench_cases.NO_HOOKS, 1.0, plus=bench_cases.FLOOR, times=4),
    RatioTarget(bench_cases.COMMAND, bench_cases.BARE_TRUE, 1.0, plus=bench_cases.NO_HOOKS, times=1.5),
    RatioTarget(bench_cases.GREP, bench_cases.BARE_GREP, 1.0, plus=bench_cases.NO_HOOKS, times=1.5),
    RatioTarget(bench_cases.THREE_COMMANDS, bench_cases.COMMAND, 2.2),
    RatioTarget(bench_cases.THREE_GREPS, bench_cases.GREP, 2.2),
    RatioTarget(bench_cases.SDK_IMPORT, bench_cases.PYTHON_SITE, 2.0),
    RatioTarget(bench_cases.SDK_PROGRAM, bench_cases.PYTHON_SITE, 2.0),
    RatioTarget(bench_cases.COLD, bench_cases.PYTHON, 4.0),
    RatioTarget(bench_cases.COLD_HOOK, bench_cases.PYTHON, 4.0),
    RatioTarget(bench_cases.DAEMON_KILLED, bench_cases.COLD_HOOK, 3.0),
    RatioTarget(bench_cases.NEXT_CALL, None, 0, of="cold"),
    RatioTarget(bench_cases.NO_HOOKS, bench_cases.ECHO, 0.8, of="per_second", callers=_CROWD),
    RatioTarget(bench_cases.NO_HOOKS, None, 0, of="cold", callers=_CROWD),
    RatioTarget(bench_cases.FUNCTION, bench_cases.FUNCTION, 5.0, of="p99_ms", to_of="p50_ms", callers=_CROWD),
    RatioTarget(bench_cases.FUNCTION, None, 0, of="cold", callers=_CROWD),
    RatioTarget(bench_cases.NO_HOOKS, bench_cases.NO_RECORD, 1.3),
    RatioTarget(bench_cases.NO_HOOKS, bench_cases.NO_RECORD, 0.6, of="per_second", callers=_CROWD),
    RatioTarget(bench_cases.COMMAND, bench_cases.COMMAND_NO_RECORD, 1.3),
    RatioTarget(bench_cases.MILLION_ROWS, bench_cases.NO_RECORD, 1.3),
    RatioTarget(bench_cases.MILLION_ROWS, bench_cases.ECHO, 1.7),
    RatioTarget(bench_cases.MILLION_ROWS, bench_cases.NO_RECORD, 0.6, of="per_second", callers=_CROWD),
)


class BenchRow(Struct, frozen=True, kw_only=True):
    """Numbers of one case, called in one way; `cold` counts calls that the daemon should have answered and did not."""

    case: str
    way: str
    callers: int
    payload: int
    pause_ms: int = 0
    calls: int
    p50_ms: float
    p99_ms: float
    per_second: float
    errors: int
    wrong: int
    cold: int | None = None


class BenchRatio(Struct, frozen=True, kw_only=True):
    """One number of a case divided by that of another, or without `to` a count; `bound` is the direction of the `aim`.

    With `plus` it is divided by the number of `to` and `times` the number of `plus`.
    """

    case: str
    to: str | None = None
    plus: str | None = None
    times: float = 1.0
    of: str
    to_of: str | None = None
    callers: int = 1
    pause_ms: int = 0
    value: float
    aim: float | None = None
    bound: Literal["most", "least"] | None = None
    held: bool | None = None


class DaemonMemory(Struct, frozen=True, kw_only=True):
    """What a daemon needed before and after everything it was asked."""

    daemon: str
    before_kb: int
    after_kb: int
    answered: int

    @classmethod
    def between(cls, daemon: str, before: Object | None, after: Object | None) -> "DaemonMemory":
        """What a daemon told before and after."""
        first, last = before or {}, after or {}
        return cls(
            daemon=daemon,
            before_kb=first.get("memory_kb") or 0,
            after_kb=last.get("memory_kb") or 0,
            answered=last.get("answered", 0) - first.get("answered", 0),
        )


class SkippedCase(Struct, frozen=True, kw_only=True):
    """A case that was not measured, and why."""

    case: str
    reason: str


class StepShare(Struct, frozen=True, kw_only=True):
    """Median microseconds of one step of a call with a hook."""

    case: str
    step: str
    us: float


class BenchReport(Struct, frozen=True, kw_only=True):
    """Everything that one run has found on one machine."""

    hookonce: str
    date: str
    machine: str
    load: float | None = None  # of other work, when it began
    client: str
    spawner: str
    floor: str
    rounds: int
    rows: list[BenchRow]
    ratios: list[BenchRatio]
    steps: list[StepShare] = []
    memory: list[DaemonMemory]
    skipped: list[SkippedCase]


class CallTally(Struct):
    """Calls as they are added up, times in nanoseconds."""

    call_ns: list[int] = []
    busy_ns: float = 0.0
    errors: int = 0
    wrong: int = 0
    cold_count: int | None = None


def percentile(sorted_values: list[int], share: float) -> int:
    """The least value that this share of all values does not exceed."""
    return sorted_values[max(ceil(share * len(sorted_values)), 1) - 1]


def build_row(case: str, way: str, callers: int, payload: int, tally: CallTally, pause_ms: int = 0) -> BenchRow:
    """Build the row of a case."""
    times = sorted(tally.call_ns)
    return BenchRow(
        case=case,
        way=way,
        callers=callers,
        payload=payload,
        pause_ms=pause_ms,
        calls=len(times),
        p50_ms=round(percentile(times, 0.50) / 1e6, 3),
        p99_ms=round(percentile(times, 0.99) / 1e6, 3),
        per_second=round(len(times) / (tally.busy_ns / 1e9), 1),
        errors=tally.errors,
        wrong=tally.wrong,
        cold=tally.cold_count,
    )


_RowsByCase = dict[str, BenchRow]


def build_ratios(rows: list[BenchRow]) -> list[BenchRatio]:
    """Build the ratios of plain calls; a case that was not measured is left out.

    A ratio of medians that was also measured with a pause between calls is to stay what it is without one.
    """
    plain_rows = [row for row in rows if (row.way, row.payload) == (DIRECT, KB)]
    pauses = sorted({row.pause_ms for row in plain_rows})
    all_ratios = []
    for target in _TARGETS:
        aim = target.aim
        for pause_ms in pauses:
            by_case = {row.case: row for row in plain_rows if (row.callers, row.pause_ms) == (target.callers, pause_ms)}
            if pause_ms and (target.of, target.callers) != ("p50_ms", 1):
                continue
            if (value := _compute_value(target, by_case)) is None:
                continue
            all_ratios.append(_build_ratio(target, value, aim, pause_ms))
            if not pause_ms and aim is not None:
                aim = round(value * _MAX_PAUSE_CHANGE_RATIO, 2)
    return all_ratios


def _compute_value(target: RatioTarget, by_case: _RowsByCase) -> float | None:
    names = [name for name in (target.case, target.to, target.plus) if name is not None]
    if any(name not in by_case for name in names):
        return None
    value: float | None = getattr(by_case[target.case], target.of)
    if value is None or target.to is None:
        return value
    divisor: float = getattr(by_case[target.to], target.to_of or target.of)
    if target.plus is not None:
        divisor += target.times * getattr(by_case[target.plus], target.of)
    return round(value / divisor, 2)


def _build_ratio(target: RatioTarget, value: float, aim: float | None, pause_ms: int) -> BenchRatio:
    wants_large = target.of == "per_second"
    return BenchRatio(
        case=target.case,
        to=target.to,
        plus=target.plus,
        times=target.times,
        of=target.of,
        to_of=target.to_of,
        callers=target.callers,
        pause_ms=pause_ms,
        value=value,
        aim=aim,
        bound=None if aim is None else "least" if wants_large else "most",
        held=None if aim is None else value >= aim if wants_large else value <= aim,
    )


_NUMBER_WORDS = {"p50_ms": "p50", "p99_ms": "p99", "per_second": "calls a second", "cold": "cold calls"}


def describe_ratio(ratio: BenchRatio, mark: str = "") -> str:
    """What was divided by what, with a mark around the names of cases."""
    words = f"{mark}{ratio.case}{mark}"
    if ratio.to is not None:
        divisor = f"{mark}{ratio.to}{mark}"
        if ratio.plus is not None:
            divisor = f"({divisor} + {ratio.times:g} × {mark}{ratio.plus}{mark})"
        words += f" / {divisor}"
    number = _NUMBER_WORDS[ratio.of] + (f" / {_NUMBER_WORDS[ratio.to_of]}" if ratio.to_of else "")
    callers = "" if ratio.callers == 1 else f", {ratio.callers} callers"
    pause = f", {ratio.pause_ms} ms between calls" if ratio.pause_ms else ""
    return f"{words}, {number}{callers}{pause}"


def machine_label() -> str:
    """Kind of machine, and not which one."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
