"""What is kept of session files: every answer of the model once, with its tokens, and nothing that was said."""

from contextlib import closing

import pytest

from hookonce.agents import reports_session_start
from hookonce.formats import load
from hookonce.inspect.sessions import build_timeline, list_sessions
from hookonce.inspect.stats import build_cost_report, load_price_lookup
from hookonce.model import Record, Usage
from hookonce.sessions.recorder import Recorder
from hookonce.sessions.stored_records import redact_record
from hookonce.sessions.transcript_events import (
    TranscriptOwner,
    read_chunk,
    store_chunk,
    transcript_events,
)
from hookonce.store import database
from hookonce.store.entry import build_entry
from hookonce.store.query import RecordFilter, find_records
from hookonce.store.rollup import RollupFilter
from hookonce.store.writer import Writer
from tests.agents.transcripts.material import FILES, GOLDEN, agent_of, golden, reader_of, session
from tests.agents.transcripts.test_goldens import RUNS, USAGE, counted, requests
from tests.store.rows import stored

SAID = ("Please go on", "Step 1", "All done", "the-secret", "alpha", "refuses", "Kepler", "shell.txt", "oops")


@pytest.fixture
def recorder(tmp_path, monkeypatch):
    """One who keeps, in a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    with Writer() as writer:
        yield Recorder(writer, reports_session_start)


def read(recorder, file, session="s", **more):
    """Read a file and those of its sub-agents to their ends, as the daemon does."""
    reader, left, spawns, done = reader_of(file), [file], {}, set()
    while left:
        path = left.pop(0)
        piece = read_chunk(recorder, reader, path, is_last=True)
        spawns |= {one.id: one for one in piece.cursor.memory.spawned}
        store_chunk(recorder, piece, TranscriptOwner(agent=agent_of(file), session=session, spawns=spawns, cwd="/w", **more))
        done |= set() if piece.has_more else {path}
        left += [path] if piece.has_more else [one for one in reader.find_subagent_files(path, piece.cursor.memory.spawned) if one not in done]


def kept(**wanted):
    with closing(database.connect_reader()) as connection:
        return list(find_records(connection, RecordFilter(**wanted)))


def answers(**wanted):
    return [one.event for one in kept(type="after_model", **wanted)]


@pytest.mark.covers("AH-32")
@pytest.mark.parametrize(("agent", "scenario"), RUNS)
def test_what_is_kept_of_a_session_is_what_the_model_has_told(recorder, agent, scenario):
    """
    In the rows, in the summary of the session, in its cost and in its time line: each request with tools once.
    """
    read(recorder, golden(agent, scenario))
    number, (given, made) = requests(agent, scenario), counted(agent)
    sums = (number * given, number * made)
    found = answers()
    with closing(database.connect_reader()) as connection:
        (short,) = list_sessions(connection, RecordFilter())
        spent = build_cost_report(connection, RollupFilter(), "model", load_price_lookup()).total

    assert sums == (sum(e.usage.input_tokens for e in found), sum(e.usage.output_tokens for e in found))
    assert sums == (short.input_tokens, short.output_tokens) == (spent.input_tokens, spent.output_tokens)
    assert Usage(input_tokens=sums[0], output_tokens=sums[1], total_tokens=sum(sums)) == _short(build_timeline(kept()).usage)
    assert ({"s"}, {"/w"}, {("transcript",)}) == (
        {e.session for e in found},
        {e.cwd for e in found},
        {tuple(e.origin.via) for e in found},
    )
    assert all(e.data["latency_ms"] >= 0 and e.time_source == "agent" for e in found)


def _short(usage):
    return Usage(**{name: getattr(usage, name) for name in ("input_tokens", "output_tokens", "total_tokens")})


@pytest.mark.parametrize("agent", USAGE)
def test_an_answer_to_a_sub_agent_is_linked_to_the_call_that_started_it(recorder, agent):
    """
    It belongs to the session that its parent belongs to, whatever the file says.
    """
    read(recorder, golden(agent, "tour"))
    theirs = [event for event in answers() if event.subagent is not None]

    assert len(theirs) >= 2
    assert 1 == len({(event.subagent.id, event.data["parent_call_id"]) for event in theirs})
    assert {None} == {event.subagent.parent for event in theirs}


def test_a_forked_session_is_not_counted_again(recorder):
    """
    Its file begins with copies of old lines, under its own name.
    """
    read(recorder, GOLDEN / "claude-code" / "compact.jsonl", "old")
    before = len(answers())
    read(recorder, GOLDEN / "claude-code" / "fork.jsonl", "new")

    assert (5, 1) == (before, len(answers(session="new")))
    assert 1 == len(kept(type="after_compact"))


@pytest.mark.covers("OH-5")
def test_what_is_read_twice_is_there_once(recorder):
    """
    Also by somebody who does not know how far it was read.
    """
    read(recorder, golden("codex", "tour"))
    rows = [one.event.id for one in kept()]
    recorder.writer.connection.execute("DELETE FROM transcript_cursors")
    read(recorder, golden("codex", "tour"))

    assert rows == [one.event.id for one in kept()]


@pytest.mark.covers("AH-33")
@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_an_answer_that_failed_is_told_as_such(recorder, agent):
    """
    It has no tokens.
    """
    read(recorder, golden(agent, "error"))
    (failed,) = kept(type="model_failed")
    (document,) = load("agent-hooks").write(failed)

    assert ("Model.Failed", None) == (document["event_type"], failed.event.usage)


@pytest.mark.covers("AH-32")
def test_an_answer_is_written_with_model_tokens_time_and_retries(recorder):
    """
    As Agent Hooks has them.
    """
    reading = session(golden("claude-code", "pair"))
    reading = type(reading)(calls=tuple(type(one)(**{**_fields(one), "retries": 2}) for one in reading.calls))
    event = transcript_events(reading, TranscriptOwner(agent="claude-code", session="s"))[0]
    document = load("agent-hooks").write(redact_record(Record(event=event)))[0]

    assert "Model.Responded" == document["event_type"]
    assert document["data"].keys() == {"model_id", "input_tokens", "output_tokens", "latency_ms", "retry_count"}
    assert (100, 10, 2) == tuple(document["data"][name] for name in ("input_tokens", "output_tokens", "retry_count"))


def _fields(one):
    return {name: getattr(one, name) for name in one.__struct_fields__}


@pytest.mark.covers("AH-40")
def test_a_compaction_that_hooks_have_told_is_completed_and_not_told_again(recorder):
    """
    Although the lines before it are read after the hook has spoken.
    """
    file = GOLDEN / "claude-code" / "compact.jsonl"
    native = stored(0, type="after_compact", agent="claude-code", session="s", tool=None, time="2026-11-15T12:32:19.400Z")
    recorder.record([build_entry(native)])
    read(recorder, file)
    found = next(one for one in kept(type="after_compact") if one.event.id != native.event.id)

    assert (native.event.id, True) == (found.event.derived_from, found.event.data["repeat"])
    assert (110, 2663) == (found.event.data["tokens_before"], found.event.data["tokens_after"])
    assert [] == load("agent-hooks").write(found)


@pytest.mark.covers("AH-39")
def test_how_full_the_context_is_follows_from_the_model(recorder):
    """
    Its size is in the list of prices.
    """
    read(recorder, golden("claude-code", "tour"))
    told = [one.event.data for one in kept(type="context_until_compaction")]

    assert [(110, 167_000)] == [(one["tokens_used"], one["tokens_limit"]) for one in told]


def test_late_lines_leave_a_session_that_has_ended_at_its_end(recorder):
    """
    An agent writes its last lines after it has said that all is over: nothing has begun again.
    """
    rest = {"agent": "claude-code", "session": "s", "tool": None}
    recorder.record([build_entry(stored(0, type=kind, **rest)) for kind in ("session_start", "before_prompt", "agent_stop", "session_end")])
    read(recorder, golden("claude-code", "pair"))
    turns = recorder.states["claude-code", "s"].turns

    assert (True, False) == (turns.has_ended, turns.is_working)
    assert 1 == len(kept(type="session_start"))


@pytest.mark.part(3)
@pytest.mark.covers("AH-48")
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{agent_of(file)}/{file.stem}")
def test_nothing_that_was_said_or_thought_is_kept(recorder, file, tmp_path, monkeypatch):
    """
    At no level: neither in rows nor in cursors.
    """
    (tmp_path / ".config/hookonce").mkdir(parents=True)
    (tmp_path / ".config/hookonce/config.toml").write_text('privacy = "full"\n')
    read(recorder, file)
    dumped = "\n".join(recorder.writer.connection.iterdump())
    cursors = b"".join(row[0] for row in recorder.writer.connection.execute("SELECT cursor FROM transcript_cursors"))

    for text in SAID:
        assert text not in dumped
        assert text.encode() not in cursors


def test_events_are_in_the_order_of_their_times():
    """
    However compactions and answers lie in the file.
    """
    reading = session(GOLDEN / "claude-code" / "compact.jsonl")
    times = [event.time for event in transcript_events(reading, TranscriptOwner(agent="claude-code"))]

    assert sorted(times) == times
    assert {"after_model", "after_compact"} == {event.type for event in transcript_events(reading, TranscriptOwner(agent="claude-code"))}
