"""A manifest that is broken for a while: its hooks go on as they were, and nobody calls that fine."""

import json

import pytest

from hookonce.base import paths
from hookonce.dispatch import dispatcher, fail_mode
from hookonce.dispatch.fast_path import manifest_stamps
from hookonce.manifest import discover
from hookonce.manifest.discover import find_sources
from hookonce.store.spool import files
from tests.cli.command import run

CALL = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s"}
PLAIN = {"PATH": "/usr/bin:/bin"}
BROKEN = ['{"spec":', '{"spec":"hooks/1.0"}', "\x00"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with a client and a hook that refuses."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(manifest_stamps, "_SETTLE_NS", 0)
    paths.client_path().parent.mkdir(parents=True)
    paths.client_path().touch()
    paths.config_dir().mkdir(parents=True)
    write(manifest("echo no >&2; exit 2"))
    return tmp_path


def manifest(command, **more):
    hook = {"event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": command}}
    return json.dumps({"spec": "hooks/1.0", "hooks": [hook | more]})


def write(text):
    (paths.config_dir() / "hooks.json").write_text(text, encoding="utf-8")


def said():
    return dispatcher.answer_call(["claude-code", "PreToolUse"], json.dumps(CALL).encode(), PLAIN).stdout


@pytest.mark.parametrize("text", BROKEN)
def test_the_last_good_version_counts(home, text):
    assert "deny" in said()
    write(text)

    assert "deny" in said()
    last = list(files.load_records())[-1]
    assert ["manifest"] == [gap.capability for gap in last.gaps if gap.where == "$.decision"]
    assert "hooks.json" in run("status", HOME=str(home)).out


def test_whoever_takes_all_hooks_out_has_none(home):
    write(manifest("true", on_failure="closed"))
    said()
    write('{"spec":"hooks/1.0","hooks":[]}')

    assert "" == said()
    assert "" == dispatcher.answer_call(["claude-code", "PreToolUse"], b"{", PLAIN).stdout


def test_the_next_good_version_takes_its_place(home):
    said()
    write("{")
    said()
    write(manifest("true"))
    assert "" == said()
    write("{")

    assert "" == said()


def test_hooks_that_have_to_be_asked_are_not_taken_for_asked(home):
    """
    What the last good version says is not enough for them: the new one may say more.
    """
    write(manifest("true", on_failure="closed"))
    assert "" == said()
    write("{")

    assert fail_mode.BROKEN_MANIFEST_REASON in said()


def test_a_project_s_broken_file_has_no_past(home):
    project = home / "work"
    (project / ".hookonce").mkdir(parents=True)
    (project / ".hookonce" / "hooks.json").write_text("{", encoding="utf-8")
    (source, *_) = find_sources(project)

    assert "project" == source.scope
    assert discover.load_last_good(source) is None


def test_nothing_is_kept_where_nobody_calls_us(home):
    paths.client_path().unlink()
    said()

    assert not (paths.data_dir() / "good").exists()
