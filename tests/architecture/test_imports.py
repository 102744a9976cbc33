"""The import contract holds, and starting up stays cheap."""

import itertools
import json
import subprocess
import sys
import tomllib

import pytest

from hookonce import agents
from tests.architecture.tree import ROOT

HEAVY = ("rich", "jsonschema")

IMPORT = "import hookonce"
VERSION = """
import sys
import tomllib
from hookonce.__main__ import main
sys.argv = ["hookonce", "--version"]
try:
    code = main()
except SystemExit as stop:
    code = stop.code
assert not code, code
"""
REPORT = """
import json, sys
print("\\n" + json.dumps(sorted(sys.modules)))
"""


def python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=False, text=True)


def test_every_package_imports_only_from_the_layers_below_it():
    """
    The import contracts in pyproject.toml hold.
    """
    linted = python("from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))")
    assert linted.returncode == 0, linted.stdout + linted.stderr


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(IMPORT, id="import hookonce"),
        pytest.param(VERSION, id="hookonce --version"),
    ],
)
def test_starting_up_leaves_heavy_libraries_alone(start):
    """
    Neither tables nor schema validation are loaded before somebody asks for them.
    """
    ran = python(start + REPORT)
    assert ran.returncode == 0, ran.stderr
    modules = json.loads(ran.stdout.splitlines()[-1])
    assert "hookonce" in modules
    assert [] == [name for name in modules if name.partition(".")[0] in HEAVY]


def test_the_module_protocol_is_kept_below_every_higher_package():
    """
    Its contract names all packages above the layer of agents, also those that come later.
    """
    layers, protocol = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    above = itertools.takewhile(lambda line: "agents" not in line, layers["layers"])
    names = {f"hookonce.{name.strip()}" for line in above for name in line.split("|") if "(" not in name}

    assert names - {"hookonce.modules"} <= set(protocol["forbidden_modules"])


GUARD = """
from hookonce import deny, hook


@hook("before_tool_execute", tool="shell")
def guard(event):
    if "rm -rf" in event.command:
        return deny("not like this")
"""
CALL = {
    "session_id": "s1",
    "transcript_path": "/home/dev/.claude/projects/p/s1.jsonl",
    "cwd": "/",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf /"},
    "tool_use_id": "t1",
}
LISTED = "import atexit, sys; atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))\n"


def test_a_program_begins_with_next_to_nothing():
    """
    Importing what a hook program needs loads neither msgspec nor anything else that costs time.
    """
    before, after = (set(json.loads(python(text + REPORT).stdout)) for text in ("", "from hookonce import deny, hook\n"))

    assert {"hookonce", "hookonce.sdk", "hookonce.sdk.answers", "hookonce.sdk.functions"} == {name for name in after - before if name.startswith("hookonce")}
    assert 10 >= len(after - before)


def test_a_program_that_answers_loads_one_agent(tmp_path):
    """
    The decoder and the reply of the agent that calls, and no library that these do without.
    """
    (tmp_path / "guard.py").write_text(LISTED + GUARD)
    ran = subprocess.run([sys.executable, tmp_path / "guard.py"], input=json.dumps(CALL), capture_output=True, check=False, text=True)
    modules = set(ran.stderr.split())
    ours = {name for name in modules if name.startswith("hookonce")}

    assert "deny" == json.loads(ran.stdout)["hookSpecificOutput"]["permissionDecision"]
    assert set() == modules & {"typing_extensions", "inspect", "pathlib", "json", "hashlib", "subprocess", "socket", "platform", "urllib.parse", "dataclasses", "importlib.metadata", "msgspec.inspect"}
    assert {"claude_code"} == {name.split(".")[2] for name in ours if name.startswith("hookonce.agents.") and name.split(".")[2] in agents.AGENTS.values()}
    assert 50 >= len(ours), sorted(ours)
