"""Code-only agents: our scripts beside those of others."""

import pytest

from hookonce import agents
from hookonce.base import paths
from hookonce.configure.changes import apply_change
from hookonce.configure.install import plan_install, plan_removal
from hookonce.configure.locations import ConfigRoots


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home and a project of our own."""
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    return ConfigRoots(tmp_path, tmp_path / "project")


def test_a_script_of_somebody_else_stays_and_ours_takes_a_name_beside_it(place):
    """
    Cline has one file for each event; whoever came first keeps the plain name.
    """
    theirs = place.project / ".clinerules" / "hooks" / "PreToolUse"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("#!/bin/sh\necho '{}'\n")
    agent, client = agents.load("cline"), str(paths.client_path())

    for change in plan_install(agent, "project", place, client):
        apply_change(change)
    names = sorted(path.name for path in theirs.parent.iterdir())
    again = plan_install(agent, "project", place, client)
    for change in plan_removal(agent, "project", place, client):
        apply_change(change, is_removal=True)

    assert {"PreToolUse", "PreToolUse.sh"} <= set(names)
    assert [] == again
    assert [theirs] == list(theirs.parent.iterdir())
    assert "#!/bin/sh\necho '{}'\n" == theirs.read_text()
