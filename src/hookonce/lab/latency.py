"""Latency: a short benchmark of what agents wait for on this machine, and the report that all benchmarks make.

`benchmarks/latency.py` of the repository measures more: many callers, large payloads, a full store, other packages.
The report's JSON form is schemas/bench.json.
"""

import os
import platform
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from math import ceil
from pathlib import Path
from shlex import join
from tempfile import TemporaryDirectory
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookonce import __version__
from hookonce.base.jsontext import dump
from hookonce.base.times import now
from hookonce.client.sandbox_home import EVENT, SandboxHome
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
        ratios=build_ratios(rows, []),
        memory=memory,
        skipped=[SkippedCase(case=name, reason=reason) for name, reason in skip_reasons.items()],
    )


@contextmanager
def _prepare_cases() -> Iterator[tuple[list[LatencyCase], dict[str, str]]]:
    """The cases that can be measured here, with daemons that live as long as the context, and why others cannot."""
    cases = [
        LatencyCase(FLOOR, ["/bin/true"], 80),
        LatencyCase(PYTHON, [sys.executable, "-I", "-S", "-c", "pass"], 16),
    ]
    skip_reasons = dict.fromkeys(REPOSITORY_CASES, "only benchmarks/latency.py of the repository measures it")
    with TemporaryDirectory(prefix="hookonce-bench-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch).resolve()
        homes = {
            WARM: SandboxHome(folder / "quiet"),
            WARM_HOOK: SandboxHome(folder / "hooked", [_HOOK]),
        }
        try:
            for (name, home), calls in zip(homes.items(), (80, 30), strict=True):
                if home.start_daemon() is None:
                    skip_reasons[name] = "no daemon answers here"
                else:
                    cases.append(LatencyCase(name, home.command_line(), calls, home.environment(), home=home))
            quiet = homes[WARM]
            environment = quiet.environment() | {"HOOKONCE_COLD": "1"}  # the client asks no daemon then
            cases.append(LatencyCase(COLD, quiet.command_line(), 8, environment, _COLD_PAUSE_S))
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
