"""make bench: what the daemon does with a call until its first hook begins, in microseconds and function calls.

One call of Claude Code with one command hook of the user, inside this process: from the frame's arrival until the
hook's operation would begin. Function calls are those of Python itself (`sys.setprofile`) and the same on every
machine; time is given as a ratio to a floor of the same run, the JSON of the payload parsed and printed 100 times.
"""

import gc
import json
import os
import shutil
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from hookonce.base import build_id, ids, paths, process_info, wire
from hookonce.base.event_loop import EventLoop
from hookonce.base.runtime_location import CLIENT_SUBDIR
from hookonce.daemon import connection, socket_call
from hookonce.daemon.server import Daemon
from hookonce.handlers import command
from hookonce.handlers.operation import OperationResult

WARM_UP_CALLS, TIMED_CALLS, COUNTED_CALLS = 20, 200, 20
FLOOR_REPEATS, FLOOR_INTERVAL_CALLS = 100, 20
MAX_FUNCTION_CALLS = 400
_DRAIN_ROUNDS = 5  # of the loop, after each call
_SETTLE_S = 0.2  # files that were changed just now are looked at more closely
_HOOK = {
    "name": "guard",
    "event": "before_tool_execute",
    "matcher": "shell",
    "blocking": True,
    "handler": {"type": "command", "command": "true"},
}


class _NothingRunning:
    """Handle of a hook that was never started."""

    def cancel(self) -> None:
        """There is nothing to cancel."""


class CallBench:
    """A daemon in this process, with a home of its own, whose hooks never really run."""

    def __init__(self, home: Path) -> None:
        """Write the hook's manifest, and listen."""
        self.home, self.project = home, home / "work"
        os.environ["HOME"] = str(home)
        config_dir = home / ".config/hookonce"
        config_dir.mkdir(parents=True)
        self.project.mkdir()
        (config_dir / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [_HOOK]}))
        paths.make_private_dir(home / CLIENT_SUBDIR)
        paths.use_client_home(str(home / CLIENT_SUBDIR))  # as the daemon does
        paths.client_path().write_bytes(b"")
        self.daemon = Daemon(home / "socket")
        self._counts_calls, self._call_count, self.call_counts = False, 0, [0]
        self._cpu_ns = 0
        command.CommandOperation.begin = self._begin  # type: ignore[method-assign,assignment]
        process_info.is_process_alive = lambda _: False  # a client ends with its call; this process does not
        socket_call._HANGUP_POLL_S = 0  # noqa: SLF001  a call is forgotten before the next one, not during it
        gc.disable()  # as the daemon does
        time.sleep(_SETTLE_S)

    def _begin(
        self, loop: EventLoop, timeout: float, on_result: Callable[[OperationResult], object]
    ) -> _NothingRunning:
        sys.setprofile(None)
        self._cpu_ns = time.process_time_ns()
        del timeout
        loop.call_at(0, lambda: on_result(OperationResult(code=0)))
        return _NothingRunning()

    def payload(self, number: int) -> bytes:
        """A call of a shell."""
        return json.dumps(
            {
                "session_id": "s1",
                "transcript_path": f"{self.home}/.claude/x.jsonl",
                "cwd": str(self.project),
                "permission_mode": "default",
                "hook_event_name": "PreToolUse",
                "tool_name": "Bash",
                "tool_input": {"command": "ls -la", "description": "list"},
                "tool_use_id": f"toolu_{number}",
            }
        ).encode()

    def _frame(self, number: int) -> bytes:
        argv = ["claude-code", "PreToolUse", "--via", "claude-code/user"]
        environment = [f"HOME={self.home}", "PATH=/usr/bin:/bin", "LANG=C"]
        start_time = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
        return wire.encode_frame(
            [
                wire.VERSION,
                build_id.running_build_id().encode(),
                ids.new_id().encode(),
                "".join(f"{argument}\0" for argument in argv).encode(),
                "".join(f"{variable}\0" for variable in environment).encode(),
                str(self.project).encode(),
                b"22",
                self.payload(number),
                f"{os.getppid()} {start_time}".encode(),
            ]
        )

    def run_call(self, number: int, *, count_calls: bool = False) -> tuple[float, int]:
        """CPU microseconds from the frame until the hook begins, and function calls where they are counted."""
        daemon, frame = self.daemon, self._frame(number)
        server_end, client_end = socket.socketpair()
        server_end.settimeout(0)
        client_end.sendall(frame)
        client = connection.ClientConnection(daemon.loop, server_end, daemon._handle_frame)  # noqa: SLF001
        self._cpu_ns, self._call_count = 0, 0
        start_ns = time.process_time_ns()
        if count_calls:
            sys.setprofile(self._count)
        client.handle_ready()
        while not self._cpu_ns:
            daemon.loop.run_once(0.01)
        duration_us = (self._cpu_ns - start_ns) / 1000
        while daemon.active_calls:
            daemon.loop.run_once(0.01)
        client_end.close()
        for _ in range(_DRAIN_ROUNDS):
            daemon.loop.run_once(0)
        return duration_us, self._call_count

    def _count(self, _frame: FrameType, kind: str, _argument: object) -> None:
        self._call_count += kind == "call"


def measure_floor(payload: bytes) -> float:
    """CPU microseconds for the payload's JSON, parsed and printed."""
    start_ns = time.process_time_ns()
    for _ in range(FLOOR_REPEATS):
        json.dumps(json.loads(payload))
    return (time.process_time_ns() - start_ns) / 1000


def measure(home: Path) -> dict[str, float]:
    """The medians of one run."""
    bench = CallBench(home)
    for number in range(WARM_UP_CALLS):
        bench.run_call(number)
    times, floors = [], []
    for number in range(TIMED_CALLS):
        times.append(bench.run_call(1000 + number)[0])
        if number % FLOOR_INTERVAL_CALLS == 0:  # not after each: it takes the processor's caches from the next call
            floors.append(measure_floor(bench.payload(number)))
    calls = [bench.run_call(2000 + number, count_calls=True)[1] for number in range(COUNTED_CALLS)]
    time_us, floor_us = statistics.median(times), statistics.median(floors)
    return {
        "cpu_us": round(time_us, 1),
        "floor_us": round(floor_us, 1),
        "ratio": round(time_us / floor_us, 2),
        "function_calls": statistics.median(calls),
        "max_function_calls": MAX_FUNCTION_CALLS,
    }


def main() -> int:
    """Print the figures; an exit code other than 0 where there are too many function calls."""
    home = Path(tempfile.mkdtemp(prefix="call-path-"))
    try:
        figures = measure(home)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    if "--json" in sys.argv[1:]:
        print(json.dumps(figures))
    else:
        print(f"{'call until its first hook':28}{'CPU us':>10}{'ratio':>8}{'function calls':>16}")
        print(f"{'frame to hook':28}{figures['cpu_us']:10.1f}{figures['ratio']:8.2f}{figures['function_calls']:16.0f}")
        print(f"{'floor (JSON x100)':28}{figures['floor_us']:10.1f}{1:8.2f}{'':>16}")
    return int(figures["function_calls"] > MAX_FUNCTION_CALLS)


if __name__ == "__main__":
    sys.exit(main())
