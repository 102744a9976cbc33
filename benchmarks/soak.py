"""Soak test of the daemon: many calls, then minutes of idling and bursts; prints its memory over time.

    python benchmarks/soak.py --calls 200000 --minutes 60

Frames go straight to the daemon's socket, from one caller: what is measured is the daemon, not the start of clients.
"""

import os
import socket
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import json

from hookonce.base import build_id, ids, wire
from hookonce.client.sandbox_home import AGENT, SandboxHome

MAX_MEMORY_MB = 60
CALLS_PER_SESSION = 200
BURST_CALLS = 500
BURST_INTERVAL_S = 30
ENVIRONMENT = "".join(f"VARIABLE_{number}={'x' * 60}\0" for number in range(60)).encode()  # what a shell of today has


def main() -> int:
    """Run it; an exit code other than 0 where the daemon has grown beyond its limit."""
    parser = ArgumentParser(description="Memory of the daemon after many calls.")
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=0)
    options = parser.parse_args()
    with TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as scratch:
        home = SandboxHome(Path(scratch) / "home")
        try:
            memory_mb = _run(home, options.calls, options.minutes)
        finally:
            home.delete(force=True)
    print(f"{memory_mb:.1f} MB in the end; at most {MAX_MEMORY_MB} MB are promised")
    return int(memory_mb > MAX_MEMORY_MB)


def _run(home: SandboxHome, calls: int, minutes: float) -> float:
    home.start_daemon()
    print(f"{'calls':>9}{'minutes':>9}{'MB':>7}{'not written':>13}")
    start, step = time.monotonic(), max(calls // 10, 1)
    memory_mb, done = _print_status(home, start, 0), 0
    while done < calls:
        for _ in range(min(step, calls - done)):
            _call(home, done)
            done += 1
        memory_mb = _print_status(home, start, done)
    idle_end = time.monotonic() + minutes * 60
    while time.monotonic() < idle_end:
        time.sleep(min(BURST_INTERVAL_S, max(idle_end - time.monotonic(), 0)))
        for _ in range(BURST_CALLS):
            _call(home, done)
            done += 1
        memory_mb = _print_status(home, start, done)
    time.sleep(5)  # what was put off is done when nobody calls
    return _print_status(home, start, done) or memory_mb


def _print_status(home: SandboxHome, start: float, done: int) -> float:
    status = home.status() or {}
    memory_mb = (status.get("memory_kb") or 0) / 1024
    waiting = (status.get("store") or {}).get("waiting", "")
    print(f"{done:9,}{(time.monotonic() - start) / 60:9.1f}{memory_mb:7.1f}{waiting!s:>13}", flush=True)
    return memory_mb


def _call(home: SandboxHome, number: int) -> None:
    event, kind = ("PreToolUse", "before") if number % 2 == 0 else ("PostToolUse", "after")
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(home.runtime_dir() / "socket"))
        line.sendall(_frame(home, number, event, kind))
        while line.recv(1 << 16):
            continue


def _frame(home: SandboxHome, number: int, event: str, kind: str) -> bytes:
    payload = {
        "session_id": f"session-{number // CALLS_PER_SESSION}",
        "transcript_path": f"{home.path}/.claude/projects/x/{number // CALLS_PER_SESSION}.jsonl",
        "cwd": str(home.path),
        "permission_mode": "default",
        "hook_event_name": event,
        "tool_name": "Bash",
        "tool_input": {"command": f"make test PART={number // 2} && git status", "description": "x" * 400},
        "tool_use_id": f"toolu_{number // 2}",
    }
    if kind == "after":
        payload["tool_response"] = {"stdout": "y" * 1500, "stderr": "", "interrupted": False}
    argv = f"{AGENT}\0{event}\0--via\0{AGENT}/user\0".encode()
    parent_start = Path(f"/proc/{os.getpid()}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    return wire.encode_frame(
        [
            wire.VERSION,
            build_id.running_build_id().encode(),
            ids.new_id().encode(),
            argv,
            f"HOME={home.path}\0".encode() + ENVIRONMENT,
            str(home.path).encode(),
            b"22",
            json.encode(payload),
            f"{os.getpid()} {parent_start}".encode(),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
