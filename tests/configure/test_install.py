"""Our entries in agents' files: they go in beside everybody else's, and come out without a trace."""

import json
from itertools import product
from pathlib import Path
from shlex import split

import pytest

from hookonce import agents
from hookonce.base import paths
from hookonce.base.invocation import is_own_entry
from hookonce.configure.changes import apply_change
from hookonce.configure.edit import jsonc
from hookonce.configure.entries import build_entries
from hookonce.configure.install import plan_install, plan_removal
from hookonce.configure.locations import ConfigRoots, document_of, target_file
from hookonce.configure.merge import merge_entries
from hookonce.errors import HookonceError
from hookonce.model import Handler, Hook
from tests.sample import part

ABLE = list(agents.AGENTS)
FILES = [name for name in ABLE if agents.load(name).config.language == "json"]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home and a project of our own."""
    home = tmp_path / "home"
    (home / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return ConfigRoots(home, home / "project")


def bare(hook, _):
    """Commands as they are."""
    return hook.handler.command


def foreign(agent):
    """Thirty hooks of somebody else, as the agent's file has them."""
    kinds = [kind for kind in dict.fromkeys(agents.config_events(agent).values()) if not kind.startswith("vendor.")]
    hooks = [
        Hook(event=kinds[number % len(kinds)], handler=Handler(type="command", command=f"/opt/other/{number}.sh --x"))
        for number in range(30)
    ]
    document, _ = agent.config.render(agent, list(enumerate(hooks)), bare)
    return document | {"somethingElse": {"é": [1, 2.50, "\u2028"]}}


STYLES = {
    "four spaces": lambda given: json.dumps(given, indent=4).encode() + b"\n",
    "three spaces, no last line end": lambda given: json.dumps(given, indent=3, ensure_ascii=False).encode(),
    "tabs, windows lines": lambda given: json.dumps(given, indent="\t").replace("\n", "\r\n").encode() + b"\r\n",
    "one line": lambda given: json.dumps(given, separators=(",", ":")).encode(),
    "byte order mark": lambda given: b"\xef\xbb\xbf" + json.dumps(given, indent=2).encode() + b"\n",
    "comments": lambda given: json.dumps(given, indent=2).replace("{", "{ // mine\n/* and\n mine */", 3).encode() + b"\n// end",
    "blank lines": lambda given: b"\n\n" + json.dumps(given, indent=2).replace(",\n", ",\n\n").encode() + b"\n\n\n",
}


def install(agent, place, scope="user"):
    """Plan and write; the changes that were made."""
    changes = plan_install(agent, scope, place, str(paths.client_path()))
    for change in changes:
        apply_change(change)
    return changes


def uninstall(agent, place, scope="user"):
    """Plan and write; the changes that were made."""
    changes = plan_removal(agent, scope, place, str(paths.client_path()))
    for change in changes:
        apply_change(change, is_removal=True)
    return changes


@pytest.mark.part(4)
@pytest.mark.parametrize(("name", "style"), part(product(FILES, STYLES), 2))
def test_a_file_of_others_comes_back_byte_for_byte(name, style, place):
    """
    Thirty foreign hooks in any handwriting: install, install again, uninstall gives the same bytes.
    """
    agent = agents.load(name)
    path = target_file(agent, "user", place)
    path.parent.mkdir(parents=True, exist_ok=True)
    before = STYLES[style](foreign(agent))
    path.write_bytes(before)

    (change,) = install(agent, place)
    again = install(agent, place)
    uninstall(agent, place)

    assert [] == again
    assert before == path.read_bytes()
    assert change.new != before


