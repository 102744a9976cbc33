"""One setting captures everything, and writes to nothing that somebody else has put there."""

import json
import os
import sqlite3

import pytest

from hookonce.agents import reports_session_start
from hookonce.base import paths, settings
from hookonce.model import Record, Tool
from hookonce.sessions import recorder as recording
from hookonce.sessions.recorder import Recorder
from hookonce.sessions.stored_records import note_session_log
from hookonce.store import agent_hooks_log as logs
from hookonce.store import agent_hooks_sessions as sessions
from hookonce.store.entry import build_entry
from hookonce.store.privacy.redact import redact
from hookonce.store.query import RecordFilter, find_records
from hookonce.store.writer import Writer
from tests.store.rows import stored


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own, and a system that says nothing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(settings, "SYSTEM", tmp_path / "etc")
    monkeypatch.setattr(settings, "OWNER", os.getuid())
    logs._report_once.cache_clear()
    return tmp_path


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def allowed():
    """The user lets the variable name a file."""
    put(paths.config_dir() / "config.toml", "agent_hooks_log = true\n")


def wildcard(hooks, folder=None):
    put((folder or paths.config_dir()) / "agent-hooks.json", json.dumps({"hooks": hooks}))


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.covers("AH-57")
def test_the_variable_names_a_file_where_the_user_allows_it(home, allowed):
    log, written = home / "log.jsonl", [stored(1), stored(2)]
    assert [1, 1] == [logs.append_record(one, {"AGENT_HOOKS_LOG": str(log)}) for one in written]
    assert [one.event.id for one in written] == [line["event_id"] for line in lines(log)]
    assert {"Action.Before"} == {line["event_type"] for line in lines(log)}
    assert 0o600 == log.stat().st_mode & 0o777


@pytest.mark.covers("AH-57")
@pytest.mark.parametrize("said", [None, "agent_hooks_log = false", "agent_hooks_log = 'yes'"])
def test_else_it_says_nothing(home, said):
    if said:
        put(paths.config_dir() / "config.toml", said)
    assert 0 == logs.append_record(stored(), {"AGENT_HOOKS_LOG": str(home / "log.jsonl")})
    assert not (home / "log.jsonl").exists()


@pytest.mark.covers("AH-58", "AH-X16")
@pytest.mark.parametrize("listed", [False, True])
def test_one_statement_captures_everything_as_an_object_or_in_a_list(home, listed):
    rule = {"event": "*", "output": str(home / "all.jsonl")}
    wildcard([rule] if listed else rule)
    for number, kind in enumerate(["session_start", "before_tool_execute", "vendor.codex.New"]):
        assert 1 == logs.append_records([stored(number, type=kind)])
    assert ["Session.Start", "Action.Before", "vendor.codex.New"] == [line["event_type"] for line in lines(home / "all.jsonl")]


def test_a_rule_may_ask_for_one_kind_of_event(home):
    wildcard([{"event": "Session.Start", "output": "~/starts.jsonl"}])
    assert [1, 0] == [logs.append_records([stored(type=kind)]) for kind in ("session_start", "session_end")]
    assert 1 == len(lines(home / "starts.jsonl"))


def test_the_system_may_say_so_if_only_its_owner_can(home, monkeypatch):
    wildcard({"event": "*", "output": str(home / "all.jsonl")}, settings.SYSTEM)
    assert 1 == logs.append_records([stored()])
    (settings.SYSTEM / "agent-hooks.json").chmod(0o666)
    assert 0 == logs.append_records([stored()])


@pytest.mark.covers("AH-X16")
def test_a_project_names_no_file(home, monkeypatch):
    project = home / "project"
    wildcard({"event": "*", "output": str(home / "all.jsonl")}, project / ".hookonce")
    monkeypatch.chdir(project)
    assert 0 == logs.append_records([stored(cwd=str(project))])
    assert not (home / "all.jsonl").exists()


def existing(home):
    return put(home / "profile", "export PATH\n")


def linked(home):
    (home / "link").symlink_to(existing(home))
    return home / "link"


def dangling(home):
    (home / "link").symlink_to(home / "new")
    return home / "link"


def fifo(home):
    os.mkfifo(home / "fifo")
    return home / "fifo"


@pytest.mark.parametrize("made", [existing, linked, dangling, fifo, lambda home: home, lambda home: home / "none/log"])
def test_what_we_have_not_begun_is_left_alone(home, allowed, made):
    """
    And that is told in our own log, once.
    """
    place = made(home)
    assert [0, 0] == [logs.append_record(stored(), {"AGENT_HOOKS_LOG": str(place)}) for _ in range(2)]
    assert not (home / "profile").exists() or "export PATH\n" == (home / "profile").read_text()
    assert not (home / "new").exists()
    assert 1 == paths.log_path().read_text().count(repr(str(place)))


def test_a_file_that_took_the_place_of_ours_is_not_ours(home, allowed):
    log = home / "log.jsonl"
    assert 1 == logs.append_record(stored(), {"AGENT_HOOKS_LOG": str(log)})
    put(home / "other", "mine\n").rename(log)
    assert 0 == logs.append_record(stored(), {"AGENT_HOOKS_LOG": str(log)})
    assert "mine\n" == log.read_text()


