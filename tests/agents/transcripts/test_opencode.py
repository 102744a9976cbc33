"""Sessions of OpenCode are rows of a database: read as they change, each answer and each call once."""

import json
import sqlite3
from contextlib import closing
from hashlib import sha256

import pytest

from hookonce.agents import transcripts
from hookonce.agents.transcripts.follower import follow_file, resolve_session_file
from hookonce.errors import HookonceError
from tests.agents.transcripts.material import GOLDEN

FOLDER = GOLDEN / "opencode"
ROWS = json.loads((FOLDER / "rows.json").read_text(encoding="utf-8"))
MAIN, SUB = dict.fromkeys(row["session_id"] for row in ROWS)
READER = transcripts.load("opencode")


@pytest.fixture
def database(tmp_path):
    """A database with the tables of OpenCode; rows come later."""
    file = tmp_path / ".local/share/opencode/opencode.db"
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as connection:
        for table in ("message", "part"):
            connection.execute(f"CREATE TABLE {table} (id TEXT PRIMARY KEY, session_id TEXT, time_updated INTEGER, data TEXT)")
        connection.commit()
    return file


def put(file, rows):
    with closing(sqlite3.connect(file)) as connection:
        for row in rows:
            values = (row["id"], row["session_id"], row["time_updated"], json.dumps(row["data"]))
            connection.execute(f"INSERT OR REPLACE INTO {row['table']} VALUES (?, ?, ?, ?)", values)  # noqa: S608
        connection.commit()


def test_the_golden_is_what_was_recorded():
    (one,) = json.loads((FOLDER / "provenance.json").read_text(encoding="utf-8"))["files"]
    assert one["sha256"] == sha256((FOLDER / "rows.json").read_bytes()).hexdigest()


def test_each_answer_and_each_call_is_read_once_however_often_one_looks(database):
    """
    One look after every row, and one more where nothing has changed.
    """
    calls, outcomes, cursor = [], {}, None
    for number in range(len(ROWS)):
        put(database, sorted(ROWS, key=lambda row: row["time_updated"])[: number + 1])
        before = cursor
        cursor, reading = follow_file(READER, database / MAIN, cursor)
        calls += reading.calls
        outcomes |= {one.id: one for one in reading.outcomes}
    again, reading = follow_file(READER, database / MAIN, cursor)

    assert (again.offset, again.mark, ()) == (cursor.offset, cursor.mark, reading.calls)
    answers = [row for row in ROWS if row["session_id"] == MAIN and row["data"].get("role") == "assistant"]
    assert [5000] * len(answers) == [one.usage.input_tokens for one in calls]
    assert {("scripted", MAIN)} == {(one.model, one.session) for one in calls}
    assert (False, 3, "bash", 1268) == tuple(getattr(outcomes["call_tour_7_0"], name) for name in ("ok", "exit_code", "tool", "duration_ms"))
    assert (True, 0) == (outcomes["call_tour_0_0"].ok, outcomes["call_tour_0_0"].exit_code)
    assert before is not None


def test_more_rows_of_one_moment_than_are_read_at_once_are_all_read(database):
    """
    An import writes thousands of them in one; what comes after it is not lost.
    """
    answer = next(row for row in ROWS if row["session_id"] == MAIN and row["data"].get("role") == "assistant")
    put(database, [answer | {"id": f"msg_{number}", "time_updated": 7} for number in range(1300)])
    put(database, [answer | {"id": "msg_last", "time_updated": 8}])
    ids, cursor, before = set(), None, 0
    while cursor is None or (cursor.offset, cursor.mark) != before:
        before = cursor and (cursor.offset, cursor.mark)
        cursor, reading = follow_file(READER, database / MAIN, cursor)
        ids |= {call.id for call in reading.calls}

    assert 1301 == len(ids)


def test_an_answer_that_is_not_complete_waits(database):
    """
    Its tokens are not known yet; the row changes when they are.
    """
    answer = next(row for row in ROWS if row["data"].get("role") == "assistant")
    put(database, [answer | {"data": answer["data"] | {"time": {"created": 1}}, "time_updated": 1}])
    cursor, reading = follow_file(READER, database / MAIN)
    assert () == reading.calls
    put(database, [answer])
    assert 1 == len(follow_file(READER, database / MAIN, cursor)[1].calls)


def test_a_session_is_looked_for_where_its_database_is(database, tmp_path):
    """
    A file of another kind is refused, and one that is not there is waited for.
    """
    assert database / MAIN == READER.locate(tmp_path, MAIN, {})
    assert database / MAIN == resolve_session_file("opencode", str(database / MAIN), tmp_path)
    with pytest.raises(FileNotFoundError):
        resolve_session_file("opencode", str(tmp_path / "opencode.db" / MAIN), tmp_path)
    database.write_bytes(b"no database, but long enough to be looked at" * 100)
    with pytest.raises(HookonceError):
        follow_file(READER, database / MAIN)


def test_the_rows_of_a_sub_agent_are_a_session_of_its_own(database):
    put(database, ROWS)
    assert {SUB} == {one.session for one in follow_file(READER, database / SUB)[1].calls}
