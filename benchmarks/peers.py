"""Public Python packages for the same purpose, each with the smallest hook that its own interface allows.

They are fetched from the package index into a directory that goes away again; what cannot be fetched is not compared.
"""

import subprocess
import sys
from pathlib import Path

from cases import BenchCase

PIP_TIMEOUT_S = 180  # seconds for pip
CALLS_PER_ROUND = 8  # a round
FOLDER = "FOLDER"  # stands for the directory of the hook

CCHOOKS = """\
from cchooks import create_context

create_context().output.exit_success()
"""
OPENHOOK = """\
import json
import sys

from openhook import from_legacy

from_legacy(json.load(sys.stdin))
"""
AGENT_HOOKS = """\
from agent_hooks import AgentHook, PermissionRequestEvent

app = AgentHook()


@app.permission()
def answer(event: PermissionRequestEvent):
    return None
"""
# Package: its hook, which reads the payload and has no opinion; what starts it; and what is said then.
PEERS = {
    "cchooks": (CCHOOKS, ["python"], b""),
    "openhook": (OPENHOOK, ["python"], b""),
    "agent-hooks": (AGENT_HOOKS, ["agent-hooks", "run", "--provider", "codex", "--app-dir", FOLDER], b"{}\n"),
}


def install_peers(scratch: Path) -> tuple[list[BenchCase], dict[str, str]]:
    """Those that could be installed, and why others could not."""
    cases, skipped = [], {}
    venv = scratch / "venv"
    home = scratch / "home"
    home.mkdir()
    subprocess.run([sys.executable, "-m", "venv", venv], check=True, capture_output=True)
    for name, (text, words, answer) in PEERS.items():
        if (problem := install(venv, name)) is not None:
            skipped[name] = f"pip cannot fetch it: {problem}"
            continue
        hook = scratch / f"{name.replace('-', '_')}_hook.py"
        hook.write_text(text, encoding="utf-8")
        command = [str(scratch) if word == FOLDER else word for word in [*words, str(hook)]]
        command[0] = str(venv / "bin" / command[0])
        world = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"}
        cases.append(BenchCase(name=name, command=command, environment=world, calls=CALLS_PER_ROUND, expected=answer))
    return cases, skipped


def install(venv: Path, name: str) -> str | None:
    """Fetch a package; what pip has to complain of, in a line."""
    words = [venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", name]
    try:
        done = subprocess.run(words, capture_output=True, timeout=PIP_TIMEOUT_S, check=False, text=True)
    except subprocess.TimeoutExpired:
        return "it takes too long"
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return None if done.returncode == 0 else (lines or ["it failed"])[0][:100]
