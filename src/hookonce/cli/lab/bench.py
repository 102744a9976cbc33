"""hookonce bench: latency of hook calls on this machine."""

from argparse import ArgumentParser, Namespace

from hookonce.cli._ui.arguments import add_flag, number_parser
from hookonce.cli._ui.messages import format_bytes, print_result, show_status
from hookonce.cli._ui.tables import print_table
from hookonce.lab.bench_report import KB, BenchReport, describe_ratio
from hookonce.lab.latency import measure_latency

_MAX_ROUNDS = 1000


def configure(parser: ArgumentParser) -> None:
    """The options of `bench`."""
    parser.epilog = "examples:\n  hookonce bench --quick\n  hookonce bench --json > results.json"
    add_flag(parser, "--quick", "measure less, in under 20 seconds")
    parser.add_argument(
        "--rounds",
        type=number_parser(_MAX_ROUNDS),
        metavar="N",
        help="number of rounds; default: 10, and 3 with --quick",
    )
    add_flag(parser, "--json", "print JSON")


def run(options: Namespace) -> int:
    """Measure how long agents wait for hookonce on this machine, in homes that are made for it."""
    rounds, max_seconds, share = (3, 10.0, 0.25) if options.quick else (10, 210.0, 1.0)
    report = measure_latency(options.rounds or rounds, max_seconds, share, show_status)
    print_result(options, report, print_report)
    return int(any(row.errors or row.wrong for row in report.rows))


def print_report(report: BenchReport) -> None:
    """The numbers as a table, and what they say of each other."""
    show_status("")
    times = ("half within (ms)", "99 % within (ms)", "calls per s")
    columns = ("case", "called", "callers", "payload", "pause (ms)", "calls", *times, "errors", "wrong", "cold")
    rows = []
    for row in sorted(report.rows, key=lambda row: (row.payload, row.callers, row.pause_ms, row.way, row.p50_ms)):
        figures = (f"{row.p50_ms:.2f}", f"{row.p99_ms:.2f}", f"{row.per_second:.0f}")
        ends = (str(row.errors), str(row.wrong), "-" if row.cold is None else str(row.cold))
        size, pause = format_bytes(row.payload), str(row.pause_ms)
        rows.append((row.case, row.way, str(row.callers), size, pause, str(row.calls), *figures, *ends))
    print_table(columns, rows)
    print()
    for ratio in report.ratios:
        verdict = "held" if ratio.held else "missed"
        aim = "" if ratio.held is None else f"  (target: at {ratio.bound} {ratio.aim}; {verdict})"
        print(f"{describe_ratio(ratio)}: {ratio.value:g}{aim}")
    for step in report.steps:
        print(f"{step.case}, {step.step}: {step.us:,.0f} µs")
    for memory in report.memory:
        sizes = f"{memory.before_kb / KB:.0f} MB before, {memory.after_kb / KB:.0f} MB after"
        print(f"daemon of {memory.daemon}: {sizes} {memory.answered:,} calls")
    for skipped_case in report.skipped:
        print(f"not measured: {skipped_case.case}: {skipped_case.reason}")
    print(f"\n{report.machine}, load {report.load} when it began")
    print(f"nothing: {report.floor}; processes were started from {report.spawner}")
    print("times: from start to end of the process that an agent starts for a hook")
    print("echo: hookonce's client with a daemon that always gives the same answer; cold: calls without a daemon")
