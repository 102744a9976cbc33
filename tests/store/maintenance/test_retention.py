"""Forgetting: by age, by size and by name. What is gone is gone from every file, and the record still verifies."""

# ruff: noqa: S608  our own words
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime

import pytest

from hookonce.base import paths, settings
from hookonce.errors import HookonceError
from hookonce.model import Tool, Usage
from hookonce.store import database, schema
from hookonce.store.entry import build_entry
from hookonce.store.maintenance import erasure, rebuild, retention
from hookonce.store.query import RecordFilter, find_records
from hookonce.store.rollup import RollupFilter, load_event_counts, load_spend
from hookonce.store.writer import Writer
from tests.shared import ROOT
from tests.store.rows import append, apply_retention, expire_days, stored, verified

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own for each test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(settings, "SYSTEM", tmp_path / "etc")
    return tmp_path


def configured(text):
    paths.config_dir().mkdir(parents=True, exist_ok=True)
    (paths.config_dir() / "config.toml").write_text(text)


def days(writer, *listed, count=3, **more):
    """Keep some records for each of these days of November, as they were received."""
    for day in listed:
        append(writer, count, received=f"2026-11-{day:02d}T10:00:00Z", time=f"2026-11-{day:02d}T10:00:00Z", **more)


def left(writer):
    """The days of which there are rows."""
    found = writer.connection.execute("SELECT DISTINCT substr(received, 1, 10) FROM events ORDER BY 1").fetchall()
    return [row[0] for row in found]


# By age and size


def test_without_settings_everything_stays():
    with Writer() as writer:
        days(writer, 1, 2)
        assert [] == apply_retention(writer, NOW)


def test_days_that_are_too_old_go_and_their_summaries_stay():
    configured("keep_days = 5")
    with Writer() as writer:
        days(writer, 1, 14, 15, 20)
        made = apply_retention(writer, NOW)
        assert ["2026-11-15", "2026-11-20"] == left(writer)
        assert [(1, 6, "retention")] == [(one.first, one.last, one.reason) for one in made]
        assert 12 == writer.connection.execute("SELECT sum(events) FROM daily_counts").fetchone()[0]
        assert [] == apply_retention(writer, NOW)
        rebuild.rebuild_summaries(writer)
        assert 12 == writer.connection.execute("SELECT sum(events) FROM daily_counts").fetchone()[0]
    assert verified().ok


def test_the_newest_day_stays_however_old_it_is():
    configured("keep_days = 1\nkeep_megabytes = 1")
    with Writer() as writer:
        days(writer, 1, 2)
        apply_retention(writer, NOW)
        assert ["2026-11-02"] == left(writer)


def test_the_oldest_days_go_while_the_record_is_too_large():
    configured("keep_megabytes = 2")
    with Writer() as writer:
        days(writer, 16, 17, 18, 19, count=8, data={"text": "x" * 100_000})
        assert 3 < retention.database_bytes(writer.connection) / 1e6
        apply_retention(writer, NOW)
        assert ["2026-11-18", "2026-11-19"] == left(writer)
        assert 2.1 > retention.database_bytes(writer.connection) / 1e6
    assert verified().ok


def test_a_clock_that_was_wrong_once_keeps_nothing_for_ever():
    with Writer() as writer:
        days(writer, 1)
        append(writer, 1, received="2099-01-01T00:00:00Z")
        days(writer, 2, 20)
        expire_days(writer, "2026-11-10")
        assert ["2026-11-20"] == left(writer)


def test_what_came_late_does_not_take_along_what_came_before():
    """
    Old events that are imported today do not make today's old.
    """
    with Writer() as writer:
        days(writer, 19, 1, 20)
        assert [] == expire_days(writer, "2026-11-10")


def test_many_rows_go_in_several_steps(monkeypatch):
    monkeypatch.setattr(retention, "_BATCH_ROWS", 4)
    with Writer() as writer:
        days(writer, 1, count=10)
        days(writer, 20)
        made = expire_days(writer, "2026-11-10")
    assert [(1, 4), (5, 8), (9, 10)] == [(one.first, one.last) for one in made]
    found = verified()
    assert (True, 3, 10) == (found.ok, found.rows, found.removed)


@pytest.mark.parametrize("text", ["keep_days = 0", "keep_days = -1", "keep_days = true", "keep_megabytes = '5'"])
def test_a_setting_that_makes_no_sense_removes_nothing(text):
    configured(text)
    with Writer() as writer:
        days(writer, 1, 2)
        with pytest.raises(HookonceError, match="has to be a whole number above 0"):
            apply_retention(writer, NOW)
        assert ["2026-11-01", "2026-11-02"] == left(writer)


# By name

CANARY = "canary-5f0e7b"


def whole_store():
    """Every byte of every file of the store."""
    return {path.name: path.read_bytes() for path in paths.data_dir().rglob("*") if path.is_file()}


def holding(text=CANARY):
    return [name for name, data in whole_store().items() if text.encode() in data]


