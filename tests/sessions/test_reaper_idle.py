"""Rest: what is none although nothing is heard, and what is looked at before an end that nobody tells."""

import time
from contextlib import closing

from hookonce.base.settings import Settings
from hookonce.daemon import denied_files, store_writer
from hookonce.model import Decision, Record
from hookonce.sessions.derive.turns import IDLE_TIMEOUT_MS
from hookonce.store import database
from hookonce.store.query import RecordFilter, find_records
from tests.handlers.processes import eventually
from tests.sessions import test_tailer
from tests.sessions.test_tailer import answers, projects

HALF_AN_HOUR = IDLE_TIMEOUT_MS / 1000
tailer_harness = test_tailer.harness


def test_a_call_that_takes_long_is_no_rest(harness, agent):
    """
    As long as its agent is there; after it the session goes on, and rests when it has stopped.
    """
    for kind in ("session_start", "before_prompt"):
        harness.tell(kind, agent)
    harness.tell("before_tool_execute", agent, tool="shell", given={"command": "make bench"})
    harness.wait(HALF_AN_HOUR + 600)
    during = harness.ends()
    harness.tell("after_tool_execute", agent, tool="shell", given={"command": "make bench"})
    harness.tell("agent_stop", agent)
    after = harness.ends()
    harness.wait(HALF_AN_HOUR)

    assert ([], [], [("session_end", "idle_timeout")]) == (during, after, harness.ends())
    assert 1 == len(harness.kinds("session_start"))


def test_an_agent_that_is_gone_in_a_long_call_has_aborted(harness, agent):
    for kind in ("session_start", "before_prompt"):
        harness.tell(kind, agent)
    harness.tell("before_tool_execute", agent, tool="shell", given={"command": "make bench"})
    harness.wait(HALF_AN_HOUR + 600)
    agent.end()
    harness.wait()

    assert [("session_abort", "aborted")] == harness.ends()


def test_while_the_machine_sleeps_nobody_rests(harness, agent, monkeypatch):
    """
    The clock has gone on, and nobody could have said anything.
    """
    for kind in ("session_start", "before_prompt", "agent_stop"):
        harness.tell(kind, agent)
    slept = harness.later
    monkeypatch.setattr(harness.reaper, "_monotonic", lambda: time.monotonic() + harness.later - (harness.later > slept) * 8 * 3600)
    harness.wait(8 * 3600)
    asleep = harness.ends()
    harness.wait(HALF_AN_HOUR)

    assert ([], [("session_end", "idle_timeout")]) == (asleep, harness.ends())


def test_an_end_that_nobody_tells_knows_what_the_session_came_to(tailer_harness, tmp_path):
    """
    Its file has grown since it was read last.
    """
    folder = projects(tmp_path)
    whole = (folder / "pair.jsonl").read_bytes()
    half = whole.index(b"\n", whole.index(b"msg_pair_0")) + 1
    (folder / "pair.jsonl").write_bytes(whole[:half])
    for kind in ("session_start", "before_prompt", "agent_stop"):
        tailer_harness.tell(kind, folder / "pair.jsonl")
    tailer_harness.until(lambda: tailer_harness.store_writer.status()["waiting"] == 0 and not tailer_harness.loop.has_pending)
    (folder / "pair.jsonl").write_bytes(whole)
    assert tailer_harness.store_writer.end_session(("claude-code", "s"), now="2026-11-16T00:00:00Z", is_gone=True)
    tailer_harness.until(lambda: not tailer_harness.status["sessions"])

    with closing(database.connect_reader()) as connection:
        (end,) = (one.event for one in find_records(connection, RecordFilter(type="session_abort")))
    told = {event.data["model_call_id"]: event.usage for event in answers()}
    assert 2 == len(told)
    assert sum(usage.output_tokens for usage in told.values()) == end.usage.output_tokens


def test_whoever_wants_no_record_has_none_made(harness, tmp_path, monkeypatch):
    """
    Neither of a file that changes after a refusal, nor an empty one.
    """
    for module in (store_writer, denied_files):
        monkeypatch.setattr(module.settings, "load", lambda: Settings(record=False))
    file = tmp_path / "a.cfg"
    denied = Record(
        event=harness.event("before_tool_execute", tool="file_write", given={"path": str(file)}),
        decision=Decision(outcome="deny"),
    )
    harness.files.watch_record(denied)
    harness.store_writer.maintain()

    assert not harness.files.is_waiting
    assert not database.database_file().exists()


def test_what_a_locked_store_cannot_explain_is_asked_again(harness, tmp_path, monkeypatch):
    """
    The alarm comes when somebody else has let go of the store.
    """
    monkeypatch.setattr(denied_files, "_CHECK_DELAYS_S", (0.05, 0.3))
    monkeypatch.setattr(denied_files, "_SETTLE_S", 0.05)
    file = tmp_path / "a.cfg"
    file.write_text("old")
    harness.tell("before_tool_execute", outcome="deny", tool="file_write", given={"path": str(file), "content": "x"})
    usual, locked = harness.store_writer.run_with_recorder, [1, 2, 3]
    monkeypatch.setattr(harness.store_writer, "run_with_recorder", lambda work: usual(work) if not locked else bool(locked.clear()))
    file.write_text("new")

    def is_over():
        harness.loop.run_once(0.02)
        return not harness.files.is_waiting

    assert eventually(is_over, 30)
    harness.settle()
    assert [[], 1] == [locked, len(harness.kinds("policy_violation"))]
