"""Old entries of ours that lead nowhere: doctor's repair takes them out, and install too."""

import json
from itertools import product
from pathlib import Path

import pytest

from tests.cli.command import run as run_anywhere
from tests.sample import part

GONE = "/old/home/.local/share/hookonce/bin/hookonce-on"


def run(*words, HOME):  # noqa: N803  the variable's name
    """Run hookonce in a project of that home, and in no other."""
    (project := Path(HOME, "project")).mkdir(exist_ok=True)
    return run_anywhere(*words, cwd=project, HOME=HOME)


@pytest.fixture
def home(tmp_path):
    """A home in which Claude Code calls us."""
    (tmp_path / ".claude").mkdir()
    assert 0 == run("install", "claude-code", HOME=str(tmp_path)).code
    return tmp_path


def commands(file):
    """The commands of a file of Claude Code's, for one event."""
    groups = json.loads(file.read_text())["hooks"]["PreToolUse"]
    return [entry["command"] for group in groups for entry in group["hooks"]]


def add(file, command):
    """One more entry, in a group of its own."""
    found = json.loads(file.read_text())
    found["hooks"]["PreToolUse"].insert(0, {"matcher": "", "hooks": [{"type": "command", "command": command}]})
    file.write_text(json.dumps(found, indent=2))


OLD = [f"{GONE} claude-code PreToolUse --via claude-code/user", "{client} claude-code PreToolUse", "{client} claude-code --before PreToolUse"]
MEND = [("doctor", "claude-code", "--repair"), ("install", "claude-code")]


@pytest.mark.parametrize(("mend", "old"), part(product(MEND, OLD), 2))
def test_an_old_entry_of_ours_goes(home, old, mend):
    file, client = home / ".claude/settings.json", home / ".local/share/hookonce/bin/hookonce-on"
    before = commands(file)
    add(file, old.format(client=client))

    status = run("status", "claude-code", HOME=str(home))
    sick = run("doctor", "claude-code", HOME=str(home))
    run(*mend, HOME=str(home))

    assert "outdated" in status.out
    assert "drift: " in sick.out
    assert before == commands(file)
    assert "drift: " not in run("doctor", "claude-code", HOME=str(home)).out


@pytest.mark.parametrize(
    "other",
    [
        "/old/home/bin/somebody-elses claude-code PreToolUse --via claude-code/user",
        f"{GONE} claude-code --dialect claude-code --run 'lint it'",
        f"{GONE} claude-code PreToolUse --via claude-code/user && true",
    ],
)
def test_what_is_not_surely_ours_stays(home, other):
    """
    Another program, somebody's script in a wrapper, a longer command.
    """
    file = home / ".claude/settings.json"
    add(file, other)

    run("doctor", "claude-code", "--repair", HOME=str(home))
    run("install", "claude-code", HOME=str(home))

    assert other in commands(file)


def test_a_projects_entry_of_another_home_stays(home):
    run("install", "claude-code", "--scope", "project", HOME=str(home))
    file, theirs = home / "project/.claude/settings.json", f"{GONE} claude-code PreToolUse --via claude-code/project"
    add(file, theirs)

    run("install", "claude-code", "--scope", "project", HOME=str(home))

    assert theirs in commands(file)
