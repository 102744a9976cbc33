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
PAUSE = 0.01  # seconds between two calls: agents do not call in a row
SELDOM = 10  # one call of a program of Python for so many others
PATIENCE = 30.0


def once(loop: EventLoop, errand: Operation) -> float:
    """Milliseconds of one call."""
    ended: list[OperationResult] = []
    begin = perf_counter()
    errand.begin(loop, PATIENCE, ended.append)
    while not ended:
        loop.run_once()
    took = perf_counter() - begin
    if ended[0].code != 0:
        raise SystemExit(f"a hook has failed: {ended[0]}")
    rest = monotonic() + PAUSE
    while (left := rest - monotonic()) > 0:
        loop.run_once(left)
    return took * 1000


def measure(calls: int) -> dict[str, list[float]]:
    """The milliseconds of every call, by what was called."""
    event = dump(sample_event(agents.load("claude-code"), "before_tool_execute", "shell", {"command": "rm -rf /"}))
    function = load_function(Handler(type="function", file=GUARD.name), str(GUARD.parent))
    with TemporaryDirectory() as home:
        world = ProcessContext(cwd=home, env=os.environ | {"HOME": home})
        tried: dict[str, Operation] = {
            "true in a shell": CommandOperation("true", event, world, PATIENCE),
            "function, warm": build_function_operation(function, event, world),
            "function, in a process of its own": CommandOperation(function.command, event, world, PATIENCE),
            "the same file as a program": CommandOperation(f"{sys.executable} {GUARD}", event, world, PATIENCE),
        }
        loop = EventLoop()
        kept = WorkerPool(loop)
        once(loop, tried["function, warm"])
        took: dict[str, list[float]] = {name: [] for name in tried}
        for number in range(calls):
            for name, errand in tried.items():
                if number % SELDOM == 0 or name in {"true in a shell", "function, warm"}:
                    took[name].append(once(loop, errand))
        kept.close()
        loop.close()
    return took


def main() -> None:
    """Measure, and print a table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=300)
    took = measure(parser.parse_args().calls)
    floor = median(took["true in a shell"])
    print(f"{'':36}{'p50 ms':>9}{'p99 ms':>9}{'ratio':>8}")
    for name, values in took.items():
        print(f"{name:36}{median(values):9.2f}{quantiles(values, n=100)[98]:9.2f}{median(values) / floor:8.2f}")


if __name__ == "__main__":
    main()
