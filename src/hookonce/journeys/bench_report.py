"""What was measured: rows of numbers, and what they say of each other."""

from math import ceil
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookonce.model import Object

KB = 1 << 10
DIRECT, SHELL = "direct", "sh -c"
FLOOR, ECHO, WARM, COLD, PYTHON = "nothing", "echo", "warm", "cold", "python -I -S -c pass"
HOOKED, UNRECORDED, HOOKED_UNRECORDED = "warm, a hook", "warm, no record", "warm, a hook, no record"
MILLION = "warm, a million rows"

# What is compared, with a small payload: who, with whom, by which number of how many callers, and what we aim at.
_AIMS: tuple[tuple[str, str, str, int, float | None], ...] = (
    (ECHO, FLOOR, "p50_ms", 1, None),
    (WARM, FLOOR, "p50_ms", 1, None),
    (WARM, ECHO, "p50_ms", 1, 1.4),
    (WARM, ECHO, "p99_ms", 1, 1.7),
    (WARM, UNRECORDED, "p50_ms", 1, 1.3),
    (WARM, UNRECORDED, "per_second", 64, 0.6),
    (HOOKED, HOOKED_UNRECORDED, "p50_ms", 1, 1.3),
    (MILLION, UNRECORDED, "p50_ms", 1, 1.3),
    (MILLION, ECHO, "p50_ms", 1, 1.7),
    (MILLION, UNRECORDED, "per_second", 64, 0.6),
    (COLD, PYTHON, "p50_ms", 1, 4.0),
)
_PEERS_AIM = 30.0  # how many times longer than ours a call of theirs takes, at least


class Row(Struct, frozen=True, kw_only=True):
    """One case, called in one way; `cold` counts calls that the daemon should have answered and did not."""

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


class Ratio(Struct, frozen=True, kw_only=True):
    """One number of a case divided by the same of another; `aim` is the `bound`, most or least, that we want."""

    case: str
    to: str
    of: str
    callers: int = 1
    value: float
    aim: float | None = None
    bound: Literal["most", "least"] | None = None
    held: bool | None = None


class Memory(Struct, frozen=True, kw_only=True):
    """What a daemon needed before and after everything it was asked."""

    daemon: str
    before_kb: int
    after_kb: int
    answered: int

    @classmethod
    def between(cls, daemon: str, before: Object | None, after: Object | None) -> "Memory":
        """What a daemon told before and after."""
        first, last = before or {}, after or {}
        return cls(
            daemon=daemon,
            before_kb=first.get("memory_kb") or 0,
            after_kb=last.get("memory_kb") or 0,
            answered=last.get("answered", 0) - first.get("answered", 0),
        )


class Skipped(Struct, frozen=True, kw_only=True):
    """A case that was not measured, and why."""

    case: str
    reason: str


class Report(Struct, frozen=True, kw_only=True):
    """Everything that one run has found on one machine."""

    hookonce: str
    date: str
    machine: str
    load: float | None = None  # of other work, when it began
    client: str
    spawner: str
    floor: str
    rounds: int
    rows: list[Row]
    ratios: list[Ratio]
    memory: list[Memory]
    skipped: list[Skipped]


class Tally(Struct):
    """Calls as they are added up, times in nanoseconds."""

    took: list[int] = []
    busy: float = 0.0
    errors: int = 0
    wrong: int = 0
    cold: int | None = None


def percentile(sorted_values: list[int], share: float) -> int:
    """The least value that this share of all values does not exceed."""
    return sorted_values[max(ceil(share * len(sorted_values)), 1) - 1]


def row(case: str, way: str, callers: int, payload: int, tally: Tally) -> Row:
    """The numbers of a case."""
    times = sorted(tally.took)
    return Row(
        case=case,
        way=way,
        callers=callers,
        payload=payload,
        calls=len(times),
        p50_ms=round(percentile(times, 0.50) / 1e6, 3),
        p99_ms=round(percentile(times, 0.99) / 1e6, 3),
        per_second=round(len(times) / (tally.busy / 1e9), 1),
        errors=tally.errors,
        wrong=tally.wrong,
        cold=tally.cold,
    )


def ratios(rows: list[Row], peers: list[str]) -> list[Ratio]:
    """What the numbers of plain calls say of each other; a case that was not measured is compared with nothing."""
    plain = {(row.case, row.callers): row for row in rows if (row.way, row.payload) == (DIRECT, KB)}
    found = []
    for case, to, of, callers, aim in (*_AIMS, *((peer, WARM, "p50_ms", 1, _PEERS_AIM) for peer in peers)):
        one, other = plain.get((case, callers)), plain.get((to, callers))
        if one is not None and other is not None:
            value = round(getattr(one, of) / getattr(other, of), 2)
            ratio = Ratio(case=case, to=to, of=of, callers=callers, value=value)
            found.append(_judged(ratio, aim, is_large=case in peers or of == "per_second"))
    return found


def _judged(ratio: Ratio, aim: float | None, *, is_large: bool) -> Ratio:
    """A ratio beside what is aimed at: times of ours are to be small, those of a peer to ours and rates large."""
    if aim is None:
        return ratio
    held = ratio.value >= aim if is_large else ratio.value <= aim
    return replace(ratio, aim=aim, bound="least" if is_large else "most", held=held)
