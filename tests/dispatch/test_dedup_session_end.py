"""The end of a session, which some agents tell twice, the second time perhaps without a word: one end, one record."""

import json
import os

import pytest

from hookonce.base import paths
from hookonce.base.spawn import fork
from hookonce.dispatch import dedup, dispatcher
from hookonce.inspect.store_access import ingest_spool, open_store
from hookonce.store.query import RecordFilter, find_records
from hookonce.store.spool import files
from tests.cli.command import lines, run
from tests.dispatch.pipeline_cases import PLAIN
from tests.handlers.processes import eventually

GEMINI = {"session_id": "s1", "transcript_path": "/h/.gemini/tmp/x/chats/s1.json", "cwd": "/", "hook_event_name": "SessionEnd", "timestamp": "2026-11-15T00:00:00.000Z", "reason": "exit"}
DROID = {"session_id": "s1", "transcript_path": "/h/.factory/sessions/s1.jsonl", "cwd": "/", "permission_mode": "off", "hook_event_name": "SessionEnd", "reason": "other"}
PAYLOADS = {"gemini-cli": GEMINI, "factory-droid": DROID}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home with a hook at the end of a session, which leaves a line each time that it runs."""
    monkeypatch.setenv("HOME", str(tmp_path))
    paths.config_dir().mkdir(parents=True)
    handler = {"type": "command", "command": f"echo run >> {tmp_path}/runs"}
    hook = {"name": "tidy", "event": "session_end", "handler": handler}
    (paths.config_dir() / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}))
    return tmp_path


def ends(agent, payload, via="user", native="SessionEnd"):
    """The agent tells it; an empty payload is nothing on stdin."""
    raw = json.dumps(payload).encode() if payload else b""
    return dispatcher.answer_call([agent, native, "--via", f"{agent}/{via}"], raw, PLAIN)


def runs(home):
    """How often the hook has run; it is nobody's child, so its line may come a moment later."""
    eventually((home / "runs").exists)
    eventually(lambda: len((home / "runs").read_text().splitlines()) > 1, 0.3)
    return len((home / "runs").read_text().splitlines())


@pytest.mark.part(3)
@pytest.mark.parametrize("second", ["the same", "later", "empty"])
@pytest.mark.parametrize("via", ["user", "project"])
@pytest.mark.parametrize("agent", PAYLOADS)
def test_an_end_that_is_told_twice_is_one_record_and_one_run(home, agent, via, second):
    """
    Through the same door or another one, with the same words, with others, or without any.
    """
    payload = PAYLOADS[agent]
    again = {"the same": payload, "later": payload | {"timestamp": "2026-11-15T00:00:12.000Z", "reason": "other"}, "empty": {}}[second]

    answers = [ends(agent, payload), ends(agent, again, via)]

    assert answers[0] == answers[1]
    (record,) = files.load_records()
    assert ("session_end", "s1", "/") == (record.event.type, record.event.session, record.event.cwd)
    assert (["tidy"], list(dict.fromkeys([f"{agent}/user", f"{agent}/{via}"]))) == ([one.hook for one in record.runs], record.event.origin.via)
    assert 1 == runs(home)
    assert not paths.log_path().exists() or "Error" not in paths.log_path().read_text()


def test_an_end_without_a_word_is_no_error_even_if_nothing_is_known_of_it(home):
    """
    Through the real command: silence, and a record of what little is known.
    """
    told = run("on", "factory-droid", "SessionEnd", "--via", "factory-droid/user", given=b"", HOME=str(home))

    assert (0, "", "") == (told.code, told.out, told.err)
    (record,) = files.load_records()
    assert ("factory-droid", "session_end", None) == (record.event.agent, record.event.type, record.event.session)


@pytest.mark.parametrize("again", [DROID, {}])
def test_whoever_comes_second_finishes_what_the_first_could_not(home, monkeypatch, again):
    """
    The first was killed with its terminal, after its record and before its hook: the second runs it, under the same id.
    """
    gone = fork()
    if gone == 0:
        monkeypatch.setattr("hookonce.dispatch.pipeline._decide_call", lambda *_: os._exit(0))
        ends("factory-droid", DROID)
        os._exit(1)
    assert 0 == os.waitpid(gone, 0)[1]
    (first,) = files.load_records()

    ends("factory-droid", again)

    (record,) = files.load_records()
    assert (first.event.id, "s1", ["tidy"], 1) == (record.event.id, record.event.session, [one.hook for one in record.runs], runs(home))


def test_two_sessions_end_for_themselves(home):
    """
    At the same time, of one agent; one that ends without a word is the last that ended.
    """
    for session in ("s1", "s2"):
        ends("gemini-cli", GEMINI | {"session_id": session})
    ends("gemini-cli", {}, "project")

    doors = ["gemini-cli/user", "gemini-cli/project"]
    assert [("s1", doors[:1]), ("s2", doors)] == [(one.event.session, one.event.origin.via) for one in files.load_records()]
    assert 2 == runs(home)


def test_a_session_that_begins_again_ends_again(home):
    """
    Resumed at once, it is a new end; and so it is after a while without a word of a beginning.
    """
    begins = GEMINI | {"hook_event_name": "SessionStart", "source": "resume"}
    ends("gemini-cli", GEMINI)
    ends("gemini-cli", begins, native="SessionStart")
    ends("gemini-cli", GEMINI)

    assert ["session_end", "session_start", "session_end"] == [one.event.type for one in files.load_records()]


def test_after_a_while_it_is_another_end(home, monkeypatch):
    """
    Nobody waits a minute with the second word.
    """
    ends("gemini-cli", GEMINI)
    monkeypatch.setattr(dedup, "_SESSION_END_WINDOW_S", -1)
    ends("gemini-cli", GEMINI)

    assert 2 == len(list(files.load_records()))


def test_the_real_command_tells_it_once(home):
    """
    Two processes, one after the other.
    """
    for given in (lines(DROID), b""):
        told = run("on", "factory-droid", "SessionEnd", "--via", "factory-droid/user", given=given, HOME=str(home))
        assert (0, "", "") == (told.code, told.out, told.err)

    (record,) = files.load_records()
    assert ("s1", 1) == (record.event.session, runs(home))


@pytest.mark.parametrize("is_stored", [False, True], ids=["in the spool", "in the store"])
def test_a_session_that_goes_on_ends_again(home, is_stored):
    """
    Nobody tells that it begins again, but what it does after its end says so; what came before it does not, nor does
    another session. The second end may be told twice as well.
    """
    work = GEMINI | {"hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
    ends("gemini-cli", work, native="BeforeTool")
    ends("gemini-cli", GEMINI)
    ends("gemini-cli", work | {"session_id": "s2"}, native="BeforeTool")
    ends("gemini-cli", GEMINI | {"reason": "other"})
    assert 1 == [one.event.type for one in files.load_records()].count("session_end")
    ends("gemini-cli", work | {"tool_input": {"command": "pwd"}}, native="BeforeTool")
    if is_stored:
        ingest_spool(pytest.fail)
    ends("gemini-cli", GEMINI)
    ends("gemini-cli", GEMINI | {"reason": "other"}, "project")

    with open_store(pytest.fail) as connection:
        told = [(one.event.session, one.event.type) for one in find_records(connection, RecordFilter(type="session_end"))]
    assert [("s1", "session_end")] * 2 == told
    assert 2 == runs(home)
