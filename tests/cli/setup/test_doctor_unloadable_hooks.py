"""Hooks that are functions or modules and can never run: check, doctor and trust say so before an agent finds out."""

import json
import sys

import pytest

from tests.cli.command import run
from tests.manifest.projects import manifest, put

GUARD = "from hookonce import deny, hook\n\n\n@hook\ndef no_rm(event):\n    return deny('no')\n"
DESCRIPTOR = {
    "name": "judge",
    "kind": "tool",
    "transport": {"type": "stdio", "command": [sys.executable, "judge.py"]},
    "capabilities": [],
}


def hook(**handler):
    """A hook with that handler."""
    return {"event": "before_tool_execute", "blocking": True, "handler": {"type": "function"} | handler}


@pytest.fixture
def home(tmp_path):
    """A home with a function and a module that are as they should be."""
    folder = tmp_path / "home/.config/hookonce"
    put(folder / "guard.py", GUARD)
    put(folder / "broken.py", "def no_rm(event):\n    return (\n")
    put(folder / "plain.py", "def no_rm(event):\n    return None\n")
    put(folder / "native.py", "from hookonce import hook as on\n\n@on('PreToolUse')\ndef no_rm(event):\n    return None\n")
    put(folder / "made.py", "from elsewhere import *\n")
    put(folder / "judge.json", json.dumps(DESCRIPTOR))
    put(folder / "wishing.json", json.dumps(DESCRIPTOR | {"capabilities": ["net.fetch"]}))
    put(folder / "gone.json", json.dumps(DESCRIPTOR | {"transport": {"type": "stdio", "command": ["./jugde"]}}))
    put(folder / "unread.json", "{")
    return tmp_path / "home"


WRONG = {
    "gard.py": (hook(file="gard.py"), "gard.py does not exist"),
    "no_rmm": (hook(file="guard.py", name="no_rmm"), "has no function no_rmm; did you mean no_rm?"),
    "syntax": (hook(file="broken.py"), "broken.py, line 2: '(' was never closed"),
    "unmarked": (hook(file="plain.py"), "plain.py has no function with @hook"),
    "a native event": (hook(file="native.py"), "native.py, line 3: no event is called 'PreToolUse'; did you mean before_tool_execute?"),
    "no descriptor": (hook(type="module", file="juge.json"), "juge.json cannot be read: No such file or directory"),
    "unread descriptor": (hook(type="module", file="unread.json"), "expected a JSON document"),
    "no program": (hook(type="module", file="gone.json"), "there is no program ./jugde"),
    "not granted": (hook(type="module", file="wishing.json"), "judge needs net.fetch"),
}


@pytest.mark.part(3)
@pytest.mark.parametrize("name", WRONG)
def test_what_can_never_run_is_told_by_check_and_by_doctor(home, name, tmp_path):
    """
    Functions and modules like commands: nobody has to wait for an agent.
    """
    listed, why = WRONG[name]
    put(home / ".config/hookonce/hooks.json", manifest(listed))

    (checked,) = run("check", "--json", home / ".config/hookonce/hooks.json", HOME=str(home)).documents()
    (looked,) = run("doctor", "--json", HOME=str(home), cwd=tmp_path).documents()

    (warning,) = checked["warnings"]
    assert "$.hooks[0].handler.file" == warning["path"]
    assert "cannot run: " in warning["message"]
    assert why in warning["message"]
    (told,) = [one["message"] for one in looked["findings"] if "cannot run: " in one["message"]]
    assert why in told


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "right",
    [
        hook(file="guard.py"),
        hook(file="guard.py", name="no_rm"),
        hook(file="plain.py", name="no_rm"),
        hook(file="made.py", name="anything"),
        hook(file="made.py"),
        hook(type="module", file="judge.json"),
    ],
    ids=str,
)
def test_what_can_run_or_cannot_be_known_is_not_complained_of(home, right, tmp_path):
    """
    A file is read and never run, and a name that may come from elsewhere is believed.
    """
    put(home / ".config/hookonce/hooks.json", manifest(right))

    (checked,) = run("check", "--json", home / ".config/hookonce/hooks.json", HOME=str(home)).documents()
    (looked,) = run("doctor", "--json", HOME=str(home), cwd=tmp_path).documents()

    assert [] == checked["warnings"]
    assert [] == [one["message"] for one in looked["findings"] if "cannot run" in one["message"]]


def test_trust_shows_what_of_a_project_could_not_run(home, tmp_path):
    """
    Whoever agrees to hooks knows which of them would never do anything.
    """
    project = tmp_path / "project"
    put(project / ".git/HEAD", "ref: refs/heads/main\n")
    put(project / "guard.py", GUARD)
    listed = [hook(file="guard.py", name="no_rmm"), hook(type="module", file="judge.json")]
    put(project / ".hookonce/hooks.json", manifest(*listed))

    shown = run("trust", "--list", HOME=str(home), cwd=project).out

    assert "warning: cannot run: " in shown
    assert "has no function no_rmm; did you mean no_rm?" in shown
    assert "hooks of a project cannot start modules" in shown
