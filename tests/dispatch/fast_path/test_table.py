"""Calls that concern nobody: answered at once, and only those."""

import json
import os
import subprocess
from collections import defaultdict
from pathlib import Path
from time import time

import pytest

from hookonce import agents
from hookonce.base import build_id, ids, paths, wire
from hookonce.dispatch import dispatcher
from hookonce.dispatch.context import oneshot_context
from hookonce.dispatch.fail_mode import encode_reply
from hookonce.dispatch.fast_path import lookup, manifest_stamps, table
from hookonce.store.spool import files
from tests.dispatch.pipeline_cases import PLAIN, goldens, recorded
from tests.sample import part

CLAUDE = {
    "session_id": "s",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "permission_mode": "default",
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with a client and no hooks."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(manifest_stamps, "_SETTLE_NS", 0)
    paths.client_path().parent.mkdir(parents=True)
    paths.client_path().touch()
    files.spool_dir().mkdir()
    table.refresh_table()
    return tmp_path


def hook(home, *kinds):
    """Hooks for some kinds of events."""
    file = paths.config_dir() / "hooks.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    hooks = [{"event": kind, "handler": {"type": "command", "command": "true"}} for kind in kinds]
    file.write_text(json.dumps({"spec": "hooks/0.1", "hooks": hooks}), encoding="utf-8")


def said(home, agent, event, payload, *, more=(), cwd=None, env=None, call=None):
    """What the light way says of a call."""
    raw = payload if type(payload) is bytes else json.dumps(payload).encode()
    words = [agent, event, "--via", f"{agent}/user", *more]
    world = [b"HOME=" + bytes(home), *(f"{name}={value}".encode() for name, value in (env or PLAIN).items())]
    fields = [
        wire.VERSION,
        build_id.running_build_id().encode(),
        (call or ids.new_id()).encode(),
        b"".join(word.encode() + b"\0" for word in words),
        b"".join(entry + b"\0" for entry in world),
        os.fsencode(cwd or home),
        b"18",
        raw,
        b"",
        b"",
    ]
    table = lookup.load_current_table(str(paths.client_path().parent), fields[1])
    return None if table is None else lookup.answer_silently(table, fields)


def payloads():
    """Every payload that we know: agent, event, payload, what kind it is."""
    for agent, native, payload, _ in (*goldens(), *recorded()):
        if native is not None:
            yield agent, native, payload, agents.decode(agents.load(agent), payload, native).type


def test_without_hooks_everybody_hears_what_the_long_way_says(home):
    """
    Silence, byte for byte; and many calls are answered so.
    """
    short = 0
    known = part(payloads(), 4)
    for agent, native, payload, _ in known:
        heard = said(home, agent, native, payload)
        if heard is not None:
            short += 1
            words = [agent, native, "--via", f"{agent}/user"]
            assert heard == encode_reply(dispatcher.answer_call(words, json.dumps(payload).encode(), PLAIN))
    assert short > len(known) / 3


def test_a_call_that_concerns_a_hook_is_never_taken_for_one_that_does_not(home):
    """
    Every kind of event, with a hook for it alone, over every payload of that kind.
    """
    kinds = defaultdict(list)
    for agent, native, payload, kind in payloads():
        if not kind.startswith("vendor."):
            kinds[kind].append((agent, native, payload))
    for kind, known in kinds.items():
        hook(home, "after_tool_execute" if kind == "tool_use_failure" else kind)
        table.refresh_table()
        for agent, native, payload in part(known, 4):
            assert said(home, agent, native, payload) is None, (agent, native, kind)


def test_a_prompt_concerns_whoever_may_refuse_the_next_stop(home):
    """
    It ends the count of refused stops, and has to have done so before it is answered.
    """
    prompt = {"session_id": "s", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "go"}
    assert b"" == said(home, "claude-code", "UserPromptSubmit", prompt)
    hook(home, "agent_stop")
    table.refresh_table()

    assert said(home, "claude-code", "UserPromptSubmit", prompt) is None
    assert b"" == said(home, "claude-code", "PreToolUse", CLAUDE)


def test_a_hook_for_something_else_changes_nothing(home):
    hook(home, "session_end")
    table.refresh_table()

    assert b"" == said(home, "claude-code", "PreToolUse", CLAUDE)
    assert said(home, "claude-code", "SessionEnd", {"hook_event_name": "SessionEnd"}) is None


@pytest.mark.parametrize(
    ("payload", "more"),
    [
        (CLAUDE | {"hook_event_name": "SessionEnd"}, {}),
        (b"", {}),
        (b"{", {}),
        (b"[]", {}),
        (b'{"a": NaN}', {}),
        (json.dumps(CLAUDE).encode() + b"{}", {}),
        (b'{"hook_event_name": "PreToolUse", "x": "\xff"}', {}),
        (CLAUDE, {"more": ["--timeout", "5"]}),
        (CLAUDE | {"cursor_version": "1"}, {}),
    ],
    ids=["another event", "nothing", "half", "a list", "no number", "two", "no text", "more words", "another agent"],
)
def test_whatever_is_not_plain_goes_the_long_way(home, payload, more):
    hook(home, "session_end")
    table.refresh_table()

    assert said(home, "claude-code", "PreToolUse", payload, **more) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda home: hook(home, "before_tool_execute"),
        lambda _: (paths.config_dir() / "policy.json").write_text("{}"),
        lambda _: (paths.config_dir() / "config.toml").write_text(""),
        lambda _: paths.pause_path().write_text("1"),
        lambda home: (home / ".hookonce").mkdir(),
        lambda home: (home / ".openhook.json").write_text("{}"),
        lambda _: table.table_file().unlink(),
        lambda _: table.table_file().write_bytes(b"\xff"),
        lambda _: table.table_file().write_bytes(b"N"),
    ],
    ids=["a hook", "a policy", "settings", "a pause", "a project", "an observer", "no table", "no table of ours", "nothing"],
)
def test_whatever_changes_is_noticed(home, change):
    """
    Before anybody has made the table anew.
    """
    paths.config_dir().mkdir(parents=True)
    table.refresh_table()
    assert b"" == said(home, "claude-code", "PreToolUse", CLAUDE)
    change(home)

    assert said(home, "claude-code", "PreToolUse", CLAUDE) is None


