"""What was measured of the record, and how it is kept and told: benchmarks/record.json."""

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from msgspec import Struct
from msgspec.json import decode, encode
from msgspec.json import format as pretty
from rounds import machine_label

from hookonce import __version__
from hookonce.lab.latency import BenchRatio

RESULTS = Path(__file__).resolve().parent / "record.json"
START = "events sql 'SELECT 1'"  # the floor of every look: a command that starts, opens the record and ends
# What is promised of a look as a command, in seconds, and what makes one flat: how much longer with ten times as much.
AIMS = {"events --session": 0.3, "stats": 0.3, "cost": 1.0}
FLAT = 1.5


class Look(Struct, frozen=True, kw_only=True):
    """A command: the shortest of its rounds, and the processor's time in it."""

    command: str
    ms: float
    cpu_ms: float


class Size(Struct, frozen=True, kw_only=True):
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
    looks: list[Look]
    verified: Look
    counted_again: Look | None = None


class Numbers(Struct, frozen=True, kw_only=True):
    """Everything that one run has found on one machine."""

    hookonce: str
    date: str
    machine: str
    load: float
    sizes: list[Size]
    ratios: list[BenchRatio]


def numbers(sizes: list[Size], load: float) -> Numbers:
    """The sizes, and what they say of each other."""
    return Numbers(
        hookonce=__version__,
        date=datetime.now(UTC).date().isoformat(),
        machine=machine_label(),
        load=load,
        sizes=sizes,
        ratios=[*_floors(sizes[-1]), *_flat(sizes)],
    )


def _floors(size: Size) -> list[BenchRatio]:
    """Each look beside the start of a command, in processor time."""
    cpu = {look.command: look.cpu_ms for look in size.looks}
    start = cpu[START]
    kept = BenchRatio(case="append", to="SQLite alone", of="cpu", value=size.times_sqlite)
    looks = [
        BenchRatio(case=f"{n}, {size.events:,} events", to=START, of="cpu", value=round(ms / start, 2))
        for n, ms in cpu.items()
    ]
    return [kept, *(one for one in looks if not one.case.startswith(START))]


def _flat(sizes: list[Size]) -> list[BenchRatio]:
    """Looks that are promised to take as long with ten times as many events."""
    found = []
    for small, large in pairwise(sizes):
        before, after = ({look.command: look.cpu_ms for look in one.looks} for one in (small, large))
        for name in AIMS:
            value = round(after[name] / before[name], 2)
            case, to = (f"{name}, {one.events:,} events" for one in (large, small))
            found.append(BenchRatio(case=case, to=to, of="cpu", value=value, aim=FLAT, bound="most", held=value <= FLAT))
    return found


def keep(found: Numbers, file: Path = RESULTS) -> None:
    """Write what was found."""
    file.write_bytes(pretty(encode(found), indent=1) + b"\n")


def kept(file: Path = RESULTS) -> Numbers | None:
    """What was found the last time."""
    return decode(file.read_bytes(), type=Numbers) if file.exists() else None


def judged(look: Look) -> str:
    """Whether a look is as short as was promised; what other work takes from a core is not its fault."""
    aim = AIMS.get(look.command)
    if aim is None:
        return ""
    held = "held" if look.ms <= aim * 1000 else "held by a core of its own" if look.cpu_ms <= aim * 1000 else "missed"
    return f"  (aim: {aim} s; {held})"


def tell(found: Numbers) -> None:
    """Print it."""
    print(f"{found.machine}, load {found.load}\n")
    for size in found.sizes:
        print(f"{size.events:,} events, {size.sessions:,} sessions: {size.bytes_per_event:,} bytes per event")
        print(f"  append {size.per_second:,} per s, {size.per_cpu_second:,} per s of a core,", end=" ")
        print(f"{size.times_sqlite:.1f} times the work of SQLite alone")
        for look in (*size.looks, size.verified, *([size.counted_again] if size.counted_again else [])):
            print(f"  {look.command:70}{look.ms:9,.0f} ms  {look.cpu_ms:9,.0f} ms of a core{judged(look)}")
        print()
    for ratio in found.ratios:
        said = (
            "" if ratio.aim is None else f"  (aim: at {ratio.bound} {ratio.aim}; {'held' if ratio.held else 'missed'})"
        )
        print(f"{ratio.case} / {ratio.to}: {ratio.value:.2f}{said}")
