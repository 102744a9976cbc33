"""Scripts of hooks, as they are found in command lines and judged by what they say: what is fine is left alone."""

from pathlib import Path
from time import monotonic

import pytest

from hookonce.base import paths
from hookonce.dispatch.hook_faults.handlers import interpreter_argument
from hookonce.dispatch.hook_faults.manifest_hooks import HookPlace, hook_faults
from hookonce.dispatch.hook_faults.scripts import inline_code_problems
from hookonce.manifest.load import parse_hook
from tests.manifest.projects import command, put

JQ = "#!/bin/sh\njq -r .tool.input.command | grep -q rm && exit 2\nexit 0\n"


@pytest.mark.parametrize(
    ("line", "script"),
    [
        ("python3 guard.py", "guard.py"),
        ("/usr/bin/python3.11 -I -S ./guard", "./guard"),
        ("python3 -W ignore guard.py --strict", "guard.py"),
        ("node guard.mjs", "guard.mjs"),
        ("bash -x guard.sh", "guard.sh"),
        ("bash -lc 'exit 2'", ""),
        ("python3 -m guard", ""),
        ("python3 -c 'import x.py'", ""),
        ("sh -c ./guard.sh", ""),
        ("python3 $HOMES/guard.py", ""),
        ("python3 ${HOME:-/x}/guard.py", ""),
        ("bash '$HOME/guard.sh'", ""),
        (r"bash \$HOME/guard.sh", ""),
        ("bash '~/guard.sh'", "~/guard.sh"),
        ("python3 $HOME/guard.py", "/home/dev/guard.py"),
        ("python3 -I ~/.config/guard.py '$HOME'", "/home/dev/.config/guard.py"),
        ("node ${HOME}/guard.mjs", "/home/dev/guard.mjs"),
        ('bash "${HOME}/guard.sh"', "/home/dev/guard.sh"),
        ("$HOME/bin/python3 guard.py", "guard.py"),
        ("bash", ""),
        ("./guard.sh", None),
        ("grep -q rm", None),
        ("'broken", None),
    ],
)
def test_the_script_behind_an_interpreter_is_found(monkeypatch, line, script):
    """
    The home stands where its shell puts it. Where code, a module or a variable may stand instead, nobody says anything.
    """
    monkeypatch.setattr(paths, "home", lambda: Path("/home/dev"))

    assert script == interpreter_argument(line)


def faults(tmp_path, hook, scope="user"):
    """What is found about one hook whose manifest lies in that folder, or in a project's."""
    place = HookPlace(tmp_path, tmp_path, "user") if scope == "user" else HookPlace(tmp_path / ".hookonce", tmp_path, "project")
    return [fault.kind for fault in hook_faults(parse_hook(hook), place, {})]


@pytest.mark.parametrize(
    ("script", "fields"),
    [
        (JQ, {"blocking": True}),
        (JQ.replace(".tool.input", ".tool_input"), {"blocking": True, "dialect": "claude-code"}),
        ("#!/bin/sh\n# reads .tool_input, and exit 2 refuses\njq .tool.name\n", {}),
        ("#!/usr/bin/env python3\nimport json, sys\ne = json.load(sys.stdin)\nt = e.get('tool_input') or e['tool']['input']\n", {}),
        ("#!/bin/sh\nexit 20\n", {}),
        ("#!/bin/sh\n[ $1 -eq 2 ] || true\n", {}),
        ("echo a script without a first line is read by sh\n", {}),
        (b"\x7fELF\x00\x00", {}),
    ],
)
def test_a_good_script_is_left_alone(tmp_path, script, fields):
    """
    Of its own dialect, or of both; comments and other numbers are nobody's business.
    """
    put(tmp_path / "guard.sh", script)

    assert [] == faults(tmp_path, command("./guard.sh", **fields))


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("exit 2", True),
        ("python3 -c 'exit(2)'", True),
        ("jq -e .tool", True),
        ("$HOME/guard.sh", False),
        ("python3 ~/guard.py", False),
        ('node "$HOME/guard.js"', False),
        ("./guard.sh", False),
        ("guard\\x.cmd", False),
    ],
)
def test_code_in_a_manifest_is_no_script_that_can_be_reviewed(line, is_told):
    hooks = [command(line), command(line, blocking=True), 5]

    assert ["$.hooks[1].handler.command"] * is_told == [path for path, _ in inline_code_problems({"hooks": hooks})]


def test_a_script_of_blank_lines_is_read_at_once(tmp_path):
    """
    Whoever wrote it: a session waits for what is said of it.
    """
    put(tmp_path / "guard.sh", "#!/bin/sh\n" + "\n" * 500_000)
    start = monotonic()

    assert ["empty"] == faults(tmp_path, command("./guard.sh"))
    assert monotonic() - start < 10


@pytest.mark.parametrize("matcher", ["shell", "Bash", "mcp__github__push", "my_own_tool", ["Bash", "file_edit"], {"pattern": "^(Bash|shell)$"}, {"pattern": "^mcp__"}, {"mcp": {"server": "x"}}])
def test_a_matcher_that_may_fit_is_left_alone(tmp_path, matcher):
    """
    Tools of agents, of servers, and those that nobody knows.
    """
    assert [] == faults(tmp_path, command("true", matcher=matcher))


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("./guard.sh", ["copy_mode"]),
        (".hookonce/guard.sh", ["missing"]),
        ("python3 guard.py", ["beside"]),
        ("python3 .hookonce/guard.py", []),
        ("python3 lost.py", ["missing"]),
    ],
)
def test_paths_of_a_project_begin_at_its_root(tmp_path, line, kinds):
    """
    Its scripts run from the copies that were trusted, whatever their mode is.
    """
    put(tmp_path / "guard.sh", "#!/bin/sh\nexit 1\n").chmod(0o644)
    put(tmp_path / ".hookonce/guard.py", "print()\n")

    assert kinds == faults(tmp_path, command(line), "project")
