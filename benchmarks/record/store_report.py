"""What was measured of the record, and how it is kept and told: benchmarks/record/results.json."""

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from msgspec import Struct
from msgspec.json import decode, encode
from msgspec.json import format as pretty
from msgspec.structs import replace

from hookonce import __version__
from hookonce.lab.bench_report import BenchRatio, machine_label

RESULTS = Path(__file__).resolve().parent / "results.json"
START_COMMAND = "events sql 'SELECT 1'"  # the floor of every look: a command that starts, opens the record and ends
# What is promised of a look as a command, in seconds, and what makes one flat: how much longer with ten times as much.
MAX_QUERY_S = {"events --session": 0.3, "stats": 0.3, "cost": 1.0}
MAX_GROWTH_RATIO = 1.5


class QueryTime(Struct, frozen=True, kw_only=True):
    """A command: the shortest of its rounds, and the processor's time in it."""

    command: str
    ms: float
    cpu_ms: float


class StoreSize(Struct, frozen=True, kw_only=True):
    """A record of some size: what keeping it took until then, how large it is, and how long looking at it takes.

    `per_cpu_second` is what one core would do that has nothing else to do; `times_sqlite` is the processor's time
    that SQLite takes for the same bodies, into ours.
    """

    events: int
    sessions: int
    bytes_per_event: int
    per_second: int
    per_cpu_second: int
    times_sqlite: float
    looks: list[QueryTime]
    verified: QueryTime
    counted_again: QueryTime | None = None


class StoreReport(Struct, frozen=True, kw_only=True):
    """Everything that one run has found on one machine."""

    hookonce: str
    date: str
    machine: str
    load: float
    sizes: list[StoreSize]
    ratios: list[BenchRatio]


def build_report(sizes: list[StoreSize], load: float) -> StoreReport:
    """The sizes, and what they say of each other."""
    return StoreReport(
        hookonce=__version__,
        date=datetime.now(UTC).date().isoformat(),
        machine=machine_label(),
        load=load,
        sizes=sizes,
        ratios=[*_start_ratios(sizes[-1]), *_growth_ratios(sizes)],
    )


def _start_ratios(size: StoreSize) -> list[BenchRatio]:
    """Each look beside the start of a command, in processor time."""
    cpu = {look.command: look.cpu_ms for look in size.looks}
    start = cpu[START_COMMAND]
    kept = BenchRatio(case="append", to="SQLite alone", of="cpu", value=size.times_sqlite)
    looks = [
        BenchRatio(case=f"{n}, {size.events:,} events", to=START_COMMAND, of="cpu", value=round(ms / start, 2))
        for n, ms in cpu.items()
    ]
    return [kept, *(one for one in looks if not one.case.startswith(START_COMMAND))]


def _growth_ratios(sizes: list[StoreSize]) -> list[BenchRatio]:
    """Looks that are promised to take as long with ten times as many events."""
    found = []
    for small, large in pairwise(sizes):
        before, after = ({look.command: look.cpu_ms for look in one.looks} for one in (small, large))
        for name in MAX_QUERY_S:
            value = round(after[name] / before[name], 2)
            case, to = (f"{name}, {one.events:,} events" for one in (large, small))
            ratio = BenchRatio(case=case, to=to, of="cpu", value=value, aim=MAX_GROWTH_RATIO, bound="most")
            found.append(replace(ratio, held=value <= MAX_GROWTH_RATIO))
    return found


def save_report(found: StoreReport, file: Path = RESULTS) -> None:
    """Write what was found."""
    file.write_bytes(pretty(encode(found), indent=1) + b"\n")


def load_report(file: Path = RESULTS) -> StoreReport | None:
    """What was found the last time."""
    return decode(file.read_bytes(), type=StoreReport) if file.exists() else None


def judge_query(look: QueryTime) -> str:
    """Whether a look is as short as was promised; what other work takes from a core is not its fault."""
    aim = MAX_QUERY_S.get(look.command)
    if aim is None:
        return ""
    held = "held" if look.ms <= aim * 1000 else "held by a core of its own" if look.cpu_ms <= aim * 1000 else "missed"
    return f"  (aim: {aim} s; {held})"


def print_report(found: StoreReport) -> None:
    """Print it."""
    print(f"{found.machine}, load {found.load}\n")
    for size in found.sizes:
        print(f"{size.events:,} events, {size.sessions:,} sessions: {size.bytes_per_event:,} bytes per event")
        print(f"  append {size.per_second:,} per s, {size.per_cpu_second:,} per s of a core,", end=" ")
        print(f"{size.times_sqlite:.1f} times the work of SQLite alone")
        for look in (*size.looks, size.verified, *([size.counted_again] if size.counted_again else [])):
            print(f"  {look.command:70}{look.ms:9,.0f} ms  {look.cpu_ms:9,.0f} ms of a core{judge_query(look)}")
        print()
    for ratio in found.ratios:
        said = (
            "" if ratio.aim is None else f"  (aim: at {ratio.bound} {ratio.aim}; {'held' if ratio.held else 'missed'})"
        )
        print(f"{ratio.case} / {ratio.to}: {ratio.value:.2f}{said}")
