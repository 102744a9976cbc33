"""Entries in the exec form: where the agent's version has it, and out again to the byte."""

import json
from itertools import product

import pytest

from hookonce import agents
from hookonce.agents import config_events
from hookonce.base import paths
from hookonce.configure.changes import apply_change
from hookonce.configure.install import plan_install, plan_removal
from hookonce.configure.locations import ConfigRoots, document_of, target_file
from hookonce.configure.status import foreign_hooks, install_status
from hookonce.diagnose.agent_check import check_agent
from hookonce.lab.prove.config_copy import copy_user_config
from tests.configure.test_install import STYLES, foreign
from tests.sample import part

EXEC = [name for name in agents.AGENTS if agents.load(name).config.exec_since]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home and a project of our own, with no agent on the path."""
    home = tmp_path / "home"
    (home / "project").mkdir(parents=True)
    (home / "bin").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(home / "bin"))
    return ConfigRoots(home, home / "project")


def install_version(place, agent, version, where="packages"):
    """The agent's program in a version, as its package has it, or as a link to a file of that name."""
    link = place.home / "bin" / agent.config.programs[0]
    if where == "packages":
        package = place.home / "packages" / version
        package.mkdir(parents=True)
        (package / "package.json").write_text(json.dumps({"version": version, "bin": {"x": "x"}}))
        program = package / "cli"
    else:
        (place.home / "versions").mkdir()
        program = place.home / "versions" / version
    program.write_text(f"#!/bin/sh\n/bin/touch {place.home}/started; echo {version}\n")
    program.chmod(0o755)
    link.unlink(missing_ok=True)
    link.symlink_to(program)


def older(version):
    """The version before one."""
    *head, last = version.split(".")
    return ".".join([*head, str(int(last) - 1)])


def install(agent, place, scope="user", **more):
    """Plan and write; the entries that stand in the file now, of ours."""
    for change in plan_install(agent, scope, place, str(paths.client_path()), **more):
        apply_change(change)
    return [entry for entry in entries(agent, place, scope) if "hookonce-on" in entry["command"]]


def uninstall(agent, place):
    """Plan and write."""
    for change in plan_removal(agent, "user", place, str(paths.client_path())):
        apply_change(change, is_removal=True)


def entries(agent, place, scope="user"):
    """Every entry of the agent's file."""
    path = target_file(agent, scope, place)
    events = document_of(agent, path, path.read_bytes())["hooks"]
    return [entry for groups in events.values() for group in groups for entry in group["hooks"]]


def findings(agent, place):
    """What doctor says of the form."""
    found = check_agent(agent, place, str(paths.client_path()))
    return [one for one in found if one.kind in {"exec_form", "shell_form", "drift", "unvouched"}]


def test_some_agent_has_the_form():
    assert "claude-code" in EXEC


@pytest.mark.parametrize(("name", "where"), [*product(EXEC, ["packages", "versions"])])
def test_the_version_that_is_found_decides_the_form(name, where, place):
    """
    Program and arguments apart, in the user's file, from the first version that starts them so; in a project and for
    any older or unknown version a line for a shell.
    """
    agent, client = agents.load(name), str(paths.client_path())
    unknown = install(agent, place)
    install_version(place, agent, agent.config.exec_since, where)
    new = install(agent, place)
    project = install(agent, place, "project")

    assert not any("args" in entry for entry in unknown)
    assert len(unknown) == len(new)
    assert {client} == {entry["command"] for entry in new}
    assert {(name, event, "--via", f"{name}/user") for event in config_events(agent)} >= {tuple(entry["args"]) for entry in new}
    assert not any("args" in entry for entry in project)
    assert not (place.home / "started").exists()  # its files told


@pytest.mark.parametrize("name", EXEC)
def test_another_reader_of_the_file_needs_a_shell(name, place):
    """
    It may ignore the arguments, as older versions do.
    """
    agent = agents.load(name)
    install_version(place, agent, agent.config.exec_since)
    readers = [one for one in agents.load_all() if name in one.config.borrows and one.home]
    (place.home / readers[0].home).mkdir(parents=True)

    assert not any("args" in entry for entry in install(agent, place))


@pytest.mark.parametrize(("name", "style"), part(product(EXEC, STYLES), 4))
def test_a_file_of_others_comes_back_from_either_form(name, style, place):
    """
    One form, then the other: nothing of ours stands twice, and in the end the bytes are those of before.
    """
    agent = agents.load(name)
    path = target_file(agent, "user", place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before := STYLES[style](foreign(agent)))
    counts = []
    for form in (False, True, True):
        install(agent, place, has_args=form)
        state = install_status(agent, place, str(paths.client_path())).scopes[0]
        counts.append((state.state, state.events, len(foreign_hooks(agent, place, str(paths.client_path())))))
        assert form == (b'"args"' in path.read_bytes())
    uninstall(agent, place)

    assert {("installed", counts[0][1], 30)} == set(counts)
    assert before == path.read_bytes()


@pytest.mark.parametrize("name", EXEC)
def test_entries_come_out_of_a_file_that_somebody_changed(name, place):
    """
    Without the journal's copy, by what they say.
    """
    agent = agents.load(name)
    path = target_file(agent, "user", place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(STYLES["four spaces"](foreign(agent)))
    install(agent, place, has_args=True)
    path.write_bytes(path.read_bytes() + b"\n\n")
    uninstall(agent, place)

    assert 30 == len(entries(agent, place))
    assert b"hookonce-on" not in path.read_bytes()


@pytest.mark.parametrize("name", EXEC)
def test_doctor_compares_the_version_with_the_form(name, place):
    """
    A version that ignores the arguments is wrong, and its repair is the other form; one that could have them is told
    so; with the form of its version, or with a version that nobody knows, there is nothing to say.
    """
    agent = agents.load(name)
    install(agent, place, has_args=True)
    assert [] == findings(agent, place)
    install_version(place, agent, older(agent.config.exec_since))
    (ignored,) = findings(agent, place)
    apply_change(ignored.repair)
    assert [] == findings(agent, place)
    install_version(place, agent, agent.config.exec_since)
    (unused,) = findings(agent, place)
    install(agent, place)

    assert ("exec_form", "shell_form") == (ignored.kind, unused.kind)
    assert all(one.message.endswith(f"hookonce install {name}") for one in (ignored, unused))
    assert older(agent.config.exec_since) in ignored.message
    assert unused.repair is None
    assert [] == findings(agent, place)
    assert not (place.home / "started").exists()


@pytest.mark.parametrize("name", EXEC)
def test_the_lab_takes_the_entries_as_they_are(name, place, tmp_path):
    """
    A proof on this machine runs what the user's agent would run.
    """
    agent, lab = agents.load(name), tmp_path / "lab"
    install(agent, place, has_args=True)
    (lab / "project").mkdir(parents=True)
    lab_place = ConfigRoots(lab, lab / "project")
    copy_user_config(agent, place, lab_place, str(paths.client_path()), "/lab/hookonce-on")
    user, copied = entries(agent, place), entries(agent, lab_place)

    assert [entry["args"] for entry in user] == [entry["args"] for entry in copied]
    assert {"/lab/hookonce-on"} == {entry["command"] for entry in copied}
