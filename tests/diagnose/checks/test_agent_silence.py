"""An agent that works without a word to us."""

import os
from pathlib import Path

import pytest

from hookonce import agents
from hookonce.base import times
from hookonce.configure import journal
from hookonce.configure.changes import apply_change
from hookonce.configure.install import plan_install
from hookonce.configure.locations import ConfigRoots
from hookonce.configure.status import install_status
from hookonce.diagnose.checks import agent_silence
from hookonce.model import SCHEMA, Event, Origin, Stored
from hookonce.store.entry import build_entry
from hookonce.store.spool import files
from hookonce.store.writer import Writer

CLIENT = "/opt/hookonce/hookonce-on"
NOON = 1_790_000_000.0
LONG_AGO = NOON - 86_400


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home in which Claude Code has called us since yesterday."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".claude").mkdir()
    found = ConfigRoots(tmp_path, tmp_path / "project")
    monkeypatch.setattr(journal.times, "now", lambda: times.from_seconds(LONG_AGO))
    for change in plan_install(agents.load("claude-code"), "user", found, CLIENT):
        apply_change(change)
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(tmp_path))
    return found


def asked(place, environment=None, name="claude-code"):
    agent = agents.load(name)
    return agent_silence.detect_silence(agent, install_status(agent, place, CLIENT), place, environment or {})


def grow(place, at=NOON, name=".claude/projects/-w/s.jsonl"):
    path = place.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n")
    os.utime(path, (at, at))
    return str(path)


def record(at, **more):
    time = times.from_seconds(at)
    known = {"id": f"e-{at}", "schema": SCHEMA, "type": "agent_stop", "agent": "claude-code", "session": "s"}
    event = Event(**known | more, time=time, received=time, time_source="received")
    return Stored(event=event, level="minimal")


def keep(*records):
    with Writer() as writer:
        writer.append([build_entry(one) for one in records])


def test_an_agent_that_grows_a_transcript_and_tells_nothing_is_silent(place):
    """
    Since its last call; without one since it has had our entries.
    """
    path = grow(place)
    never = asked(place)
    keep(record(NOON - 3600))
    found = asked(place)

    assert (times.from_seconds(LONG_AGO), path) == (never.since, never.path)
    assert times.from_seconds(NOON - 3600) == found.since
    assert "hookonce prove claude-code --only here" in agent_silence.describe_silence(found)


@pytest.mark.parametrize("call", [NOON - 200, NOON + 10])
def test_whoever_has_called_a_moment_ago_is_not_silent(place, call):
    """
    Also if what it said still waits in the spool.
    """
    grow(place)
    files.append(record(call))

    assert asked(place) is None


def test_what_we_have_read_or_concluded_ourselves_is_no_word_of_the_agent(place):
    """
    A transcript that is read is not a call.
    """
    grow(place)
    keep(record(NOON - 7200), record(NOON, origin=Origin(via=["transcript"])), record(NOON + 1, derived_from="x"))

    assert times.from_seconds(NOON - 7200) == asked(place).since


def test_transcripts_from_before_the_installation_tell_nothing(place):
    """
    Nor does an agent without any, nor one that never called us in all projects.
    """
    nothing = asked(place)
    grow(place, LONG_AGO - 10)

    assert [None] * 3 == [nothing, asked(place), asked(place, name="gemini-cli")]


def test_a_home_that_was_moved_is_looked_at_where_it_is(place):
    """
    What lies at the usual place is old then.
    """
    path = grow(place, name="moved/projects/-w/s.jsonl")

    assert asked(place) is None
    assert path == asked(place, {"CLAUDE_CONFIG_DIR": str(place.home / "moved")}).path


def test_of_very_many_files_the_newest_folders_are_looked_at(place, monkeypatch):
    """
    One look takes its time, and no more.
    """
    monkeypatch.setattr(agent_silence, "_MAX_ENTRIES", 6)
    for number in range(20):
        grow(place, NOON - 1000 - number, name=f".claude/projects/old{number % 2}/{number}.jsonl")
    path = grow(place, name=".claude/projects/new/s.jsonl")
    for folder, at in (("old0", 5.0), ("old1", 6.0)):
        os.utime(place.home / ".claude/projects" / folder, (at, at))

    assert path == asked(place).path


def test_the_ledger_remembers_when_it_began(place):
    """
    Writing once more changes nothing about that.
    """
    path = place.home / ".claude/settings.json"
    before = journal.first_written_at(path)
    journal.record_change(path, b"old", b"new", None)

    assert times.from_seconds(LONG_AGO) == before == journal.first_written_at(path) == journal.first_written_at(path.parent)
    assert journal.first_written_at(Path("/elsewhere")) is None
