"""What a function costs as a hook, beside the least that a command can cost and beside the same file as a program.

All run in turns, one call of each, so that what else happens on the machine happens to all. The floor is `true` in a
shell, started as the daemon starts every command; the function is warm, in a process that has its file loaded.
"""

import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter

from hookonce import agents
from hookonce.base.event_loop import EventLoop
from hookonce.base.jsontext import dump
from hookonce.diagnose.trial import sample_event
from hookonce.handlers.command import CommandOperation, ProcessContext
from hookonce.handlers.function import build_function_operation, load_function
from hookonce.handlers.operation import Operation, OperationResult
from hookonce.handlers.workers.pool import WorkerPool
from hookonce.model import Handler

GUARD = Path(__file__).parents[1] / "examples" / "hooks" / "guard.py"
CALL_INTERVAL_S = 0.01  # seconds between two calls: agents do not call in a row
PROGRAM_EVERY_N_CALLS = 10  # one call of a program of Python for so many others
CALL_TIMEOUT_S = 30.0


def time_call(loop: EventLoop, operation: Operation) -> float:
    """Milliseconds of one call."""
    results: list[OperationResult] = []
    begin = perf_counter()
    operation.begin(loop, CALL_TIMEOUT_S, results.append)
    while not results:
        loop.run_once()
    call_ms = perf_counter() - begin
    if results[0].code != 0:
        raise SystemExit(f"a hook has failed: {results[0]}")
    rest = monotonic() + CALL_INTERVAL_S
    while (left := rest - monotonic()) > 0:
        loop.run_once(left)
    return call_ms * 1000


def measure(calls: int) -> dict[str, list[float]]:
    """The milliseconds of every call, by what was called."""
    event = dump(sample_event(agents.load("claude-code"), "before_tool_execute", "shell", {"command": "rm -rf /"}))
    function = load_function(Handler(type="function", file=GUARD.name), str(GUARD.parent))
    with TemporaryDirectory() as home:
        world = ProcessContext(cwd=home, env=os.environ | {"HOME": home})
        operations: dict[str, Operation] = {
            "true in a shell": CommandOperation("true", event, world, CALL_TIMEOUT_S),
            "function, warm": build_function_operation(function, event, world),
            "function, in a process of its own": CommandOperation(function.command, event, world, CALL_TIMEOUT_S),
            "the same file as a program": CommandOperation(f"{sys.executable} {GUARD}", event, world, CALL_TIMEOUT_S),
        }
        loop = EventLoop()
        pool = WorkerPool(loop)
        time_call(loop, operations["function, warm"])
        call_ms: dict[str, list[float]] = {name: [] for name in operations}
        for number in range(calls):
            for name, operation in operations.items():
                if number % PROGRAM_EVERY_N_CALLS == 0 or name in {"true in a shell", "function, warm"}:
                    call_ms[name].append(time_call(loop, operation))
        pool.close()
        loop.close()
    return call_ms


def main() -> None:
    """Measure, and print a table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=300)
    call_ms = measure(parser.parse_args().calls)
    floor = median(call_ms["true in a shell"])
    print(f"{'':36}{'p50 ms':>9}{'p99 ms':>9}{'ratio':>8}")
    for name, values in call_ms.items():
        print(f"{name:36}{median(values):9.2f}{quantiles(values, n=100)[98]:9.2f}{median(values) / floor:8.2f}")


if __name__ == "__main__":
    main()
