"""What a call of a module costs beside the least that it can cost: a JSON line there and back through two pipes.

Both run in turns, block by block, so that what else happens on the machine happens to both. The module is
written with `hookonce.modules`, is warm, and does nothing; the other side of the bare pipes does less than that.
"""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from statistics import median
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory
from threading import Thread
from time import perf_counter

from msgspec.json import decode, encode

from hookonce.modules.host.client import invoke
from hookonce.modules.host.stdio import StdioLink

ARGS = {"path": "src/main.py", "line": 12, "text": "hello"}
LINE = encode({"op": "echo", "args": ARGS, "id": 1}) + b"\n"
BARE = "import os, sys\nfor line in sys.stdin.buffer:\n    os.write(1, line)\n"
MODULE = """
from hookonce.modules import module
m = module(name="echo", kind="tool")
@m.op("echo")
def echo(args: dict) -> dict:
    return args
m.run()
"""
BLOCK_CALLS = 250
MAX_EXTRA_ROUND_TRIPS = 3.0  # how many bare round trips a call may cost beyond one


def bare_round_trip(into: int, out: int) -> None:
    """One line there and back, read as JSON."""
    os.write(into, LINE)
    decode(os.read(out, 1 << 16))


def time_calls(once: Callable[[], object], times: int) -> list[float]:
    """The seconds of each of so many calls."""
    durations = []
    for _ in range(times):
        begin = perf_counter()
        once()
        durations.append(perf_counter() - begin)
    return durations


def measure(calls: int) -> tuple[list[float], list[float]]:
    """The seconds of bare round trips and of calls, taken in turns."""
    with (
        Popen([sys.executable, "-c", BARE], stdin=PIPE, stdout=PIPE, bufsize=0) as process,
        StdioLink([sys.executable, "-c", MODULE]) as link,
    ):
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018
        into, out = process.stdin.fileno(), process.stdout.fileno()
        bare_s = [time_calls(lambda: bare_round_trip(into, out), BLOCK_CALLS)]  # the first of each is to get warm
        invoke_s = [time_calls(lambda: invoke(link, "echo", ARGS), BLOCK_CALLS)]
        for _ in range(max(1, calls // BLOCK_CALLS)):
            bare_s.append(time_calls(lambda: bare_round_trip(into, out), BLOCK_CALLS))
            invoke_s.append(time_calls(lambda: invoke(link, "echo", ARGS), BLOCK_CALLS))
        process.stdin.close()
    return [one for block in bare_s[1:] for one in block], [one for block in invoke_s[1:] for one in block]


def run_crowd(sessions: int, calls: int) -> tuple[int, float]:
    """Many sessions at once on one module: how many answers were somebody else's, and calls per second."""
    wrong: list[int] = []

    def talk(number: int) -> None:
        for turn in range(calls):
            arguments = {"session": number, "turn": turn}
            if invoke(link, "echo", arguments, session_id=str(number)).result != arguments:
                wrong.append(number)

    with StdioLink([sys.executable, "-c", MODULE]) as link:
        invoke(link, "echo", ARGS)
        threads = [Thread(target=talk, args=(number,)) for number in range(sessions)]
        begin = perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(wrong), sessions * calls / (perf_counter() - begin)


def main() -> int:
    """Measure and print; 1 if a call costs too much or an answer went astray."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--sessions", type=int, default=100)
    words = parser.parse_args()
    with TemporaryDirectory() as home:
        os.environ["HOME"] = home
        bare_s, invoke_s = measure(words.calls)
        wrong, speed = run_crowd(words.sessions, max(1, words.calls // words.sessions))
    ratio = median(invoke_s) / median(bare_s)
    print(f"bare JSON line round trip    {median(bare_s) * 1e6:8.1f} µs  (median of {len(bare_s)})")
    print(f"invoke of a warm module      {median(invoke_s) * 1e6:8.1f} µs  (median of {len(invoke_s)})")
    limit = f"{MAX_EXTRA_ROUND_TRIPS:g} at most"
    print(f"an invoke costs {ratio:.2f} bare round trips: {ratio - 1:.2f} beyond one, {limit}")
    print(f"mean of all: {sum(invoke_s) / sum(bare_s):.2f} bare round trips")
    print(f"{words.sessions} sessions at once: {speed:,.0f} calls per second, {wrong} answers astray")
    return int(ratio - 1 > MAX_EXTRA_ROUND_TRIPS or wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
