"""Folders around agents' files: those that we made leave with us, and those that an agent distrusts are named."""

import json

import pytest
from jsonschema import Draft202012Validator

from hookonce.formats.schema import load_schema
from tests.cli.command import run
from tests.cli.setup.test_install import at_a_terminal
from tests.manifest.projects import Project, command, put


def ours(home, *words, **more):
    return run(*words, HOME=str(home), **more)


def around(home):
    """The folders in a home, but for our own."""
    return {
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_dir() and not path.is_relative_to(home / ".local")
    }


@pytest.mark.part(2)
@pytest.mark.parametrize("agent", ["claude-code", "gemini-cli", "cline", "opencode", "codex", "windsurf"])
def test_folders_that_install_made_leave_with_it(tmp_path, agent):
    """
    One file in them or several, and however often it was installed.
    """
    ours(tmp_path, "install", agent)
    made = around(tmp_path)
    ours(tmp_path, "install", agent, "--events", "all")
    code, said = at_a_terminal(tmp_path, "uninstall", agent)

    assert made
    assert 0 == code, said
    assert set() == around(tmp_path)


def test_folders_that_were_there_or_that_hold_something_stay(tmp_path):
    """
    An empty folder of the user's is not ours to take, nor is one of ours in which somebody else has put a file.
    """
    (tmp_path / ".gemini").mkdir()
    ours(tmp_path, "install", "gemini-cli", "claude-code")
    put(tmp_path / ".claude" / "notes.md", "mine")

    code, said = at_a_terminal(tmp_path, "uninstall", "gemini-cli", "claude-code")

    assert 0 == code, said
    assert {".gemini", ".claude"} == around(tmp_path)
    assert [tmp_path / ".claude" / "notes.md"] == list((tmp_path / ".claude").iterdir())


def distrusted(home, project, *words, **more):
    """What status and doctor say of Gemini CLI in a project."""
    state = run("status", "gemini-cli", HOME=str(home), cwd=project, **more)
    found = run("doctor", "gemini-cli", "--json", HOME=str(home), cwd=project, **more)
    (told,) = found.documents()
    messages = [one["message"] for one in told["findings"] if one["kind"] == "untrusted"]
    assert bool(messages) == ("runs no hook in" in state.out)
    return messages


@pytest.fixture
def project(tmp_path):
    """A project in a home where Gemini CLI calls us."""
    home = tmp_path / "home"
    put(home / ".gemini" / "settings.json", {})
    ours(home, "install", "gemini-cli")
    return Project(home / "work" / "project").folder


RULES = {
    "nothing said": ({}, {}, True),
    "trusted": ({}, {"project": "TRUST_FOLDER"}, False),
    "its folder": ({}, {"": "TRUST_FOLDER"}, False),
    "its neighbour's parent": ({}, {"other": "TRUST_PARENT"}, False),
    "another": ({}, {"other": "TRUST_FOLDER"}, True),
    "distrusted inside of a trusted one": ({}, {"": "TRUST_FOLDER", "project": "DO_NOT_TRUST"}, True),
    "trusted inside of a distrusted one": ({}, {"": "DO_NOT_TRUST", "project": "TRUST_FOLDER"}, False),
    "nobody asks": ({"security": {"folderTrust": {"enabled": False}}}, {}, False),
    "asked for": ({"security": {"folderTrust": {"enabled": True}}}, {}, True),
}


@pytest.mark.part(3)
@pytest.mark.parametrize(("settings", "rules", "dropped"), RULES.values(), ids=RULES)
def test_a_folder_that_gemini_does_not_trust_is_named(project, settings, rules, dropped):
    """
    There it runs no hook, not even the user's own: the innermost rule counts, and a setting turns all of it off.
    """
    home = project.parents[1]
    file = home / ".gemini" / "settings.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | settings))
    put(home / ".gemini" / "trustedFolders.json", {str(project.parent / name): word for name, word in rules.items()})

    told = distrusted(home, project)

    assert dropped == any(f"Gemini CLI runs no hook in {project}, not even your own" in one for one in told)
    assert not dropped or [] == distrusted(home, project, GEMINI_CLI_TRUST_WORKSPACE="true")


def test_no_folder_is_named_where_gemini_has_no_hooks(tmp_path):
    """
    Nothing is dropped where there is nothing.
    """
    put(tmp_path / ".gemini" / "settings.json", {})

    assert {"ok": True, "installed": False, "findings": []} == ours(tmp_path, "doctor", "gemini-cli", "--json").documents()[0]


def test_the_verdict_on_a_folder_is_of_the_published_shape(tmp_path):
    """
    Its trust too, which the schema names with all its words.
    """
    project = Project(tmp_path / "project", command("true", name="x"))
    published = load_schema("check")

    (verdict,) = ours(tmp_path, "check", project.folder, "--json").documents()

    assert {".hookonce/hooks.json": "not trusted"} == verdict["trust"]
    assert [] == list(Draft202012Validator(published).iter_errors(verdict))
    assert [] != list(Draft202012Validator(published).iter_errors(verdict | {"trust": {"x": "perhaps"}}))
    assert {*verdict, "signed_by"} == set(published["$defs"]["CheckReport"]["properties"])  # which events have
