"""E-mail addresses in paths, commands and reasons leave the machine by no way out below full."""

import json
import os

import pytest

from hookonce import formats
from hookonce.dispatch.dispatcher import answer_call
from hookonce.sessions.stored_records import record_kernel_event
from tests.cli.command import run
from tests.dispatch.canaries import Flock, flocks
from tests.dispatch.pipeline_cases import PLAIN
from tests.manifest.projects import command, house, manifest, put

COUNT = min(int(os.environ.get("HOOKONCE_CANARIES", "25")), 10_000)
REASON = "not to boss@nest.example.com"
MAIL = "me@nest.example.com"  # whom the setting names
OPEN = [name for name in formats.FORMATS if name != "canonical"]


def denied():
    """A call that a hook refuses, with a name in its reason."""
    flock = Flock("claude-code", "PreToolUse")
    tool_input = {"command": f"mail {flock.address()} {flock.address()} root@localhost"}
    common = {"session_id": "s1", "transcript_path": "/h/.claude/t.jsonl", "cwd": f"/home/{flock.address()}/w", "hook_event_name": "PreToolUse", "tool_use_id": "t9"}
    flock.payload = common | {"tool_name": "Bash", "tool_input": tool_input}
    flock.addresses += ["boss", "root@"]
    return flock


def named():
    """A file that somebody's address is the name of, in the repository."""
    flock = Flock("claude-code", "PostToolUse")
    path = f"/w/{flock.address()}/a.md"
    common = {"session_id": "s1", "transcript_path": "/h/.claude/t.jsonl", "cwd": "/w", "hook_event_name": "PostToolUse", "tool_use_id": "t8"}
    flock.payload = common | {"tool_name": "Write", "tool_input": {"file_path": path, "content": "x"}, "tool_response": {"type": "create", "filePath": path}}
    return flock


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A home in which all of them were told live, with a file that captures everything."""
    folder = tmp_path_factory.mktemp("addresses")
    with pytest.MonkeyPatch.context() as patch:
        home = house(patch, folder)
        config = home / ".config" / "hookonce"
        put(config / "config.toml", f'user = "{MAIL}"\n')
        put(config / "agent-hooks.json", {"hooks": {"event": "*", "output": str(home / "capture.jsonl")}})
        put(config / "hooks.json", manifest(command(f"echo {REASON} >&2; exit 2", matcher="shell", blocking=True)))
        birds = [*flocks(COUNT), denied(), named()]
        for flock in birds:
            answer_call([flock.agent, flock.native], json.dumps(flock.payload).encode(), dict(PLAIN))
        record_kernel_event({"id": "k1", "ts": 1.0, "event": "tool:pre", "component": "kernel", "data": {"path": f"/home/{birds[0].address()}/x"}})
    (home / "payloads.jsonl").write_text("".join(json.dumps(one.payload) + "\n" for one in birds))
    assert run("events", HOME=str(home)).code == 0
    return home, [word for flock in birds for word in flock.addresses]


def sung(words, heard):
    return [word for word in words if word in heard]


@pytest.mark.part(2)
@pytest.mark.covers("AH-53")
@pytest.mark.parametrize(("name", "level"), [*((name, "minimal") for name in OPEN), ("agent-hooks", "standard")])
def test_none_leaves_in_an_open_format(played, name, level):
    """
    Neither from the record nor from payloads, but for the user that a setting or an option names.
    """
    home, words = played
    for ran in (
        run("events", "--format", name, "--privacy", level, HOME=str(home)),
        run("translate", "--to", name, "--privacy", level, "--user", MAIL, given=(home / "payloads.jsonl").read_bytes(), HOME=str(home)),
    ):
        assert (0, []) == (ran.code, sung(words, ran.out))
        assert "[e-mail]" in ran.out
        assert ("user" in formats.load(name).lacks) != (MAIL in ran.out)


def test_the_reason_of_a_refusal_is_told_without_them(played):
    home, _ = played
    told = run("events", "--format", "agent-hooks", HOME=str(home)).documents()
    reasons = [json.dumps(one) for one in told if one["event_type"] == "Policy.Blocked"]
    assert reasons
    assert all("not to [e-mail]" in one for one in reasons)


@pytest.mark.parametrize("words", [("--turns", "--json"), ("--json",), ("--turns", "--format", "agent-hooks"), ("--turns", "--format", "otel", "--privacy", "standard")], ids=str)
def test_none_leaves_with_a_session(played, words):
    home, planted = played
    ran = run("show", "s1", "--agent", "claude-code", *words, HOME=str(home))
    assert (0, []) == (ran.code, sung(planted, ran.out))
    assert "[e-mail]" in ran.out
    assert ("--turns" in words) == (MAIL in ran.out)


def test_none_stands_in_the_files_that_we_append_to(played):
    """
    The captured Agent Hooks events and the kernel's log.
    """
    home, words = played
    for file in (home / "capture.jsonl", home / ".local/share/hookonce/kernel.jsonl"):
        assert [] == sung(words, file.read_text())
        assert "[e-mail]" in file.read_text()


def test_full_leaves_as_it_was(played):
    home, flock = played[0], denied()
    out = run("translate", "--to", "agent-hooks", "--privacy", "full", given=json.dumps(flock.payload).encode(), HOME=str(home)).out
    assert ["boss"] == [word for word in flock.addresses if word not in out]
    assert "[e-mail]" not in out


def test_the_record_finds_its_folders_again(played):
    """
    On this machine paths stay as they are: derived events are told to hooks of the project in that folder.
    """
    home, _ = played
    folders = {one["event"].get("cwd") for one in run("events", "--json", HOME=str(home)).documents()}
    assert any("/bird." in (folder or "") for folder in folders)