@pytest.mark.part(2)
@pytest.mark.parametrize("name", FILES)
def test_foreign_hooks_stay_in_order_and_ours_come_out_of_a_changed_file(name, place):
    """
    Whoever adds a hook after us finds all theirs as they left them, and so do we when we leave.
    """
    agent = agents.load(name)
    path = target_file(agent, "user", place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(STYLES["comments"](foreign(agent)))
    client = str(paths.client_path())

    install(agent, place)
    path.write_bytes(path.read_bytes() + b"\n// and I was here")
    with_us = parsed(agent, path)
    uninstall(agent, place)
    without = parsed(agent, path)

    assert without == [hook for hook in with_us if not is_own_entry(hook.handler.command, client)]
    assert len(with_us) - len(without) == len(build_entries(agent, "user", client))
    assert client.encode() not in path.read_bytes()
    assert path.read_bytes().endswith(b"\n// and I was here")


def parsed(agent, path):
    hooks, _ = agent.config.parse(agent, document_of(agent, path, path.read_bytes()))
    return hooks


@pytest.mark.part(3)
@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("name", ABLE)
def test_where_there_was_nothing_nothing_is_left(name, scope, place):
    """
    For every agent: a file that we made is gone when we leave, and every event had its one entry meanwhile.
    """
    agent = agents.load(name)
    if scope not in agent.config.files:
        pytest.skip(f"{agent.title} has no {scope} configuration")
    client = str(paths.client_path())

    changes = install(agent, place, scope)
    hooks = [hook for change in changes for hook in parsed(agent, change.path)]
    texts = [change.path.read_bytes() for change in changes]
    again = install(agent, place, scope)
    uninstall(agent, place, scope)

    assert sorted(hook.handler.command for hook in build_entries(agent, scope, client)) == sorted(hook.handler.command for hook in hooks)
    assert [] == again
    assert [] == [change.path for change in changes if change.path.exists()]
    assert [] == [line for text in texts for line in text.splitlines() if line != line.rstrip()]
    assert all(text.endswith(b"\n") and not text.endswith(b"\n\n") for text in texts)


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli"])
def test_a_file_that_we_made_goes_when_nothing_of_others_is_left_in_it(name, place):
    """
    Also when somebody wrote into it meanwhile and we did so again after them; what is theirs stays.
    """
    agent = agents.load(name)
    path = target_file(agent, "user", place)
    for is_kept in (False, True):
        install(agent, place)
        ours = path.read_bytes()
        path.write_bytes(jsonc.set_value(ours, ("model",), "x"))
        for change in plan_install(agent, "user", place, str(paths.client_path()), "all"):
            apply_change(change)
        if not is_kept:
            path.write_bytes(jsonc.remove_path(path.read_bytes(), ("model",)))
        uninstall(agent, place)

        assert is_kept == path.exists()
    assert {"model": "x"} == json.loads(path.read_bytes())


@pytest.mark.parametrize("name", ABLE)
def test_an_event_that_must_not_be_taken_is_not(name):
    """
    The default set leaves out what comes too often, and no set takes an event whose hook replaces the agent's own work.
    """
    agent = agents.load(name)
    default, every = ({split(hook.handler.command)[2] for hook in build_entries(agent, "user", "/c", events)} for events in ("default", "all"))
    points = {native: agents.point_of(agent, native) for native in agents.config_events(agent)}

    assert default == {native for native, point in points.items() if point.install == "default"}
    assert every == {native for native, point in points.items() if point.install != "never"}
    assert all(point.why for point in points.values() if point.install != "default")


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli"])
def test_files_of_an_older_version_are_known_and_leave_as_they_came(name, place):
    """
    It had marked its files with a space and noted nothing about who made them; its entries are up to date, and go.
    """
    agent = agents.load(name)
    path = target_file(agent, "user", place)
    (change,) = plan_install(agent, "user", place, str(paths.client_path()))
    older = merge_entries(jsonc, b"", json.loads(change.new))
    assert b" \n" in older
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(older)

    assert [] == install(agent, place)
    uninstall(agent, place)
    assert not path.exists()


BROKEN = {
    "half": b'{"hooks": {"PreToolUse": [',
    "no json": b"hello",
    "not utf-8": b'{"a": "\xff\xfe"}',
    "a list": b"[]",
    "hooks is a text": b'{"hooks": "none"}',
    "hooks is a list of numbers": b'{"hooks": [1, 2]}',
    "two documents": b"{}{}",
    "a comment without an end": b'{"hooks": {}} /* ',
}


# Where `hooks` is no list of events, these files say something else, and are right.
FINE = {("antigravity", "hooks is a text"), ("antigravity", "hooks is a list of numbers"), ("kiro", "hooks is a list of numbers")}


@pytest.mark.part(2)
@pytest.mark.parametrize(("name", "fault"), [(name, fault) for name in FILES for fault in BROKEN if (name, fault) not in FINE])
def test_a_broken_file_is_left_alone(name, fault, place):
    """
    What cannot be understood is refused in one sentence that names the file.
    """
    agent = agents.load(name)
    path = target_file(agent, "user", place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(BROKEN[fault])

    with pytest.raises(HookonceError) as caught:
        plan_install(agent, "user", place, str(paths.client_path()))

    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    assert BROKEN[fault] == path.read_bytes()


def test_a_link_that_leads_out_of_the_home_is_not_followed(place, tmp_path):
    """
    A repository could have planted it.
    """
    outside = tmp_path / "outside.json"
    outside.write_bytes(b"{}")
    path = place.project / ".claude" / "settings.json"
    path.parent.mkdir()
    path.symlink_to(outside)

    with pytest.raises(HookonceError, match="outside of your home"):
        plan_install(agents.load("claude-code"), "project", place, "/c/hookonce-on")

    assert b"{}" == outside.read_bytes()


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_read_only_file_is_left_alone(name, place):
    """
    Somebody has locked it for a reason.
    """
    agent = agents.load(name)
    path = target_file(agent, "user", place)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"{}")
    path.chmod(0o444)

    with pytest.raises(HookonceError, match="is read-only"):
        plan_install(agent, "user", place, "/c/hookonce-on")


def test_the_installed_command_is_the_same_for_ever(place):
    """
    Byte for byte: an agent that trusts commands by their hash would forget us otherwise.
    """
    (hook, *_) = build_entries(agents.load("codex"), "user", "/home/dev/.local/share/hookonce/bin/hookonce-on")

    assert "/home/dev/.local/share/hookonce/bin/hookonce-on codex PreToolUse --via codex/user" == hook.handler.command
    assert 60 == hook.handler.timeout
    assert isinstance(place.home, Path)
