"""docs/performance.md and its drawings: the numbers of the results below benchmarks/, and nothing else."""

import sys
from pathlib import Path

from msgspec.json import decode
from page import GENERATED_NOTE, plain, table
from peer_numbers import peer_drawing, peer_section
from record_numbers import section

from hookonce.cli.lab.bench import format_bytes
from hookonce.lab.bench_report import DIRECT, KB, BenchRatio, BenchReport, BenchRow, StepShare, describe_ratio

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from chart import chart  # noqa: E402  it lies beside the numbers

THEIRS = ("nothing", "echo", "sh -c true", "sh -c grep guard", "python -I -S -c pass", "python -c pass")
TITLE = "One call, one caller, 1 KB: median milliseconds until the agent has its answer"
QUIET = 1.0
HEAD = (
    "case",
    "called",
    "callers",
    "payload",
    "pause",
    "calls",
    "p50 ms",
    "p99 ms",
    "a second",
    "errors",
    "wrong",
    "cold",
)
WORDS = {
    "nothing": "the floor: {floor}",
    "echo": "our client, and a daemon in Python that says the same to everybody",
    "no hooks": "our client and our daemon; no hook wants to know",
    "function hook, answers": "the README's five lines as a function of a manifest, asked about `ls -la`",
    "function hook, refuses": "the same function, asked about `rm -rf /`",
    "command hook true": "one hook, the command `true`",
    "sh -c true": "the same command without us",
    "command hook grep guard": "one hook, the README's command with `grep`",
    "sh -c grep guard": "the same command without us, with the same payload",
    "three command hooks true": "three hooks, each the command `true`",
    "three grep guards": "three hooks, each the README's command with `grep`",
    "command hook, refuses": "one hook, a command whose answer is another one for each call",
    "cold": "our client without a daemon: Python is started, no hook wants to know",
    "cold, command hook true": "the same with one hook, the command `true`",
    "daemon just killed": "one hook, `true`; the daemon was killed just before, and nobody has noticed yet",
    "next call after that": "the call after such a call",
    "from hookonce import deny, hook": "what a hook program imports, and nothing else",
    "python guard.py": "the README's five lines as a program, asked about `ls -la`",
    "no hooks, no record": "no hooks, with the setting `record = false`",
    "no hooks, a million rows": "no hooks, in a home whose record holds a million events",
    "command hook true, no record": "one hook, `true`, with the setting `record = false`",
    "twin": "the client for machines without a C compiler: a shell and Python",
    "python -I -S -c pass": "an interpreter that does nothing",
    "python -c pass": "an interpreter that looks for packages and does nothing",
}


def pages() -> dict[str, str]:
    """The page and its drawing; none while nothing was measured."""
    file = ROOT / "benchmarks" / "results.json"
    if not file.exists():
        return {}
    report = decode(file.read_bytes(), type=BenchReport)
    return {"docs/performance.md": page(report), "docs/latency.svg": drawing(report)} | peer_drawing()


def drawing(report: BenchReport) -> str:
    """Plain calls beside each other."""
    return chart(TITLE, [(row.case, row.p50_ms, row.case not in THEIRS) for row in alone(report)])


def alone(report: BenchReport) -> list[BenchRow]:
    """Plain calls: one caller, a small payload, no shell, no pause."""
    return [row for row in report.rows if (row.way, row.callers, row.payload, row.pause_ms) == (DIRECT, 1, KB, 0)]


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
    lines += ["With 50 ms between calls, as agents call, a ratio is to be at most a fifth larger than without.", ""]
    lines += table(("what", "measured", "aimed at", ""), [aim(ratio) for ratio in report.ratios])
    lines += ["", "## What was called", ""]
    measured = {row.case for row in report.rows}
    names = [name for name in WORDS if name in measured]
    lines += table(("case", "is"), [(f"`{name}`", WORDS[name].format(floor=report.floor)) for name in names])
    lines += step_section(report.steps)
    lines += ["", "## Every number", ""]
    lines += [
        "`sh -c`: through a shell, as agents do it. Pause: between two calls of one caller. Cold: calls that a daemon"
    ]
    lines += ["should have answered and did not. What a daemon puts off until after its answers, such as the record,"]
    lines += ["is done before the next case is called; of calls without a pause it is a part."]
    lines += [""]
    ordered = sorted(report.rows, key=lambda row: (row.payload, row.callers, row.pause_ms, row.way, row.p50_ms))
    lines += table(HEAD, [numbers(row) for row in ordered])
    lines += ["", "## The daemon's memory", ""]
    memory = [
        (f"`{m.daemon}`", f"{m.before_kb / KB:.1f} MB", f"{m.after_kb / KB:.1f} MB", f"{m.answered:,}")
        for m in report.memory
    ]
    lines += table(("daemon of", "before", "after", "calls in between"), memory)
    lines += [""] + [f"Not measured: `{left.case}`: {plain(left.reason)}." for left in report.skipped]
    lines += peer_section() + section()
    return "\n".join(lines).rstrip() + "\n"


def aim(ratio: BenchRatio) -> tuple[str, ...]:
    """A ratio as a row."""
    what, value = describe_ratio(ratio, "`"), f"{ratio.value:g}" if ratio.to is None else f"{ratio.value:.2f}"
    if ratio.aim is None:
        return what, value, "–", ""
    return what, value, f"at {ratio.bound} {ratio.aim:g}", "held" if ratio.held else "missed"


def step_section(steps: list[StepShare]) -> list[str]:
    """How the time of a call with a hook is shared among its steps."""
    if not steps:
        return []
    cases = list(dict.fromkeys(step.case for step in steps))
    lines = ["", "## The steps of one call", ""]
    lines += [
        "Medians in microseconds, of calls one at a time, 10 ms apart, by stamps of the caller and of a daemon whose"
    ]
    lines += ["methods are wrapped for that (`benchmarks/stamped_daemon.py`); a stamp costs about a microsecond.", ""]
    us_by_step = {(step.case, step.step): step.us for step in steps}
    rows = [
        (name, *(f"{us_by_step[case, name]:,.0f}" if (case, name) in us_by_step else "–" for case in cases))
        for name in dict.fromkeys(step.step for step in steps)
    ]
    totals = (f"{sum(step.us for step in steps if step.case == case):,.0f}" for case in cases)
    return lines + table(("step", *(f"`{case}`" for case in cases)), [*rows, ("together", *totals)])


def numbers(row: BenchRow) -> tuple[str, ...]:
    """A row as it is shown."""
    cold = "–" if row.cold is None else f"{row.cold:,}"
    times = (f"{row.p50_ms:.2f}", f"{row.p99_ms:.2f}", f"{row.per_second:,.0f}")
    pause = f"{row.pause_ms} ms" if row.pause_ms else "–"
    where = (f"`{row.case}`", row.way, str(row.callers), format_bytes(row.payload), pause, f"{row.calls:,}")
    return *where, *times, str(row.errors), str(row.wrong), cold
