"""What follows from what is kept: only within a session, and of a long one all of it counts."""

import pytest

from hookonce import Emitter
from hookonce.agents import reports_session_start
from hookonce.base import settings
from hookonce.model import Tool, Usage
from hookonce.sessions import recorder as recording
from hookonce.sessions.recorder import Recorder
from hookonce.store.entry import build_entry
from hookonce.store.query import RecordFilter, find_records
from hookonce.store.spool import files
from hookonce.store.writer import Writer
from tests.store.rows import stored

NOBODY = "2026-11-15T11:00:00Z"  # an hour later


@pytest.fixture
def writer(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with Writer() as found:
        yield found


def kinds(writer, **wanted):
    return [one.event.type for one in find_records(writer.connection, RecordFilter(**wanted))]


# No session


def call(number, kind="before_tool_execute", **more):
    tool = Tool(name="shell", native="Bash", input={"command": "make"}, call_id=f"c{number}")
    return build_entry(stored(number, type=kind, agent="amplifier", session=None, tool=tool, **more))


def test_what_is_of_no_session_begins_none(writer):
    """
    Nor does it go round, follow up or end with what others have come to: it may be of many.
    """
    told = [call(number, kind) for number in range(40) for kind in ("before_tool_execute", "after_tool_execute")]
    recorder = Recorder(writer, reports_session_start)
    recorder.record(told)
    recorder.record([build_entry(stored(50, type=kind, agent="amplifier", session=None, tool=None)) for kind in ("before_prompt",) * 2])
    recorder.record([build_entry(stored(51, type="session_end", agent="amplifier", session=None, tool=None, model=None))])
    found = list(find_records(writer.connection, RecordFilter(agent="amplifier")))

    assert {"policy_blocked"} == {one.event.type for one in found if one.event.derived_from is not None}
    assert all("is_followup" not in one.event.data and "total_actions" not in one.event.data for one in found)
    assert {} == dict(recorder.states)


# Before an end


@pytest.mark.parametrize("together", [True, False])
def test_what_is_missing_is_recorded_before_the_end(writer, together):
    """
    The start and the last stop, also where no hook is asked; a second end is preceded by nothing.
    """
    named = {"agent": "claude-code", "session": "s", "tool": None}
    types = ("before_prompt", "agent_response", "session_end", "session_end")
    told = [build_entry(stored(number, type=kind, data={"response": "done"}, **named)) for number, kind in enumerate(types)]
    recorder = Recorder(writer, reports_session_start)
    for batch in [told] if together else [[one] for one in told]:
        recorder.record(batch)
    rows = writer.connection.execute("SELECT type FROM events WHERE type != 'policy_blocked' ORDER BY seq").fetchall()

    assert ["before_prompt", "agent_response", "session_start", "agent_stop", "session_end", "session_end"] == [kind for (kind,) in rows]


def test_hooks_of_derived_events_are_looked_for_once_for_each_kind_and_folder(writer):
    """
    Files are read for it, while the store is locked and others wait.
    """
    told = [build_entry(stored(number, session="s", cwd=folder)) for number in range(10) for folder in ("/a", "/b")]
    looks = []
    recorder = Recorder(writer, reports_session_start, None, lambda event: looks.append((event.type, event.cwd)) or event.cwd == "/a")
    recorder.record(told)
    queued = writer.connection.execute("SELECT type, project FROM hook_queue JOIN events USING (id)").fetchall()

    assert len(looks) == len({*looks})
    assert 10 == queued.count(("policy_blocked", "/a"))
    assert {"/a"} == {folder for _, folder in queued}


class Listener:
    def before_append(self, _, entries):
        return entries

    def after_append(self, entries):
        pass


def test_thousands_of_ends_are_recorded_together(writer, monkeypatch):
    """
    Short sessions that waited in the spool for long: each end begins a transaction, however many there are.
    """
    told = [build_entry(stored(number, type="session_end", session=f"s{number}", tool=None)) for number in range(1200)]
    recorder = Recorder(writer, reports_session_start, Listener())
    batches = []
    monkeypatch.setattr(recorder, "append", lambda entries: batches.append(entries) or len(entries))
    assert (1200, [1] * 1200) == (recorder.record(told), [*map(len, batches)])


# Long ones


def long_session(writer, many):
    told = [build_entry(stored(0, type="before_prompt", session="s", tool=None))]
    told += [
        build_entry(stored(number, type=kind, session="s", usage=usage))
        for number in range(many)
        for kind, usage in (("before_tool_execute", None), ("agent_stop", Usage(input_tokens=5, output_tokens=2)))
    ]
    Recorder(writer, reports_session_start).record(told)


@pytest.mark.parametrize("many", [3, 40])
def test_whoever_begins_anew_knows_what_a_session_has_come_to(writer, monkeypatch, many):
    """
    Also if only its last records are read again.
    """
    monkeypatch.setattr(recording, "_MAX_REPLAY_RECORDS", 20)
    long_session(writer, many)
    anew = Recorder(writer, reports_session_start)
    anew.record([build_entry(stored(59, type="before_prompt", session="s", tool=None))])
    assert (True, 1) == anew.end_session(("codex", "s"), now=NOBODY, is_gone=True)
    prompts = [one.event for one in find_records(writer.connection, RecordFilter(type="before_prompt"))]
    (end,) = (one.event for one in find_records(writer.connection, RecordFilter(type="session_abort")))

    assert [False, True] == sorted(event.data["is_followup"] for event in prompts)
    assert (many, 5 * many, 2 * many) == (end.data["total_actions"], end.usage.input_tokens, end.usage.output_tokens)
    assert 1 == kinds(writer, session="s").count("session_start")


# None wanted


def test_what_a_makers_agent_tells_is_not_kept_where_nothing_is(writer, monkeypatch):
    monkeypatch.setattr(settings, "load", lambda: settings.Settings(record=False))
    with Emitter("mine", session="s") as voice:
        voice.prompt("hello")

    assert [] == list(files.load_records())
