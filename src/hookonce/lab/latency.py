"""Latency: a short benchmark of what agents wait for on this machine.

`benchmarks/latency.py` of the repository measures more: functions, many callers, large payloads, a full store.
"""

import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from shlex import join
from tempfile import TemporaryDirectory

from msgspec import Struct

from hookonce import __version__
from hookonce.base.jsontext import dump
from hookonce.base.times import now
from hookonce.client.sandbox_home import EVENT, SandboxHome
from hookonce.lab import bench_cases
from hookonce.lab.bench_report import (
    DIRECT,
    KB,
    SHELL,
    BenchReport,
    CallTally,
    DaemonMemory,
    SkippedCase,
    build_ratios,
    build_row,
    machine_label,
)

# What only benchmarks/latency.py of the repository measures.
REPOSITORY_CASES = (
    bench_cases.ECHO,
    bench_cases.NO_RECORD,
    bench_cases.MILLION_ROWS,
    bench_cases.FUNCTION,
    bench_cases.FUNCTION_DENY,
    bench_cases.COMMAND_NO_RECORD,
    bench_cases.COMMAND_DENY,
    bench_cases.GREP,
    bench_cases.THREE_COMMANDS,
    bench_cases.THREE_GREPS,
    bench_cases.COLD_HOOK,
    bench_cases.DAEMON_KILLED,
    bench_cases.SDK_IMPORT,
    bench_cases.SDK_PROGRAM,
    bench_cases.PYTHON_CLIENT,
)
_CHUNK_BYTES = 1 << 16
_MAX_PAGE_FAULTS = 400  # of a call by our client and a shell; the smallest interpreter has more
_COLD_PAUSE_S = 0.1  # in which the rest of a one-shot call's work is done
_HOOK = {"event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": "true"}}
_PAYLOAD = dump(
    {
        "session_id": "bench",
        "transcript_path": "/home/dev/.claude/projects/bench/bench.jsonl",
        "cwd": "/",
        "permission_mode": "default",
        "hook_event_name": EVENT,
        "tool_use_id": "toolu_0000000000",
        "tool_name": "Write",
        "tool_input": {"file_path": "/home/dev/file", "content": "x" * (KB - 300)},
    }
)


class LatencyCase(Struct, frozen=True):
    """Program, calls per round, environment, pause after each call, and the home whose daemon has to answer."""

    name: str
    command: list[str]
    calls: int
    environment: dict[str, str] = {}
    pause_s: float = 0.0
    home: SandboxHome | None = None


def measure_latency(
    rounds: int, max_seconds: float, share: float, progress: Callable[[str], object] = lambda _: None
) -> BenchReport:
    """Measure each case in shuffled rounds, of which none begins after `max_seconds`, with a share of its calls."""
    load = round(os.getloadavg()[0], 1)
    progress("making homes, and waking their daemons")
    with _prepare_cases() as (cases, skip_reasons):
        homes = {case.name: case.home for case in cases if case.home is not None}
        memory_before = {name: home.status() for name, home in homes.items()}
        is_native = any(home.is_native() for home in homes.values())
        blocks = list(product(cases, (DIRECT, SHELL)))
        tallies = {(case.name, way): CallTally() for case, way in blocks}
        deadline, finished_rounds = time.monotonic() + max_seconds, 0
        while finished_rounds < rounds and (not finished_rounds or time.monotonic() < deadline):
            finished_rounds += 1
            progress(f"round {finished_rounds} of {rounds}")
            for case, way in random.sample(blocks, len(blocks)):
                for _ in range(max(int(case.calls * share), 1)):
                    _measure_call(case, way, tallies[case.name, way], counts_cold=is_native and case.name in homes)
        memory = [DaemonMemory.between(name, memory_before[name], home.status()) for name, home in homes.items()]
    rows = [build_row(name, way, 1, KB, tally) for (name, way), tally in tallies.items()]
    return BenchReport(
        hookonce=__version__,
        date=now()[:10],
        machine=machine_label(),
        load=load,
        client="machine code" if is_native else "sh and Python",
        spawner="Python",
        floor="/bin/true",
        rounds=finished_rounds,
        rows=rows,
        ratios=build_ratios(rows),
        memory=memory,
        skipped=[SkippedCase(case=name, reason=reason) for name, reason in skip_reasons.items()],
    )


@contextmanager
def _prepare_cases() -> Iterator[tuple[list[LatencyCase], dict[str, str]]]:
    """The cases that can be measured here, with daemons that live as long as the context, and why others cannot."""
    cases = [
        LatencyCase(bench_cases.FLOOR, ["/bin/true"], 80),
        LatencyCase(bench_cases.PYTHON, [sys.executable, "-I", "-S", "-c", "pass"], 16),
    ]
    skip_reasons = dict.fromkeys(REPOSITORY_CASES, "only benchmarks/latency.py of the repository measures it")
    with TemporaryDirectory(prefix="hookonce-bench-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch).resolve()
        homes = {
            bench_cases.NO_HOOKS: SandboxHome(folder / "quiet"),
            bench_cases.COMMAND: SandboxHome(folder / "hooked", [_HOOK]),
        }
        try:
            for (name, home), calls in zip(homes.items(), (80, 30), strict=True):
                if home.start_daemon() is None:
                    skip_reasons[name] = "no daemon answers here"
                else:
                    cases.append(LatencyCase(name, home.command_line(), calls, home.environment(), home=home))
            quiet = homes[bench_cases.NO_HOOKS]
            environment = quiet.environment() | {"HOOKONCE_COLD": "1"}  # the client asks no daemon then
            cases.append(LatencyCase(bench_cases.COLD, quiet.command_line(), 8, environment, _COLD_PAUSE_S))
            yield cases, skip_reasons
        finally:
            for home in homes.values():
                home.delete()


def _measure_call(case: LatencyCase, way: str, tally: CallTally, *, counts_cold: bool) -> None:
    """Call the program as an agent calls a hook; silence is the right answer of all cases."""
    command = case.command if way == DIRECT else ["/bin/sh", "-c", join(case.command)]
    stdin_read, stdin_write = os.pipe()
    output_read, output_write = os.pipe()
    duplicates = ((stdin_read, 0), (output_write, 1), (output_write, 2))
    files = [(os.POSIX_SPAWN_DUP2, descriptor, number) for descriptor, number in duplicates]
    start_ns = time.monotonic_ns()
    child = os.posix_spawn(command[0], command, case.environment, file_actions=files)
    os.close(stdin_read)
    os.close(output_write)
    with suppress(OSError):  # a program that does not read; a payload of this size fits into the pipe
        os.write(stdin_write, _PAYLOAD)
    os.close(stdin_write)
    output = b"".join(iter(lambda: os.read(output_read, _CHUNK_BYTES), b""))
    _, status, usage = os.wait4(child, 0)
    call_ns = time.monotonic_ns() - start_ns
    os.close(output_read)
    tally.call_ns.append(call_ns)
    tally.busy_ns += call_ns
    tally.errors += bool(status)
    tally.wrong += not status and bool(output)
    if counts_cold:
        tally.cold_count = (tally.cold_count or 0) + (usage.ru_minflt > _MAX_PAGE_FAULTS)
    time.sleep(case.pause_s)