def secret():
    """A record that says it in its body, and in the columns and summaries that name a place or a session."""
    tool = Tool(name="shell", native="Bash", input={"command": f"echo {CANARY} {'y' * 9000}", "path": f"/w/{CANARY}"})
    usage = Usage(input_tokens=7, output_tokens=1)
    return stored(session=f"s-{CANARY}", cwd=f"/home/{CANARY}", tool=tool, type="agent_stop", usage=usage)


def test_nothing_of_an_erased_record_is_left_in_any_file():
    """
    Neither in the database nor in its log nor in pages that are free again; others are as they were.
    """
    with Writer() as writer:
        append(writer, 20)
        told = [secret() for _ in range(5)]
        for one in told:
            writer.append([build_entry(one)])
            append(writer, 7)
        assert {"events.db-wal"} <= set(holding())
        before = [one.event.id for one in find_records(writer.connection, RecordFilter())]
        names = [one.event.id for one in told]
        assert names == erasure.list_session_events(writer.connection, f"s-{CANARY}")
        assert erasure.ErasureResult(5, None) == erasure.erase_records(writer, names)
        assert [] == holding()
        assert erasure.ErasureResult(0, None) == erasure.erase_records(writer, names)
        after = [one.event.id for one in find_records(writer.connection, RecordFilter())]
    assert [name for name in before if name not in names] == after
    found = verified()
    assert (True, 60, 5) == (found.ok, found.rows, found.erased)


def test_what_was_counted_stays_counted_without_a_name():
    with Writer() as writer:
        one = secret()
        writer.append([build_entry(one)])
        append(writer, 2)
        erasure.erase_records(writer, [one.event.id])
        assert [("", 7)] == writer.connection.execute("SELECT project, input_tokens FROM usage_by_project").fetchall()
        assert (3, 7) == writer.connection.execute(
            "SELECT (SELECT sum(events) FROM daily_counts), input_tokens FROM spend"
        ).fetchone()
        assert 0 == writer.connection.execute("SELECT count(*) FROM token_usage").fetchone()[0]
        sessions = writer.connection.execute("SELECT session FROM sessions ORDER BY 1").fetchall()
        assert [("s0",), ("s1",)] == sessions


def test_a_project_is_named_as_long_as_a_record_names_it():
    with Writer() as writer:
        names = append(writer, 2, type="agent_stop", usage=Usage(input_tokens=7))
        erasure.erase_records(writer, names[:1])
        assert [("/w", 14)] == writer.connection.execute("SELECT project, input_tokens FROM usage_by_project").fetchall()


def test_somebody_who_reads_keeps_old_pages_and_that_is_told():
    with Writer() as writer:
        names = append(writer, 3)
        writer.connection.execute("PRAGMA busy_timeout = 50")
        with closing(database.connect_reader()) as other:
            other.execute("BEGIN")
            other.execute("SELECT count(*) FROM events").fetchone()
            done = erasure.erase_records(writer, names[:1])
    assert 1 == done.record_count
    assert done.cleanup_problem is not None
    assert verified().ok


@pytest.mark.parametrize("column", ["time", "type", "agent", "tool", "outcome", "session", "path"])
def test_what_is_left_beside_an_erased_body_cannot_be_changed(column):
    with Writer() as writer:
        names = append(writer, 3)
        erasure.erase_records(writer, names[1:2])
        writer.connection.execute(f"UPDATE events SET {column} = 'other' WHERE seq = 2")
    assert [2] == [one.seq for one in verified().flaws]


# Killed on the way

KILLED = """
import os, signal, sys
from hookonce.store import database, schema
from hookonce.store.maintenance import erasure, retention
from hookonce.store.writer import Writer
from tests.store.rows import expire_days
what, number = sys.argv[1], int(sys.argv[2])
if what == "migrate":
    schema.MIGRATIONS = (*schema.MIGRATIONS, ("ALTER TABLE events ADD COLUMN more TEXT", "CREATE INDEX events_by_more ON events (more)",
        "UPDATE events SET more = agent", "CREATE TABLE further (a TEXT) STRICT"))
    schema.VERSION = len(schema.MIGRATIONS)
seen = 0
def count(statement):
    global seen
    seen += 1
    if seen == number:
        os.kill(os.getpid(), signal.SIGKILL)
if what in {"migrate", "renew"}:
    import sqlite3
    connection = sqlite3.connect(database.database_file(), isolation_level=None)
    connection.set_trace_callback(count)
    schema.migrate(connection)
else:
    with Writer() as writer:
        writer.connection.set_trace_callback(count)
        if what == "retention":
            retention._BATCH_ROWS = 4
            expire_days(writer, "2026-11-10")
        else:
            names = [row[0] for row in writer.connection.execute("SELECT id FROM events WHERE seq IN (2, 5)")]
            erasure.erase_records(writer, names)
"""


def killed(home, what, number):
    """Whether a process that did this was killed at its statement of that number."""
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", "HOME": str(home)}
    done = subprocess.run([sys.executable, "-c", KILLED, what, str(number)], env=env, capture_output=True, check=False)
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr.decode()
    return done.returncode != 0


