"""Latency report: rows of percentiles, ratios with targets, daemon memory. Its JSON form is schemas/bench.json."""

import os
import platform
from math import ceil
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookonce.model import Object

KB = 1 << 10
DIRECT, SHELL = "direct", "sh -c"
FLOOR, ECHO, WARM, COLD, PYTHON = "nothing", "echo", "warm", "cold", "python -I -S -c pass"
WARM_HOOK, WARM_NO_RECORD, WARM_HOOK_NO_RECORD = "warm, a hook", "warm, no record", "warm, a hook, no record"
WARM_MILLION_ROWS, WARM_DENY = "warm, a million rows", "warm, a hook that refuses"
COLD_HOOK, PYTHON_CLIENT = "cold, a hook", "twin"
# What only benchmarks/latency.py of the repository measures.
REPOSITORY_CASES = (ECHO, WARM_NO_RECORD, WARM_HOOK_NO_RECORD, WARM_MILLION_ROWS, WARM_DENY, COLD_HOOK, PYTHON_CLIENT)

# What is compared, with a small payload: who, with whom, by which number of how many callers, and what we aim at.
_RATIO_TARGETS: tuple[tuple[str, str, str, int, float | None], ...] = (
    (ECHO, FLOOR, "p50_ms", 1, None),
    (WARM, FLOOR, "p50_ms", 1, None),
    (WARM, ECHO, "p50_ms", 1, 1.4),
    (WARM, ECHO, "p99_ms", 1, 1.7),
    (WARM, WARM_NO_RECORD, "p50_ms", 1, 1.3),
    (WARM, WARM_NO_RECORD, "per_second", 64, 0.6),
    (WARM_HOOK, WARM_HOOK_NO_RECORD, "p50_ms", 1, 1.3),
    (WARM_MILLION_ROWS, WARM_NO_RECORD, "p50_ms", 1, 1.3),
    (WARM_MILLION_ROWS, ECHO, "p50_ms", 1, 1.7),
    (WARM_MILLION_ROWS, WARM_NO_RECORD, "per_second", 64, 0.6),
    (COLD, PYTHON, "p50_ms", 1, 4.0),
)
_MIN_PEER_RATIO = 30.0  # how many times longer than ours a call of theirs takes, at least


class BenchRow(Struct, frozen=True, kw_only=True):
    """Numbers of one case, called in one way; `cold` counts calls that the daemon should have answered and did not."""

    case: str
    way: str
    callers: int
    payload: int
    calls: int
    p50_ms: float
    p99_ms: float
    per_second: float
    errors: int
    wrong: int
    cold: int | None = None


class BenchRatio(Struct, frozen=True, kw_only=True):
    """One number of a case divided by the same of another; `aim` is the target, `bound` its direction."""

    case: str
    to: str
    of: str
    callers: int = 1
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


def build_row(case: str, way: str, callers: int, payload: int, tally: CallTally) -> BenchRow:
    """Build the row of a case."""
    times = sorted(tally.call_ns)
    return BenchRow(
        case=case,
        way=way,
        callers=callers,
        payload=payload,
        calls=len(times),
        p50_ms=round(percentile(times, 0.50) / 1e6, 3),
        p99_ms=round(percentile(times, 0.99) / 1e6, 3),
        per_second=round(len(times) / (tally.busy_ns / 1e9), 1),
        errors=tally.errors,
        wrong=tally.wrong,
        cold=tally.cold_count,
    )


def build_ratios(rows: list[BenchRow], peers: list[str]) -> list[BenchRatio]:
    """Build the ratios of plain calls; a case that was not measured is left out."""
    rows_by_case = {(row.case, row.callers): row for row in rows if (row.way, row.payload) == (DIRECT, KB)}
    all_ratios = []
    peer_targets = ((peer, WARM, "p50_ms", 1, _MIN_PEER_RATIO) for peer in peers)
    for case, to, of, callers, aim in (*_RATIO_TARGETS, *peer_targets):
        own_row, other_row = rows_by_case.get((case, callers)), rows_by_case.get((to, callers))
        if own_row is not None and other_row is not None:
            ratio = BenchRatio(
                case=case, to=to, of=of, callers=callers, value=round(getattr(own_row, of) / getattr(other_row, of), 2)
            )
            if aim is not None:  # times of ours are to be small, those of a peer to ours and rates large
                wants_large = case in peers or of == "per_second"
                is_met = ratio.value >= aim if wants_large else ratio.value <= aim
                ratio = replace(ratio, aim=aim, bound="least" if wants_large else "most", held=is_met)
            all_ratios.append(ratio)
    return all_ratios


def machine_label() -> str:
    """Kind of machine, and not which one."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