def test_a_second_name_of_a_file_is_not_written_to(home, allowed):
    log = home / "log.jsonl"
    logs.append_record(stored(), {"AGENT_HOOKS_LOG": str(log)})
    os.link(log, home / "second")
    assert 0 == logs.append_record(stored(), {"AGENT_HOOKS_LOG": str(log)})


def test_a_log_that_was_moved_away_is_begun_anew(home, allowed):
    log = home / "log.jsonl"
    logs.append_record(stored(), {"AGENT_HOOKS_LOG": str(log)})
    log.rename(home / "log.jsonl.1")
    assert 1 == logs.append_record(stored(), {"AGENT_HOOKS_LOG": str(log)})
    assert [1, 1] == [len(lines(path)) for path in (log, home / "log.jsonl.1")]


@pytest.mark.parametrize("named", ["log.jsonl", "", "~/log.jsonl"])
def test_a_name_has_to_be_whole(home, allowed, named, monkeypatch):
    monkeypatch.chdir(home)
    before = set(home.iterdir())
    assert 0 == logs.append_record(stored(), {"AGENT_HOOKS_LOG": named})
    assert {"log.jsonl"} & {path.name for path in set(home.iterdir()) - before} == set()


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": 5}', '{"hooks": [{"event": "*"}]}', '{"hooks": {"output": "/x"}}', "\xff"])
def test_a_configuration_that_makes_no_sense_is_told_and_captures_nothing(text):
    put(paths.config_dir() / "agent-hooks.json", text)
    assert 0 == logs.append_records([stored()])
    assert "no wildcard configuration" in paths.log_path().read_text()


def test_a_record_without_a_line_of_its_own_begins_no_file(home, allowed):
    assert 0 == logs.append_record(stored(data={"repeat": True}), {"AGENT_HOOKS_LOG": str(home / "log")})
    assert not (home / "log").exists()


def test_what_the_store_leaves_out_is_left_out_here_too(home, allowed):
    told = stored(prompt="my secret plan", tool=Tool(name="file_write", native="Write", input={"content": "my secret plan"}))
    kept = redact(Record(event=told.event), "minimal")
    logs.append_record(kept, {"AGENT_HOOKS_LOG": str(home / "log")})
    assert "secret plan" not in (home / "log").read_text()


# As it is kept


def kept():
    with Writer() as writer:
        return [one.event.id for one in find_records(writer.connection, RecordFilter())]


@pytest.mark.covers("AH-58", "AH-X16")
def test_the_file_has_every_record_that_the_store_has_those_that_follow_too(home):
    wildcard({"event": "*", "output": str(home / "all.jsonl")})
    with Writer() as writer:
        Recorder(writer, reports_session_start).record([build_entry(stored(number)) for number in range(3)])
    written = lines(home / "all.jsonl")
    assert kept() == [line["event_id"] for line in written]
    assert 3 == [line["event_type"] for line in written].count("Policy.Blocked")


@pytest.mark.covers("AH-57")
def test_a_session_that_named_a_file_has_there_what_follows_from_its_calls(home, allowed):
    ours, others = stored(0), stored(1)
    note_session_log(ours, {"AGENT_HOOKS_LOG": str(home / "log.jsonl")})
    with Writer() as writer:
        Recorder(writer, reports_session_start).record([build_entry(ours), build_entry(others)])
    found = lines(home / "log.jsonl")
    assert {"s0"} == {line["session_id"] for line in found}
    assert {"Action.Before", "Policy.Blocked"} <= {line["event_type"] for line in found}
    assert ours.event.session not in sessions.sessions_file().read_text()


def test_what_was_written_and_not_kept_is_not_written_again(home, monkeypatch):
    """
    Somebody was killed, or the disk was full, between the two.
    """
    wildcard({"event": "*", "output": str(home / "all.jsonl")})
    told = [build_entry(stored(number)) for number in range(3)]
    with Writer() as writer:
        recorder, usual = Recorder(writer, reports_session_start), recording.append_session_logs

        def full(new):
            usual(new)
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr(recording, "append_session_logs", full)
        with pytest.raises(sqlite3.OperationalError):
            recorder.record(told)
        monkeypatch.setattr(recording, "append_session_logs", usual)
        assert [] == kept()
    with (home / "all.jsonl").open("a") as file:
        file.write('{"half a li')
    with Writer() as writer:
        Recorder(writer, reports_session_start).record(told)
    assert kept() == [line["event_id"] for line in lines(home / "all.jsonl")]


def test_a_list_of_sessions_does_not_grow_for_ever(home, allowed, monkeypatch):
    monkeypatch.setattr(sessions, "_MAX_FILE_BYTES", 2000)
    for number in range(100):
        sessions.remember_log("codex", f"s{number}", "/tmp/log.jsonl")
        sessions.remember_log("codex", f"s{number}", "/tmp/log.jsonl")
    assert "/tmp/log.jsonl" == sessions.log_of_session("codex", "s99")
    assert sessions.log_of_session("codex", "s0") is None
    assert sessions.sessions_file().stat().st_size < 2200