@pytest.mark.slow
@pytest.mark.parametrize("what", ["retention", "erase"])
def test_killed_between_any_two_statements_the_record_still_verifies(home, what):
    """
    In growing steps, because each round is a process of its own.
    """
    with Writer() as writer:
        days(writer, 1, count=10)
        days(writer, 20)
    number = 1
    while killed(home, what, number):
        found = verified()
        assert (True, 13) == (found.ok, found.rows + found.removed)
        number += 1 + number // 5
    found = verified()
    assert (True, 3, 10) == (found.ok, found.rows, found.removed) if what == "retention" else found.erased


@pytest.mark.slow
def test_an_older_database_becomes_newer_and_no_body_changes_a_byte(home):
    """
    Also when it is killed between any two statements: it is the old one or the new one.
    """
    with Writer() as writer:
        append(writer, 5)
    before = _rows()
    number = 1
    while killed(home, "migrate", number):
        assert (schema.VERSION, before) == (_version(), _rows())
        number += 1
    assert (schema.VERSION + 1, before) == (_version(), _rows())


def aged(path):
    """The record as the first version had it: its rows, and summaries that counted by project and by who told."""
    with closing(sqlite3.connect(path, isolation_level=None)) as old:
        for statement in schema.MIGRATIONS[0]:
            old.execute(statement)
        old.execute("ATTACH ? AS new", (str(database.database_file()),))
        for name, source in (("events", "events"), ("hooks", "hook_runs"), ("sessions", "sessions")):
            old.execute(f"INSERT INTO {name} SELECT * FROM new.{source}")
        old.execute("UPDATE head SET (seq, hash, count) = (SELECT seq, hash, count FROM new.head)")
        for kind, project, tokens in TOLD:
            numbers = f"1, {tokens}, 1, 0, 0, 0, 0"
            old.execute(f"INSERT INTO days VALUES ('2026-11-01', 'codex', 'm', '{project}', '', '{kind}', '', {numbers})")
        old.execute("PRAGMA user_version = 1")
    for one in database.database_file().parent.glob("events.db*"):
        one.unlink()
    path.rename(database.database_file())


TOLD = [("agent_stop", "/w", 5), ("after_model", "/w", 4), ("after_tool_execute", "/w", 2), ("agent_stop", "/v", 1)]
TOLD += [("session_end", "/u", 9)]


def test_what_older_summaries_held_is_carried_over(tmp_path):
    """
    Who knew best in a place on a day is believed, until everything is counted again.
    """
    with Writer() as writer:
        append(writer, 3, type="agent_stop", usage=Usage(input_tokens=100))
    before = _rows()
    aged(tmp_path / "old.db")
    with closing(database.open_reader()) as connection:
        assert 5 == sum(load_event_counts(connection, RollupFilter())["agent"].values())
        for projects, sums in ((True, {"/w": 6, "/v": 1}), (False, {"": 7})):
            found = list(load_spend(connection, RollupFilter(), projects=projects))
            assert sums == {one.project: one.tokens[0] for one in found}
    assert (schema.VERSION, before) == (_version(), _rows())
    assert verified().ok
    with Writer() as writer:
        rebuild.rebuild_summaries(writer)
        assert [300] == [one.tokens[0] for one in load_spend(writer.connection, RollupFilter(), projects=False)]


def test_an_older_record_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    with Writer() as writer:
        append(writer, 1)
    aged(tmp_path / "old.db")

    def refused(*_):
        raise OSError("read-only file system")

    monkeypatch.setattr(database, "connect_writer", refused)
    with pytest.raises(HookonceError, match="of an older hookonce, and cannot be brought up to date: read-only"):
        database.open_reader()


@pytest.mark.slow
def test_killed_between_any_two_statements_an_older_record_is_the_old_one_or_the_new_one(home, tmp_path):
    with Writer() as writer:
        append(writer, 3)
    before = _rows()
    aged(tmp_path / "old.db")
    number = 1
    while killed(home, "renew", number):
        assert (1, before) == (_version(), _rows())
        number += 1 + number // 5
    assert (schema.VERSION, before) == (_version(), _rows())


@pytest.mark.parametrize("version", range(1, schema.VERSION))
def test_every_older_version_is_brought_up_to_date(version):
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as old:
        for statement in (one for part in schema.MIGRATIONS[:version] for one in part):
            old.execute(statement)
        old.execute(f"PRAGMA user_version = {version}")
        with closing(database.connect_writer()) as new:
            schema.migrate(old)
            built = "SELECT name, sql FROM sqlite_schema ORDER BY name"
            assert new.execute(built).fetchall() == old.execute(built).fetchall()


def _version():
    with closing(sqlite3.connect(database.database_file())) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def _rows():
    with closing(sqlite3.connect(database.database_file())) as connection:
        return connection.execute("SELECT seq, id, body, hash, mac FROM events ORDER BY seq").fetchall()
