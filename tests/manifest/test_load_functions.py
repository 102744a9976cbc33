"""Functions in manifests: what is wrong with one, what is pinned of one, and what becomes of it elsewhere."""

import pytest

from hookonce.manifest.degrade import degrade
from hookonce.manifest.load import build_manifest, dump_manifest, find_problems
from tests.manifest.projects import Project, house, notes

GUARD = "import os, sys\nfrom hookonce import deny, hook\n@hook\ndef guard(event):\n    return deny('no')\n"


def function(handler=None, **more):
    """A hook that is a function."""
    return {"event": "before_tool_execute", "blocking": True, "handler": {"type": "function", "file": "guard.py"} | (handler or {})} | more


def document(*hooks):
    """A manifest."""
    return {"spec": "hooks/1.0", "hooks": list(hooks)}


@pytest.mark.parametrize(
    ("hook", "path"),
    [
        (function({"file": None}), "$.hooks[0].handler.file"),
        (function({"file": 3}), "$.hooks[0].handler.file"),
        (function({"name": []}), "$.hooks[0].handler.name"),
        (function(dialect="claude-code"), "$.hooks[0].dialect"),
    ],
)
def test_a_function_that_cannot_be_asked_is_a_problem(hook, path):
    """
    It needs a file, and speaks the canon.
    """
    assert path in [place for place, _ in find_problems(document(hook))[0]]


def test_a_function_stays_what_it_is():
    """
    Reading and writing it changes nothing.
    """
    given = document(function({"name": "guard"}, dialect="canonical"))

    assert ([], given) == (find_problems(given)[0], dump_manifest(build_manifest(given)))


def test_elsewhere_it_is_the_program_that_its_file_is_too():
    """
    No agent's own file can name a function; what is lost is told.
    """
    degraded = degrade(build_manifest(document(function({"file": "my guard.py", "name": "no_rm"}))), frozenset({"structured_output"}))
    (_, hook), (gap,) = degraded.hooks[0], degraded.gaps

    assert ("command", "python3 'my guard.py'", None) == (hook.handler.type, hook.handler.command, hook.handler.file)
    assert ("handler", "prevents") == (gap.capability, gap.effect)
    assert "not no_rm alone" in gap.note


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A repository whose hook is a function."""
    house(monkeypatch, tmp_path)
    found = Project(tmp_path / "project", function())
    found.put("guard.py", GUARD)
    return found


def test_what_runs_of_a_project_is_the_copy_that_was_seen(project):
    """
    Nothing runs before; a changed file does not run, nor does it when it is put back by a link that leads elsewhere.
    """
    before = project.denies()
    project.trust()
    agreed = project.denies()
    project.put("guard.py", GUARD + "# changed\n")

    assert (False, True, False) == (before, agreed, project.denies())
    assert "guard.py is not the version that was trusted" in " ".join(notes())

    project.put("guard.py", GUARD)
    assert project.denies()


def test_a_file_outside_of_the_project_cannot_be_agreed_to(project, tmp_path):
    """
    Nobody could say what it is tomorrow.
    """
    (tmp_path / "elsewhere.py").write_text(GUARD, encoding="utf-8")
    project.write(function({"file": "../elsewhere.py"}))
    project.trust()

    assert not project.denies()


def test_what_it_imports_has_to_be_listed(project):
    """
    Beside the copy lies what was agreed to, and nothing else.
    """
    project.put("rules.py", "WORD = 'no'\n")
    project.put("guard.py", GUARD.replace("'no'", "rules.WORD").replace("import os", "import rules, os"))
    project.trust()
    alone = project.denies()
    project.write(function(files=["rules.py"]))
    project.trust()

    assert (False, True) == (alone, project.denies())
