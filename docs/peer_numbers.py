"""The part of docs/performance.md about other tools, and docs/peers.svg, from benchmarks/peers/results.json."""

import sys
from pathlib import Path

from page import plain, table

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
sys.path[:0] = [str(BENCHMARKS), str(BENCHMARKS / "peers")]

from chart import chart  # noqa: E402  they lie beside the numbers
from peer_report import OURS_FUNCTION, PAUSES_MS, PAYLOADS, PeerProgram, PeerReport, load_report  # noqa: E402

TITLE = "One call about {payload}, 50 ms after the one before: median milliseconds"

INTRODUCTION = """\
Measured on {report.date} with hookonce {report.hookonce} on {report.machine} (load {report.load}), in
{report.rounds} shuffled rounds of one run; `make bench-peers` repeats it. Each program starts without a shell and is
asked about three tool calls, without a pause and 50 ms after the call before, with its own defaults, its own home and
telemetry off. Packages that leave the judgement to the user have the README's guard, and so have the programs in Go,
Rust, Python and JavaScript, which need no package. × is how many times as long as our function hook one takes, where it
comes closest."""


def peer_drawing() -> dict[str, str]:
    """The drawing of what an agent waits for, as agents call."""
    if (report := load_report()) is None:
        return {}
    payload, pause_ms = PAYLOADS[0], PAUSES_MS[-1]
    bars = [(p.name, report.p50_ms(p.name, payload, pause_ms), p.name.startswith("hookonce")) for p in report.programs]
    return {"docs/peers.svg": chart(TITLE.format(payload=payload), bars)}


def peer_section() -> list[str]:
    """The peers beside us."""
    if (report := load_report()) is None:
        return []
    lines = ["", "", "## Other tools", ""]
    lines += [INTRODUCTION.format(report=report), ""]
    lines += ["![median milliseconds of one call](peers.svg)", ""]
    head = ("program", "is", *(f"`{payload}`" for payload in PAYLOADS), *(f"`{p}`, 50 ms" for p in PAYLOADS), "×", "")
    ordered = sorted(report.programs, key=lambda program: report.p50_ms(program.name, PAYLOADS[0], PAUSES_MS[-1]))
    lines += table(head, [_program_row(report, program) for program in ordered])
    lines += ["", "Medians in milliseconds.", ""]
    lines += [f"Not measured: {name}: {plain(reason)}." for name, reason in report.missing.items()]
    return lines


def _program_row(report: PeerReport, program: PeerProgram) -> tuple[str, ...]:
    times = [
        f"{report.p50_ms(program.name, payload, pause_ms):.2f}"
        + (f" {program.verdicts[payload]}" if not pause_ms else "")
        for pause_ms in PAUSES_MS
        for payload in PAYLOADS
    ]
    ratio = report.least_ratio(program.name)
    verdict = ("held" if ratio > 1 else "missed") if program.is_peer else ""
    words = program.words + (f", {program.version}, {program.licence}" if program.is_peer else "")
    return program.name, words, *times, "1" if program.name == OURS_FUNCTION else f"{ratio:.2f}", verdict