def test_hooks_of_the_project_that_the_payload_names_count_too(home):
    place = home / "work" / "deep"
    (home / "work" / ".hookonce").mkdir(parents=True)

    assert said(home, "claude-code", "PreToolUse", CLAUDE | {"cwd": str(place)}) is None
    assert said(home, "claude-code", "PreToolUse", CLAUDE, cwd=place) is None
    assert b"" == said(home, "claude-code", "PreToolUse", CLAUDE | {"cwd": "/"})


def test_our_own_trial_is_no_event(home):
    assert said(home, "claude-code", "PreToolUse", dispatcher.TRIAL_PAYLOAD) is None
    assert [] == list(files.load_records())


def test_a_pause_that_is_over_is_over(home):
    """
    Its file stays; the table made after it is as good as any.
    """
    paths.pause_path().write_text(str(time() + 1000))
    table.refresh_table()
    assert said(home, "claude-code", "PreToolUse", CLAUDE) is None
    paths.pause_path().write_text("1")
    table.refresh_table()

    assert b"" == said(home, "claude-code", "PreToolUse", CLAUDE)
    assert table.TableCache().current_table(manifest_stamps.manifest_stamps(None))["agents"]


@pytest.mark.parametrize("kind", ["after_tool_execute", "tool_use_failure", "tool_batch"])
def test_what_only_a_payload_tells_is_asked_of_it(home, kind):
    """
    Kiro tells of several tools at once under the name of one.
    """
    hook(home, kind)
    table.refresh_table()

    assert said(home, "kiro", "postToolUse", {"hook_event_name": "postToolUse", "hook_events": [{}]}) is None


def test_a_place_that_is_told_from_where_the_caller_is_counts_too(home):
    (home / "work" / ".hookonce").mkdir(parents=True)

    assert said(home, "claude-code", "PreToolUse", CLAUDE | {"cwd": "work"}) is None


def test_hooks_that_cannot_be_read_may_be_about_anything(home):
    hook(home, "session_end")
    (paths.config_dir() / "hooks.json").write_text("{")
    table.refresh_table()

    assert said(home, "claude-code", "PreToolUse", CLAUDE) is None


def test_it_is_noted_that_it_happened_before_it_is_answered(home):
    call = ids.new_id()
    said(home, "claude-code", "PreToolUse", CLAUDE, call=call)
    (record,) = files.load_records()

    assert (call, "before_tool_execute", "claude-code") == (record.event.id, record.event.type, record.event.agent)
    assert ["later"] == [gap.strategy for gap in record.gaps]

    dispatcher.record_call(["claude-code", "PreToolUse", "--via", "claude-code/user"], json.dumps(CLAUDE).encode(), oneshot_context(PLAIN, runs_hooks=False), call)
    (record,) = files.load_records()
    assert ("shell", call) == (record.event.tool.name, record.event.id)


def test_what_cannot_be_noted_is_not_answered_so(home):
    files.spool_dir().rmdir()

    assert said(home, "claude-code", "PreToolUse", CLAUDE) is None


def test_nothing_is_imported_that_costs_time():
    """
    Whoever imports more here makes every call of every agent wait.
    """
    code = "import sys; from hookonce.client import oneshot_call; from hookonce.dispatch.fast_path import lookup; print(*sorted(m for m in sys.modules if m.startswith('hookonce')))"
    names = "print(*({'typing', 're', 'enum', 'json', 'msgspec', 'pathlib', 'contextlib', 'functools'} & {*sys.modules}))"
    source = str(Path(lookup.__file__).parents[3])
    ran = subprocess.run(
        [os.sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {source!r}); {code}; {names}"],
        capture_output=True,
        text=True,
        check=True,
    )

    packages = "hookonce hookonce.client hookonce.client.oneshot_call hookonce.dispatch"
    assert [f"{packages} hookonce.dispatch.fast_path hookonce.dispatch.fast_path.lookup", ""] == ran.stdout.split("\n")[:2]
