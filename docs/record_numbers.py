"""The part of docs/performance.md about the record: the numbers of benchmarks/record/results.json, and nothing else."""

import sys
from pathlib import Path

from page import table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks" / "record"))

from store_report import MAX_QUERY_S, StoreReport, StoreSize, load_report

SIZES = (
    "events",
    "sessions",
    "bytes per event",
    "appended per s",
    "per s of a core",
    "× SQLite",
    "`audit verify`, a core",
)


def section() -> list[str]:
    """What keeping and looking cost; nothing while it was not measured."""
    found = load_report()
    return [] if found is None else _lines(found)


def _lines(found: StoreReport) -> list[str]:
    lines = ["", "## The record", ""]
    lines += [f"Measured on {found.date} with hookonce {found.hookonce} on {found.machine} (load {found.load}), with"]
    lines += ["recorded sessions of eight agents told again over 365 days and 10,000 projects, at the level `minimal`."]
    lines += ["`make bench-large` repeats it. Commands are timed from their start to their end; in brackets stands for"]
    lines += ["how long a core worked for them, which other work on the machine changes less.", ""]
    lines += table(SIZES, [_size(one) for one in found.sizes])
    lines += ["", "× SQLite: the work of SQLite alone with the same bodies in the same batches.", ""]
    head = ("command", *(f"{one.events:,} events" for one in found.sizes), "aimed at")
    lines += table(head, [_look(name, found.sizes) for name in (look.command for look in found.sizes[-1].looks)])
    lines += ["", "A text is looked for in every record: that takes as long as reading all of them. Everything else is"]
    lines += ["answered from summaries or from an index; a filter that fits few events reads the index once."]
    return lines


def _size(one: StoreSize) -> tuple[str, ...]:
    kept_ = (f"{one.bytes_per_event:,}", f"{one.per_second:,}", f"{one.per_cpu_second:,}", f"{one.times_sqlite:.1f}")
    return f"{one.events:,}", f"{one.sessions:,}", *kept_, f"{one.verified.cpu_ms / 1000:,.1f} s"


def _look(name: str, sizes: list[StoreSize]) -> tuple[str, ...]:
    cells = []
    for size in sizes:
        look = next(one for one in size.looks if one.command == name)
        cells.append(f"{look.ms:,.0f} ms ({look.cpu_ms:,.0f})")
    aim = MAX_QUERY_S.get(name)
    return f"`{name}`", *cells, "–" if aim is None else f"{aim:g} s"
