"""Looking: which records are meant, and that nothing is changed by asking."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce.base import ids, times
from hookonce.errors import HookonceError
from hookonce.model import Decision, Event, Stored, Tool
from hookonce.store import database
from hookonce.store.entry import build_entry
from hookonce.store.maintenance.erasure import erase_records
from hookonce.store.query import RecordFilter, find_records, resolve_session, run_sql, select_rows, time_bound
from hookonce.store.writer import Writer


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own for each test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def record(number=0, outcome=None, **more):
    """A record that is later than those with smaller numbers."""
    known = {"id": ids.new_id(), "schema": "hookonce/1", "type": "before_tool_execute", "agent": "codex"}
    known |= {"time": times.from_seconds(1_800_000_000 + number), "time_source": "agent", "session": "s1"}
    decision = None if outcome is None else Decision(outcome=outcome)
    return Stored(event=Event(**(known | more)), decision=decision, level="minimal")


def tool(name="shell", **given):
    return Tool(name=name, native=name, input=given)


def keep(*found):
    with Writer() as writer:
        writer.append([build_entry(one) for one in found])


def numbers(found, **wanted):
    """Which of the records are meant, by their place."""
    places = {one.event.id: number for number, one in enumerate(found)}
    with closing(database.open_reader()) as connection:
        return [places[one.event.id] for one in find_records(connection, RecordFilter(**wanted))]


def asked(statement, **more):
    with closing(database.open_reader()) as connection:
        names, found = run_sql(connection, statement, **more)
        return names, list(found)


KEPT = [
    record(0, agent="claude-code", session="s2", tool=tool("file_read", path="/w/src/a.py")),
    record(1, "deny", tool=tool(command='rm -rf "x"')),
    record(2, "allow", type="agent_stop", model="gpt-5", cwd="/w"),
    record(3, "ask", tool=tool("mcp:github/list")),
    record(4, type="vendor.codex.Strange", tool=tool("file_write", path="/w/src/b [1].py")),
]


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"agent": "claude-code"}, [0]),
        ({"session": "s2"}, [0]),
        ({"session": "s*"}, [0, 1, 2, 3, 4]),
        ({"type": "before_*"}, [0, 1, 3]),
        ({"type": "agent_stop"}, [2]),
        ({"tool": "mcp:*"}, [3]),
        ({"outcome": "deny"}, [1]),
        ({"outcome": "none"}, [0, 4]),
        ({"path": "*.py"}, [0, 4]),
        ({"path": "src/*.py"}, [0, 4]),
        ({"path": "a.py"}, [0]),
        ({"path": "/w/src/a.py"}, [0]),
        ({"path": "rc/*.py"}, []),
        ({"project": "/w*"}, [2]),
        ({"text": 'rm -rf "x"'}, [1]),
        ({"text": "RM"}, []),
        ({"last": 2}, [3, 4]),
        ({"last": 0}, []),
        ({"after": 3}, [3, 4]),
        ({"outcome": "deny", "agent": "claude-code"}, []),
    ],
    ids=str,
)
def test_what_is_asked_for_is_found(wanted, meant):
    keep(*KEPT)

    assert meant == numbers(KEPT, **wanted)


@given(st.lists(st.integers(0, 3_000_000), min_size=1, max_size=8), st.integers(0, 3_000_000), st.integers(0, 3_000_000))
def test_times_are_compared_as_times_and_not_as_texts(offsets, since, until):
    """
    Whether a second has a fraction or not; the start is in, the end is out.
    """
    texts = [times.from_seconds(1_800_000_000 + micros / 1_000_000) for micros in offsets]
    low, high = (time_bound(times.from_seconds(1_800_000_000 + micros // 1000 / 1000)) for micros in (since, until))

    for text, micros in zip(texts, offsets, strict=True):
        assert (text >= low) == (micros >= since // 1000 * 1000)
        assert (text < high) == (micros < until // 1000 * 1000)


def test_later_ones_come_later_whatever_their_arrival():
    found = [record(number) for number in (3, 1, 2)]
    keep(*found)

    assert [1, 2, 0] == numbers(found)
    assert [2, 0] == numbers(found, last=2)


def test_a_session_and_the_newest_are_found_through_an_index():
    """
    Nobody reads a million rows to show fifty.
    """
    keep(*KEPT)
    with closing(database.open_reader()) as connection:
        plans = []
        connection.set_trace_callback(plans.append)
        list(select_rows(connection, RecordFilter(session="s1")))
        list(select_rows(connection, RecordFilter(last=50)))
        connection.set_trace_callback(None)
        told = [" ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {plan}")) for plan in plans]

    assert "events_by_session" in told[0]
    assert "events_by_time" in told[1]
    assert "B-TREE" not in told[0]


def test_the_beginning_of_a_session_is_enough_if_only_one_has_it():
    keep(record(session="abc-1"), record(session="abd-2"), record(session="abd-2-more"), record(session="x*y", agent="cline"))

    with closing(database.open_reader()) as connection:
        assert ["abc-1", "abd-2", "x*y"] == [resolve_session(connection, text) for text in ("abc", "abd-2", "x*")]
        with pytest.raises(HookonceError, match="several sessions begin with 'ab'"):
            resolve_session(connection, "ab")
        with pytest.raises(HookonceError, match="no session begins with '\\*'"):
            resolve_session(connection, "*")


# Opening


def test_where_nothing_was_kept_there_is_nothing_and_nothing_is_made(home):
    assert [] == numbers([])
    assert [] == list(home.rglob("*.db"))


def test_a_database_that_somebody_is_about_to_make_is_empty():
    database.database_file().parent.mkdir(parents=True)
    database.database_file().touch()

    assert [] == numbers([])


def test_what_is_no_database_is_named():
    database.database_file().parent.mkdir(parents=True)
    database.database_file().write_bytes(b"no database at all, but long enough to look at" * 100)

    with pytest.raises(HookonceError, match="cannot be read as a record of events"):
        database.open_reader()


def test_a_newer_database_is_left_alone():
    keep(record())
    with closing(sqlite3.connect(database.database_file())) as connection:
        connection.execute("PRAGMA user_version = 99")

    with pytest.raises(HookonceError, match="newer hookonce"):
        database.open_reader()


def test_a_record_in_a_folder_that_cannot_be_written_is_read(monkeypatch):
    """
    SQLite cannot open it as usual there, because it cannot lay files beside it.
    """
    keep(*KEPT)

    class Refusing:
        def execute(self, _):
            raise sqlite3.OperationalError("unable to open database file")

        def close(self):
            pass

    monkeypatch.setattr(database, "connect_reader", lambda _: Refusing())

    assert [0, 1, 2, 3, 4] == numbers(KEPT)


# Questions in SQL


def test_questions_are_answered():
    keep(*KEPT)

    assert (["tool", "n"], [("shell", 1)]) == asked("SELECT tool, count(*) AS n FROM events WHERE tool = 'shell' GROUP BY 1")
    assert "seq" in {row[1] for row in asked("PRAGMA table_info(events)")[1]}
    assert [(3,)] == asked("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 3) SELECT max(x) FROM c")[1]


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM events",
        "UPDATE head SET seq = 0",
        "INSERT INTO hook_runs VALUES ('', '', 0, 0, 0, 0, 0, 0)",
        "DROP TABLE events",
        "CREATE TABLE t (x)",
        "CREATE TEMP TABLE t (x)",
        "CREATE VIEW v AS SELECT 1",
        "ATTACH ':memory:' AS other",
        "ATTACH '{home}/other.db' AS other",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO '{home}/copy.db'",
        "REINDEX",
        "ANALYZE",
        "BEGIN IMMEDIATE",
        "PRAGMA query_only = OFF",
        "PRAGMA user_version = 7",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA wal_checkpoint",
        "PRAGMA writable_schema = ON",
        "SELECT load_extension('x')",
        "SELECT 1; DELETE FROM events",
        "EXPLAIN DELETE FROM events",
        "",
        "-- nothing",
        "no SQL",
    ],
)
def test_whatever_would_change_something_is_refused(statement, home):
    keep(*KEPT)
    before = database.database_file().read_bytes()

    with pytest.raises(HookonceError):
        asked(statement.format(home=home))

    assert before == database.database_file().read_bytes()
    assert [] == list(home.glob("*.db"))


def test_a_question_without_end_ends():
    with pytest.raises(HookonceError, match=r"longer than 0\.05 seconds"):
        asked("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c", timeout_s=0.05)


def test_a_value_that_would_fill_the_memory_is_refused():
    with pytest.raises(HookonceError, match="too big"):
        asked("SELECT zeroblob(1000000000)")


def test_erased_records_tell_nothing():
    found = [record(0), replace(record(1), decision=Decision(outcome="deny"))]
    keep(*found)
    with Writer() as writer:
        erase_records(writer, [found[1].event.id])

    assert [0] == numbers(found)
    with closing(database.open_reader()) as connection:
        assert [False, True] == [row.is_erased for row in select_rows(connection, RecordFilter())]
