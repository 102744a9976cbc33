"""hookonce as a user runs it: in a process of its own, with a home of its own."""

import json
import os
import subprocess
import sys
from functools import cache
from importlib.resources import files
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.cli import prefork
from tests.sample import EXHAUSTIVE
from tests.shared import ROOT

FRESH = EXHAUSTIVE  # an interpreter for each command

# A payload of Claude Code that says whose it is; `tagged` makes others of it.
PAYLOAD = {
    "session_id": "s1",
    "transcript_path": "/home/dev/.claude/projects/p/s1.jsonl",
    "cwd": "/home/dev/project",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
}


class Ran(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    def documents(self):
        """What it wrote, as JSON."""
        return [json.loads(line) for line in self.out.splitlines()]

    def complaints(self):
        """What it said on stderr, line by line, without its own name."""
        return [line.removeprefix("hookonce: ") for line in self.err.splitlines()]


@cache
def _home():
    return TemporaryDirectory(prefix="hookonce-home-")


def environment(**more):
    """A bare environment; no agent's marks, and a home that may be written to."""
    plain = {"TZ": "UTC", "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src"), "HOOKONCE_COLD": "1"}
    own_home = {} if "HOME" in more else {"HOME": _home().name}  # threads that name one make none at the same time
    return plain | own_home | more


def run(*words, given=b"", cwd=None, **more):
    """Run hookonce with these words and bytes on standard input, here or somewhere else."""
    if not (FRESH or any(name.startswith(("PYTHON", "LC_", "LANG")) for name in more)):
        code, out, err = prefork.run([*map(str, words)], given, cwd, environment(**more))
        return Ran(code, out.decode(), err.decode())
    done = subprocess.run(
        [sys.executable, "-m", "hookonce", *map(str, words)],
        input=given,
        capture_output=True,
        check=False,
        cwd=cwd,
        env=environment(**more),
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def shell(script, **more):
    """Run a line of shell in which `hookonce` is our command."""
    prelude = f'hookonce() {{ "{sys.executable}" -m hookonce "$@"; }}\n'
    done = subprocess.run(["bash", "-c", prelude + script], capture_output=True, check=False, env=environment(**more))
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def lines(*payloads):
    """JSON lines as bytes; bytes stay as they are."""
    return b"".join(one if type(one) is bytes else json.dumps(one).encode() + b"\n" for one in payloads)


def tagged(number):
    """The payload with another session."""
    return PAYLOAD | {"session_id": f"s{number}"}


def recorded(agent):
    """The payloads of a bundled session."""
    text = (files("hookonce") / "demo" / "recordings" / f"{agent}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line)["payload"] for line in text.splitlines()]
