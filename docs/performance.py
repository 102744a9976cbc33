"""docs/performance.md and docs/latency.svg: the numbers of benchmarks/results.json, and nothing else."""

import sys
from pathlib import Path

from msgspec.json import decode
from page import GENERATED_NOTE, plain, table
from record_numbers import section

from hookonce.cli.lab.bench import format_bytes
from hookonce.lab.latency import DIRECT, KB, BenchRatio, BenchReport, BenchRow

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from chart import chart  # noqa: E402  it lies beside the numbers

OURS = ("warm", "cold", "twin")
TITLE = "One call, one caller, 1 KB: median milliseconds until the agent has its answer"
QUIET = 1.0
MEASURES = {"p50_ms": "p50", "p99_ms": "p99", "per_second": "calls a second"}
HEAD = ("case", "called", "callers", "payload", "calls", "p50 ms", "p99 ms", "a second", "errors", "wrong", "cold")
WORDS = {
    "nothing": "the floor: {floor}",
    "echo": "our client, and a daemon in Python that says the same to everybody",
    "warm": "our client and our daemon; no hook wants to know",
    "warm, a hook": "the same as warm, with one hook, the command `true`",
    "warm, no record": "the same as warm, with the setting `record = false`",
    "warm, a million rows": "the same as warm, in a home whose record holds a million events",
    "warm, a hook, no record": "a hook as above, with the setting `record = false`",
    "warm, a hook that refuses": "the same as warm, with a hook whose answer is another one for each call",
    "cold": "our client without a daemon: Python is started, no hook wants to know",
    "cold, a hook": "the same as cold, with one hook, the command `true`",
    "twin": "the client for machines without a C compiler: a shell and Python",
    "python -I -S -c pass": "an interpreter that does nothing",
}


def pages() -> dict[str, str]:
    """The page and its drawing; none while nothing was measured."""
    file = ROOT / "benchmarks" / "results.json"
    if not file.exists():
        return {}
    report = decode(file.read_bytes(), type=BenchReport)
    return {"docs/performance.md": page(report), "docs/latency.svg": drawing(report)}


def drawing(report: BenchReport) -> str:
    """Plain calls beside each other."""
    return chart(TITLE, [(row.case, row.p50_ms, row.case.startswith(OURS)) for row in alone(report)])


def alone(report: BenchReport) -> list[BenchRow]:
    """Plain calls: one caller, a small payload, no shell."""
    return [row for row in report.rows if (row.way, row.callers, row.payload) == (DIRECT, 1, KB)]


def page(report: BenchReport) -> str:
    """Everything that was measured, with date and machine."""
    lines = ["# How long agents wait", "", GENERATED_NOTE, ""]
    lines += [f"Measured on {report.date} with hookonce {report.hookonce} on {report.machine}, in {report.rounds}"]
    lines += ["shuffled rounds of one run; `make bench` repeats it and `make docs` puts the numbers here. After"]
    lines += ["`pip install`, `hookonce bench` measures the shortest of these cases on your machine."]
    if report.load is not None and report.load >= QUIET:
        lines += [f"The machine was busy with other work (load {report.load}), which lengthens every p99."]
    lines += ["Milliseconds differ from machine to machine and from hour to hour; the ratios differ less.", ""]
    lines += ["![median milliseconds of one call](latency.svg)", ""]
    lines += ["## What was aimed at", ""]
    lines += table(("what", "measured", "aimed at", ""), [aim(ratio) for ratio in report.ratios])
    lines += ["", "## What was called", ""]
    measured = {row.case for row in report.rows}
    names = [name for name in WORDS if name in measured] + sorted(measured - WORDS.keys())
    told = [(name, WORDS.get(name, "the smallest hook that this Python package allows")) for name in names]
    lines += table(("case", "is"), [(f"`{name}`", text.format(floor=report.floor)) for name, text in told])
    lines += ["", "## Every number", ""]
    lines += ["`sh -c`: through a shell, as agents do it. Cold: calls that a daemon should have answered and did not."]
    lines += [""]
    ordered = sorted(report.rows, key=lambda row: (row.payload, row.callers, row.way, row.p50_ms))
    lines += table(HEAD, [numbers(row) for row in ordered])
    lines += ["", "## The daemon's memory", ""]
    memory = [
        (f"`{m.daemon}`", f"{m.before_kb / KB:.1f} MB", f"{m.after_kb / KB:.1f} MB", f"{m.answered:,}")
        for m in report.memory
    ]
    lines += table(("daemon of", "before", "after", "calls in between"), memory)
    lines += [""] + [f"Not measured: `{left.case}`: {plain(left.reason)}." for left in report.skipped]
    lines += section()
    return "\n".join(lines).rstrip() + "\n"


def aim(ratio: BenchRatio) -> tuple[str, ...]:
    """A ratio as a row."""
    many = "" if ratio.callers == 1 else f", {ratio.callers} callers"
    what = f"`{ratio.case}` / `{ratio.to}`, {MEASURES.get(ratio.of, ratio.of)}{many}"
    if ratio.aim is None:
        return what, f"{ratio.value:.2f}", "–", ""
    return what, f"{ratio.value:.2f}", f"at {ratio.bound} {ratio.aim:g}", "held" if ratio.held else "missed"


def numbers(row: BenchRow) -> tuple[str, ...]:
    """A row as it is shown."""
    cold = "–" if row.cold is None else f"{row.cold:,}"
    times = (f"{row.p50_ms:.2f}", f"{row.p99_ms:.2f}", f"{row.per_second:,.0f}")
    where = (f"`{row.case}`", row.way, str(row.callers), format_bytes(row.payload), f"{row.calls:,}")
    return *where, *times, str(row.errors), str(row.wrong), cold
