"""Entries that an agent's configuration has lost, as its user is told in the agent."""

import json

import pytest

from hookonce import agents
from hookonce.base import paths
from hookonce.configure.locations import ConfigRoots
from hookonce.configure.status import find_entry_faults
from tests.cli.command import run
from tests.manifest.projects import house


@pytest.fixture
def installation(tmp_path, monkeypatch):
    """Roots of a home in which Claude Code calls us, and a function that takes entries away."""
    home, project = house(monkeypatch, tmp_path), tmp_path / "work"
    project.mkdir()
    run("install", "claude-code", cwd=project, HOME=str(home))
    settings = home / ".claude/settings.json"

    def lose(*events):
        document = json.loads(settings.read_text(encoding="utf-8"))
        document["hooks"] = {name: groups for name, groups in document["hooks"].items() if name not in events}
        settings.write_text(json.dumps(document), encoding="utf-8")
        return document["hooks"]

    return ConfigRoots(home, project), lose


def faults(roots, name="claude-code"):
    return find_entry_faults(agents.load(name), roots, str(paths.client_path()))


def test_lost_entries_are_told_by_their_events(installation):
    """
    As long as some are left; none is missing where hookonce was never installed, or is not any more.
    """
    roots, lose = installation
    assert [] == faults(roots) == faults(roots, "codex")
    lose("PreToolUse", "Stop")
    (fault,) = faults(roots)

    assert f"Claude Code does not call hookonce at PreToolUse, Stop: entries are missing in {roots.home}/.claude/settings.json" in fault.sentence
    assert "hookonce install claude-code" == fault.next_step
    lose(*lose())
    assert [] == faults(roots)


def test_an_entry_of_another_scope_is_enough(installation):
    """
    The agent calls us through it.
    """
    roots, lose = installation
    lose("PreToolUse", "Stop")
    run("install", "claude-code", "--scope", "project", cwd=roots.project, HOME=str(roots.home))
    assert [] == faults(roots)
    file = roots.project / ".claude/settings.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    del document["hooks"]["Stop"], document["hooks"]["SessionEnd"]
    file.write_text(json.dumps(document), encoding="utf-8")

    (fault,) = faults(roots)
    assert "hookonce at Stop: " in fault.sentence


def test_a_file_that_cannot_be_read_has_no_such_fault(installation):
    """
    Doctor tells of it; here it is no reason to fail.
    """
    roots, _ = installation
    (roots.home / ".claude/settings.json").write_text("{", encoding="utf-8")
    assert [] == faults(roots)
