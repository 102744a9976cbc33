"""Adoption writes the manifest in the version that is asked for, and keeps that of one that is there."""

import json

import pytest

from hookonce import agents
from hookonce.configure.adoption import plan_adoption
from hookonce.configure.locations import ConfigRoots
from hookonce.convert.losses import adoption_gaps
from hookonce.errors import HookonceError
from hookonce.manifest.load import load_manifest

CLAUDE = agents.load("claude-code")


@pytest.fixture
def roots(tmp_path, monkeypatch):
    """A home and a project in which Claude Code has a hook."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return ConfigRoots(home=tmp_path, project=tmp_path / "p")


def plan(roots, spec=None, matcher="Bash"):
    """What would change in the project."""
    settings = {"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [{"type": "command", "command": "./x.sh"}]}]}}
    file = roots.project / ".claude" / "settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings))
    return plan_adoption(CLAUDE, "project", roots, "/c/hookonce-on", adoption_gaps, spec)


def manifest(roots, spec):
    """A manifest of that version is there."""
    file = roots.project / ".hookonce" / "hooks.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"spec": spec, "hooks": [{"event": "agent_stop", "handler": {"type": "command", "command": "true"}}]}))


@pytest.mark.parametrize(("asked", "spec"), [(None, "hooks/1.0"), ("hooks/1.0", "hooks/1.0"), ("hooks/0.1", "hooks/0.1")])
def test_a_new_manifest_is_of_the_printed_version_unless_another_is_asked_for(roots, asked, spec):
    """
    And it can be read.
    """
    made = plan(roots, asked)

    assert made.manifest.new.endswith(b"}\n")
    assert [] == [line for line in made.manifest.new.splitlines() if line != line.rstrip()]
    assert (spec, ["./x.sh"]) == ((read := load_manifest(made.manifest.new)).spec, [hook.handler.command for hook in read.hooks])


@pytest.mark.parametrize("spec", ["hooks/1.0", "hooks/0.1"])
def test_a_manifest_that_is_there_keeps_its_version(roots, spec):
    """
    Whoever asks for another is told, and nothing is changed.
    """
    manifest(roots, spec)

    assert spec == load_manifest(plan(roots).manifest.new).spec == load_manifest(plan(roots, spec).manifest.new).spec
    with pytest.raises(HookonceError, match=f"it is of {spec}; leave out --spec"):
        plan(roots, "hooks/0.1" if spec == "hooks/1.0" else "hooks/1.0")


@pytest.mark.covers("HIF-88")
def test_a_pattern_that_would_fit_more_stays_where_it_is(roots):
    """
    In a version that tries patterns on canonical names too it would be about other tools; in the other it is not.
    """
    assert ([], True) == ((made := plan(roots, None, "^(Read|file_edit)$")).moved_hooks, "also tried on canonical names: file_edit" in made.stay_reasons[0])
    assert [{"pattern": "^(Read|file_edit)$"}] == [hook.matcher for hook in plan(roots, "hooks/0.1", "^(Read|file_edit)$").moved_hooks]
    assert 1 == len(plan(roots, None, "^(Read|Grep)$").moved_hooks)
    manifest(roots, "hooks/0.1")
    assert 1 == len(plan(roots, None, "^(Read|file_edit)$").moved_hooks)
