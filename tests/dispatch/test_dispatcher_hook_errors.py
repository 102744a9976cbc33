"""Hooks that fail are errors besides: kept as events of their own, and written as such in Agent Hooks."""

import json

import pytest

from hookonce.base import ids, paths
from hookonce.base.jsontext import dump
from hookonce.dispatch.response import hook_error_records
from hookonce.model import HookRun, Record
from hookonce.store.privacy.redact import redact
from hookonce.store.spool import files
from tests.cli.command import PAYLOAD, lines, run
from tests.dispatch.event_factory import event

BROKEN = {"name": "broken", "command": "exit 1"}
SECRET = "correct horse battery staple"
CALL = PAYLOAD | {"tool_input": {"command": "ls", "description": SECRET}}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def settle(*hooks, kind="before_tool_execute"):
    """The user's manifest with these hooks."""
    listed = []
    for given in hooks:
        more = dict(given)
        handler = {"type": "command", "command": more.pop("command"), "async": more.pop("async", False)}
        listed.append({"event": kind, "handler": handler} | more)
    paths.config_dir().mkdir(parents=True)
    (paths.config_dir() / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": listed}))


def call(home, payload=CALL):
    """One call through the command; what was kept of it, and the errors that were derived."""
    told = run("on", "claude-code", payload["hook_event_name"], given=lines(payload), HOME=str(home))
    assert (0, "") == (told.code, told.err)
    kept = list(files.load_records())
    (parent,) = [one for one in kept if one.event.derived_from is None]
    return parent, sorted((one for one in kept if one is not parent), key=lambda one: one.event.data["index"])


def as_agent_hooks(home, *records):
    """The records as Agent Hooks events, by the command."""
    given = b"".join(dump(record) + b"\n" for record in records)
    told = run("translate", "--from", "canonical", "--to", "agent-hooks", given=given, HOME=str(home))
    assert 0 == told.code, told.err
    return told.documents()


@pytest.mark.covers("AH-45")
def test_every_hook_that_failed_is_an_error_of_the_same_moment(home):
    """
    The second and the third of four fail; each gives one record, derived from the call's.
    """
    settle({"name": "good", "command": "true"}, BROKEN, {"name": "late", "command": "echo no answer"}, {"name": "last", "command": "true"})

    parent, errors = call(home)

    assert [("broken", 1), ("late", 2)] == [(one.event.data["hook"], one.event.data["index"]) for one in errors]
    for one in errors:
        event = one.event
        assert ("error_occurred", parent.event.id) == (event.type, event.derived_from)
        assert ids.derive_id(parent.event.id, "error_occurred", str(event.data["index"])) == event.id
        for name in ("agent", "session", "cwd", "time", "received"):
            assert getattr(parent.event, name) == getattr(event, name)
        assert ("HookError", "before_tool_execute") == (event.data["error_type"], event.data["origin_event"])
        assert (None, None, []) == (event.tool, one.decision, one.runs)


@pytest.mark.covers("AH-45")
def test_in_agent_hooks_the_error_names_the_event_in_that_formats_words(home):
    """
    Parent and error are two events; the error's origin is an event type of Agent Hooks, and its reading gives it back.
    """
    settle(BROKEN)
    parent, (error,) = call(home)

    first, second = as_agent_hooks(home, parent, error)

    assert ("Action.Before", "Agent.Error") == (first["event_type"], second["event_type"])
    assert (error.event.id, parent.event.id) == (second["event_id"], second["metadata"]["dev.hookonce"]["derived_from"])
    told = second["data"]
    assert ("HookError", "Action.Before", "exit code 1") == (told["error_type"], told["origin_event"], told["error_message"])
    checked = run("check", "--strict", "-", given=lines(second), HOME=str(home))
    assert 0 == checked.code, checked.out + checked.err
    back = run("translate", "--from", "agent-hooks", "--to", "canonical", given=lines(second), HOME=str(home))
    assert "before_tool_execute" == back.documents()[0]["event"]["data"]["origin_event"]


def test_an_event_that_agent_hooks_lacks_is_named_under_its_vendor(home):
    """
    A hook that failed when a configuration changed.
    """
    settle(BROKEN, kind="config_change")
    payload = {name: PAYLOAD[name] for name in ("session_id", "transcript_path", "cwd")} | {"hook_event_name": "ConfigChange"}

    _, (error,) = call(home, payload)

    assert ["vendor.claude-code.config_change"] == [one["data"]["origin_event"] for one in as_agent_hooks(home, error)]


def test_what_did_not_fail_is_no_error(home):
    """
    Nobody waits for a detached hook, and a deny is an answer.
    """
    settle({"name": "aside", "command": "exit 1", "async": True}, {"name": "no", "command": "echo no >&2; exit 2", "blocking": True})

    parent, errors = call(home)

    assert (["aside", "no"], "deny", []) == ([one.hook for one in parent.runs], parent.decision.outcome, errors)


def test_no_text_of_a_call_gets_into_its_errors(home):
    """
    Neither the tool's input nor a name that is a sentence; of why it failed our own words are told.
    """
    settle(BROKEN | {"name": f"guards the {SECRET}"})

    _, (error,) = call(home)

    assert "minimal" == error.level
    assert SECRET.encode() not in dump(error)
    assert {"hash", "length", "lines"} == error.event.data["hook"].keys()
    assert "exit code 1" == error.event.data["error"]


@pytest.mark.parametrize(
    ("failure", "kept"),
    [
        ("timeout", "timeout"),
        ("ended by signal 9", "ended by signal 9"),
        ("127.0.0.1 cannot be reached at port 9: Connection refused", "127.0.0.1 cannot be reached at port 9: Connection refused"),
        ("127.0.0.1 cannot be reached at port 9: my plan", None),
        ("the server answered with 500", "the server answered with 500"),
        ("unreachable: it ended with code 7; it said: my plan", "unreachable: …"),
        ("unreachable: …", "unreachable: …"),
        ("not started: my plan", "not started: …"),
        ("my plan: exit code 1", None),
        ("exit code 1\nmy plan", None),
    ],
)
def test_of_why_a_hook_failed_only_our_own_words_are_kept(failure, kept):
    """
    At the level at which no text is.
    """
    (error,) = hook_error_records(Record(event=event(), runs=[HookRun(hook="a", failure=failure)]))

    found = redact(error, "minimal").event.data["error"]

    assert found == kept if kept is not None else {"hash", "length", "lines"} == found.keys()
    assert failure == redact(error, "full").event.data["error"]


def test_errors_have_ids_of_their_own_and_the_same_ones_each_time():
    """
    A call that came through two doors is told twice, and leaves each error once.
    """
    runs = [HookRun(hook="a", failure="timeout"), HookRun(hook="b"), HookRun(hook="a", failure="timeout")]
    record = Record(event=event(), runs=runs)

    found = [one.event.id for one in hook_error_records(record)]

    assert (2, found) == (len(set(found)), [one.event.id for one in hook_error_records(record)])
