"""Steps of one call with a hook: the median time from each stamp to the next, of the caller and of a stamped daemon.

The daemon is ours in a process of its own, with its methods wrapped (stamped_daemon.py); calls come one at a time, so
that each stamp belongs to the call between whose start and end it lies.
"""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from time import monotonic, monotonic_ns, sleep

from cases import CALL_NUMBER_MARKER, SOURCES, build_payload, command_hooks, function_hooks, make_home
from spawner import run_call
from stamped_daemon import ACCEPT, FRAME, HOOK, RESULT, SENT

from hookonce.client.sandbox_home import SandboxHome
from hookonce.lab import bench_cases
from hookonce.lab.bench_report import KB, StepShare

_START, _END = "start", "end"
# Each step ends with a stamp; of a stamp that a call has more than once, the last one counts (the answer).
STEPS = (
    (_START, ACCEPT, "the client starts and connects"),
    (ACCEPT, FRAME, "its request is read"),
    (FRAME, HOOK, "the daemon, before the hook"),
    (HOOK, RESULT, "the hook"),
    (RESULT, SENT, "the daemon, after the hook"),
    (SENT, _END, "the client answers and ends"),
)
_DAEMON_TIMEOUT_S, _POLL_INTERVAL_S = 5.0, 0.02
_CALL_INTERVAL_S = 0.01  # agents do not call in a row
_WARM_UP_CALLS = 5

Stamps = list[tuple[str, int]]


def measure_steps(scratch: Path, calls: int) -> list[StepShare]:
    """The steps of a function hook and of a command hook; none where no daemon can be started."""
    hooks_by_case = {bench_cases.FUNCTION: function_hooks(), bench_cases.GREP: command_hooks()}
    return [
        StepShare(case=case, step=words, us=us)
        for number, (case, hooks) in enumerate(hooks_by_case.items())
        for words, us in _measure_home(make_home(scratch / f"steps {number}", hooks), calls)
    ]


def _measure_home(home: SandboxHome, calls: int) -> list[tuple[str, float]]:
    home.stop_daemon()
    stamps_file = home.path / "stamps"
    program = [
        sys.executable,
        "-I",
        "-S",
        str(SOURCES / "stamped_daemon.py"),
        str(home.client.parent),
        str(stamps_file),
    ]
    daemon = subprocess.Popen(program, env=home.environment(), stdin=subprocess.DEVNULL)
    deadline = monotonic() + _DAEMON_TIMEOUT_S
    while home.status() is None and monotonic() < deadline:
        sleep(_POLL_INTERVAL_S)
    caller_stamps = [_call(home, number) for number in range(_WARM_UP_CALLS + calls)]
    home.stop_daemon()
    try:
        daemon.wait(_DAEMON_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
    if not stamps_file.exists():
        return []
    lines = stamps_file.read_text(encoding="utf-8").split("\n")[:-1]
    daemon_stamps = [(name, int(at)) for name, at in map(str.split, lines)]
    return summarize_stamps(caller_stamps[_WARM_UP_CALLS:], daemon_stamps)


def _call(home: SandboxHome, number: int) -> tuple[int, int]:
    payload = build_payload(KB).replace(CALL_NUMBER_MARKER.encode(), b"%010d" % number)
    start_ns = monotonic_ns()
    call_ns, *_ = run_call(home.command_line(), 0, payload, environment=home.environment())
    sleep(_CALL_INTERVAL_S)
    return start_ns, start_ns + call_ns


def summarize_stamps(calls: Iterable[tuple[int, int]], daemon_stamps: Stamps) -> list[tuple[str, float]]:
    """The median microseconds of each step; a call that lacks a stamp, because no daemon answered it, is left out."""
    durations: dict[str, list[int]] = {words: [] for *_, words in STEPS}
    position = 0
    for start_ns, end_ns in calls:
        at = {_START: start_ns, _END: end_ns}
        while position < len(daemon_stamps) and daemon_stamps[position][1] <= end_ns:
            name, stamp_ns = daemon_stamps[position]
            if stamp_ns >= start_ns:
                at[name] = stamp_ns
            position += 1
        if all(name in at for step in STEPS for name in step[:2]):
            for begin, end, words in STEPS:
                durations[words].append(at[end] - at[begin])
    return [(words, round(median(values) / 1000, 1)) for words, values in durations.items() if values]
