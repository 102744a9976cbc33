"""What an agent waits for: one call of the installed client, as a ratio to an interpreter that does nothing.

Cold, in one process, as this release has it. Rounds are shuffled and medians compared, all in one run.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 25
CALL = b'"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}'
PAYLOAD = b'{"session_id":"s","cwd":"/",' + CALL
HOOK = '{"spec":"hooks/0.1","hooks":[{"event":"%s","handler":{"type":"command","command":"true"}}]}'


def home(parent: str, event: str | None) -> Path:
    """A home in which hookonce is installed, with a hook for an event or without any."""
    place = Path(parent) / (event or "none")
    (place / ".claude").mkdir(parents=True)
    env = os.environ | {"HOME": str(place)}
    words = [sys.executable, "-m", "hookonce", "install", "claude-code"]
    subprocess.run(words, env=env, check=True, capture_output=True)
    if event is not None:
        (place / ".config" / "hookonce").mkdir(parents=True)
        (place / ".config" / "hookonce" / "hooks.json").write_text(HOOK % event, encoding="utf-8")
    return place


def call(words: list[str], place: Path) -> float:
    """Seconds that one process takes."""
    start = time.perf_counter()
    env = {"HOME": str(place), "PATH": "/usr/bin:/bin"}
    subprocess.run(words, input=PAYLOAD, env=env, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as parent:
        none, other, asked = (home(parent, event) for event in (None, "session_end", "before_tool_execute"))
        client = [".local/share/hookonce/bin/hookonce-on", "claude-code", "PreToolUse", "--via", "claude-code/user"]
        floor = [sys.executable, "-I", "-S", "-c", "pass"]
        cases = {
            "python -I -S -c pass": (floor, none),
            "no manifest": ([str(none / client[0]), *client[1:]], none),
            "no hook matches": ([str(other / client[0]), *client[1:]], other),
            "one hook: true": ([str(asked / client[0]), *client[1:]], asked),
        }
        took: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(ROUNDS):
            for name in random.sample(list(cases), len(cases)):
                took[name].append(call(*cases[name]))
    least = statistics.median(took["python -I -S -c pass"])
    print(f"{'one call':24}{'median ms':>12}{'ratio':>8}")
    for name, times in took.items():
        middle = statistics.median(times)
        print(f"{name:24}{middle * 1000:12.1f}{middle / least:8.1f}")


if __name__ == "__main__":
    main()
