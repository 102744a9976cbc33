"""Scripts in an agent's own configuration and our installed entry: one call is one record, whoever comes first."""

import json
import os

import pytest

from hookonce.dispatch.dispatcher import answer_call
from hookonce.sessions.recorder import Recorder
from hookonce.store.spool import files
from hookonce.store.writer import Writer
from tests.manifest.projects import command, house, manifest, put

CALL = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "ls"}, "permission_mode": "default", "transcript_path": "/home/dev/.claude/projects/p/s.jsonl"}
INSTALLED = ("--via", "claude-code/user")


@pytest.fixture
def home(monkeypatch, tmp_path):
    made = house(monkeypatch, tmp_path)
    put(made / ".config/hookonce/hooks.json", manifest(command("echo '{}'", name="mine", blocking=True)))
    return made


def script(text):
    return ("--dialect", "claude-code", "--run", text, "--scope", "user")


def ask(*words, call="toolu_1"):
    return answer_call(["claude-code", "PreToolUse", *words], json.dumps(CALL | {"tool_use_id": call}).encode(), dict(os.environ))


REFUSAL, SILENCE = script("echo no >&2; exit 2"), script("true")


@pytest.mark.parametrize("order", [(INSTALLED, REFUSAL, SILENCE), (REFUSAL, INSTALLED, SILENCE), (SILENCE, REFUSAL, INSTALLED)])
def test_one_call_is_one_record(home, order):
    """
    Each entry is answered by what it asks; the record has the runs of all of them, and the refusal.
    """
    replies = {words: ask(*words) for words in order}
    (record,) = files.load_records()

    assert "no" in replies[REFUSAL].stdout + replies[REFUSAL].stderr
    assert "" == replies[INSTALLED].stdout == replies[SILENCE].stdout
    assert (3, "deny", 3) == (len(record.runs), record.decision.outcome, len(record.event.origin.via))


def test_two_calls_are_two_records(home):
    """
    Another call has another id, or comes through the same entry again.
    """
    for call in ("toolu_1", "toolu_2"):
        for words in (INSTALLED, SILENCE):
            ask(*words, call=call)
    assert 2 == len(list(files.load_records()))


def test_a_script_that_ends_after_the_call_was_stored_repeats_it(home):
    """
    What is stored is not changed: its run is in a record that says that it repeats the call.
    """
    ask(*INSTALLED)
    with Writer() as writer:
        recorder = Recorder(writer, lambda _: False)
        recorder.ingest_spool()
        ask(*REFUSAL)
        assert 1 == recorder.ingest_spool().new_records
        rows = writer.connection.execute("SELECT body FROM events WHERE type = 'before_tool_execute' ORDER BY seq").fetchall()
    first, late = (json.loads(row[0]) for row in rows)
    assert (True, first["event"]["id"], ["deny"]) == (late["event"]["data"]["repeat"], late["event"]["caused_by"], [run.get("outcome") for run in late["runs"]])


def test_each_script_that_ends_later_is_recorded_once(home):
    """
    Scripts of one call end one after the other, long after the call was stored: no run is lost, and none is told twice.
    """
    ask(*INSTALLED)
    with Writer() as writer:
        recorder = Recorder(writer, lambda _: False)
        recorder.ingest_spool()
        new_counts = []
        for words in (SILENCE, REFUSAL, script("sleep 0")):
            ask(*words)
            new_counts.append(recorder.ingest_spool().new_records)
        rows = writer.connection.execute("SELECT body FROM events WHERE type = 'before_tool_execute' ORDER BY seq").fetchall()
    runs = [json.loads(row[0])["runs"] for row in rows]
    assert [1] * 3 == new_counts
    assert [1] * 4 == [*map(len, runs)]
    assert 4 == len({run["digest"] for (run,) in runs})
