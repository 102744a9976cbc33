"""A store that an older hookonce has written becomes one of ours, and says the same as before."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hookonce.base import paths
from hookonce.store import database, schema
from hookonce.store.maintenance.rebuild import rebuild_summaries
from hookonce.store.writer import Writer
from tests.cli.command import run
from tests.shared import ROOT
from tests.store.rows import append, verified

FOLDER = Path(__file__).parent
KEYS = {"mark": b"m", "hash": b"h", "sign-0001": b"s"}
OLD_TABLES = {"told", "places", "spent", "counts", "hooks", "transcripts"}


@pytest.fixture
def version_2(tmp_path, monkeypatch):
    """A home with the store of version 2; what its own hookonce answered to some questions."""
    monkeypatch.setenv("HOME", str(tmp_path))
    document = json.loads((FOLDER / "version_2.json").read_text(encoding="utf-8"))
    keys = paths.data_dir() / "keys"
    keys.mkdir(mode=0o700, parents=True)
    for name, letter in KEYS.items():
        (keys / name).write_bytes(letter * 32)
        (keys / name).chmod(0o600)
    (paths.data_dir() / "head").write_text(document["head"], encoding="ascii")
    with closing(sqlite3.connect(database.database_file(), isolation_level=None)) as connection:
        connection.executescript((FOLDER / "version_2.sql").read_text(encoding="utf-8"))
    return document["answers"]


def rows(table="events"):
    with closing(sqlite3.connect(database.database_file())) as connection:
        return connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall()  # noqa: S608


def tables():
    with closing(sqlite3.connect(database.database_file())) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def version():
    with closing(sqlite3.connect(database.database_file())) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def test_the_sample_has_rows_in_every_table(version_2):
    assert (2, []) == (version(), [name for name in tables() if not rows(name)])


def contains(new, old):
    """Whether a document says everything that an older one says, and in the same order."""
    if type(old) is dict:
        return old.keys() <= new.keys() and all(contains(new[name], value) for name, value in old.items())
    if type(old) is list:
        return len(old) == len(new) and all(map(contains, new, old))
    return type(new) is type(old) and new == old


@pytest.mark.parametrize("question", ["stats", "cost", "cost --by project", "sessions", "audit verify"])
def test_an_older_store_answers_as_before(version_2, tmp_path, question):
    """
    Whoever asks first migrates it; what has become known since then stands beside it.
    """
    found = run(*question.split(), "--json", HOME=str(tmp_path))

    assert 0 == found.code
    assert contains(found.documents(), [json.loads(line) for line in version_2[question]])
    assert schema.VERSION == version()


def test_tables_have_their_new_names_and_rows_stay_as_they_are(version_2):
    """
    But for the source of an answer that still streams, which has another name now.
    """
    before = {
        name: rows(name)
        for name in ("events", "places", "spent", "counts", "hooks", "sessions", "transcripts", "tombstones")
    }
    Writer().close()
    renamed = {
        "places": "usage_by_project",
        "spent": "spend",
        "counts": "daily_counts",
        "hooks": "hook_runs",
        "transcripts": "transcript_cursors",
    }

    assert before == {name: rows(renamed.get(name, name)) for name in before}
    assert OLD_TABLES.isdisjoint(tables())
    assert {"transcript", "stop", "partial"} == {row[2] for row in rows("token_usage")}


def test_an_older_store_goes_on(version_2):
    """
    New rows are linked to the old ones, and counting again comes to the same sums.
    """
    with Writer() as writer:
        append(writer, 3, session="s-9")
        before = {name: rows(name) for name in ("daily_counts", "spend", "usage_by_project")}
        rebuild_summaries(writer)

    assert before == {name: rows(name) for name in before}
    assert (True, 16) == (verified().ok, verified().rows)


def make_older(to_version):
    """Make the store what that version would have written: its tables are those of its own migrations, with the same rows."""
    with closing(sqlite3.connect(database.database_file(), isolation_level=None)) as connection:
        expected = {row[1]: row[3] for row in schema.load_expected_schema(to_version) if row[0] == "table"}
        for name in tables() - expected.keys() - {"sqlite_stat1"}:
            connection.execute(f"DROP TABLE {name}")
        connection.execute("DROP TABLE token_usage")
        connection.execute(expected["token_usage"])
        connection.execute(f"PRAGMA user_version = {to_version}")


@pytest.mark.parametrize("older", [3, 4])
def test_a_store_of_the_last_versions_stays_as_it_is(tmp_path, monkeypatch, older):
    """
    It gets an empty queue, and its days are known to be days of UTC until they are counted again.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    with Writer() as writer:
        append(writer, 3, session="s")
    make_older(older)
    before = (version(), "quarter_counts" in tables(), rows())
    with Writer() as writer:
        queue = writer.connection.execute("SELECT * FROM hook_queue").fetchall()
        days = writer.connection.execute("SELECT * FROM undivided_days").fetchall()
        append(writer, 2, session="s")
        rebuild_summaries(writer)
        later_days = writer.connection.execute("SELECT * FROM undivided_days").fetchall()

    assert (older, False, rows()[:3]) == before
    assert (schema.VERSION, [], [("2026-11-15",)], []) == (version(), queue, days, later_days)
    assert (True, 5) == (verified().ok, verified().rows)


KILLED = """
import os, signal, sqlite3, sys
from hookonce.store import database, schema
seen = 0
def count(statement):
    global seen
    seen += 1
    if seen == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
connection = sqlite3.connect(database.database_file(), isolation_level=None)
connection.set_trace_callback(count)
schema.migrate(connection)
"""


@pytest.mark.slow
def test_killed_at_any_statement_it_is_the_old_one_or_the_new_one(version_2, tmp_path):
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}", "HOME": str(tmp_path)}
    before, number, ending = rows(), 0, -signal.SIGKILL
    while ending:
        number += 1
        ending = subprocess.run([sys.executable, "-c", KILLED, str(number)], env=env, check=False).returncode
        assert ending in {0, -signal.SIGKILL}
        assert before == rows()
        assert (2, True) == (version(), tables() >= OLD_TABLES) if ending else schema.VERSION == version()

    assert number > len(schema.MIGRATIONS[2])
    assert verified().ok
