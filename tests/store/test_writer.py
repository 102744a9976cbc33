"""Appending to the record: nothing twice, nothing lost, each row linked to the one before."""

import json
import os
import signal
import sqlite3
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce.base import ids, paths
from hookonce.model import Decision, Event, Gap, HookRun, Result, Stored, Tool, Usage
from hookonce.store import database, rollup
from hookonce.store.entry import build_entry, decode_entry
from hookonce.store.integrity import audit, chain, checkpoint, head_file
from hookonce.store.query import RecordFilter, find_records
from hookonce.store.spool import files, ingest
from hookonce.store.spool.journal import SpoolJournal
from hookonce.store.spool.overlay import find_record, latest_records
from hookonce.store.writer import Writer, read_chain_head
from tests.shared import ROOT


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own for each test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def record(number=0, **more):
    """A record of a tool call."""
    known = {"id": ids.new_id(), "schema": "hookonce/1", "type": "before_tool_execute", "agent": "codex"}
    known |= {"time": f"2026-11-15T10:00:{number % 60:02d}Z", "time_source": "agent", "session": "s1", "cwd": "/w"}
    return Stored(event=Event(**(known | more)), level="minimal")


def many(count, **more):
    return [build_entry(record(number, **more)) for number in range(count)]


def kept(**wanted):
    with Writer() as writer:
        return list(find_records(writer.connection, RecordFilter(**wanted)))


# The chain


def test_what_was_appended_comes_out_again_byte_for_byte():
    entries = many(5)
    with Writer() as writer:
        assert 5 == writer.append(entries)
        bodies = [row[0] for row in writer.connection.execute("SELECT body FROM events ORDER BY seq")]

    assert [one.body for one in entries] == bodies
    assert [one.record for one in entries] == kept()


def test_an_event_is_kept_once_whoever_brings_it_how_often():
    entries = many(3)
    with Writer() as writer:
        writer.append(entries)
        assert 0 == writer.append(entries)
        assert 1 == writer.append([*entries, *many(1)])
        now = read_chain_head(writer.connection)

    assert (4, 4) == (now.seq, now.count)
    assert audit.verify(database.connect_reader()).ok


def test_rows_are_linked_whoever_writes_them():
    """
    Two writers, one after the other and in turns: one chain.
    """
    with Writer() as one, Writer() as other:
        for _ in range(5):
            one.append(many(2))
            other.append(many(3))
        rows = one.connection.execute("SELECT seq, body, hash FROM events ORDER BY seq").fetchall()

    before = chain.GENESIS_HASH
    for seq, body, row in rows:
        assert chain.hash_row(seq, before, chain.digest_body(body)) == row
        before = row
    assert list(range(1, 26)) == [row[0] for row in rows]
    assert head_file.read_head() == read_chain_head(database.connect_reader())


def test_a_batch_that_fails_leaves_nothing(monkeypatch):
    with Writer() as writer:
        writer.append(many(2))
        monkeypatch.setattr(rollup, "add_records", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            writer.append(many(3))
        assert 2 == read_chain_head(writer.connection).seq
        assert 2 == writer.connection.execute("SELECT count(*) FROM events").fetchone()[0]


@pytest.mark.slow
def test_writers_that_are_killed_lose_nothing_that_they_said_was_kept(home):
    """
    Three processes append and tell each id once it is committed; they are killed at any moment.
    """
    script = (
        "import sys\n"
        "from tests.store.test_writer import many\n"
        "from hookonce.store.writer import Writer\n"
        "writer = Writer()\n"
        "while True:\n"
        "    batch = many(3)\n"
        "    writer.append(batch)\n"
        "    print(*(one.record.event.id for one in batch), flush=True)\n"
    )
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", "HOME": str(home)}
    told = []
    for round_ in range(5):
        group = [
            subprocess.Popen([sys.executable, "-c", script], env=env, stdout=subprocess.PIPE, text=True) for _ in range(3)
        ]
        for process in group:
            told += process.stdout.readline().split()
        for number, process in enumerate(group):
            for _ in range(round_ + number):
                told += process.stdout.readline().split()
            process.send_signal(signal.SIGKILL)
            told += process.stdout.read().rpartition("\n")[0].split()
            process.stdout.close()
            process.wait()

    found = {one.event.id for one in kept()}
    assert set(told) <= found
    assert audit.verify(database.connect_reader()).ok


def test_half_a_pair_of_utf_16_is_kept():
    """
    JavaScript may write one into any name.
    """
    one = build_entry(record(session="s\ud83d", cwd="/w\ud83d", model="\ud83d"))
    with Writer() as writer:
        assert 1 == writer.append([one])
        assert [one.body] == [row[0] for row in writer.connection.execute("SELECT body FROM events")]
        assert "s\\ud83d" == writer.connection.execute("SELECT session FROM sessions").fetchone()[0]
    assert audit.verify(database.connect_reader()).ok


# Checkpoints


def test_a_checkpoint_signs_what_is_there_and_only_once():
    with Writer() as writer:
        writer.append(many(3))
        made = checkpoint.sign_checkpoint(writer.connection)
        assert checkpoint.sign_checkpoint(writer.connection) is None
        writer.append(many(1))
    ranges = audit.verify(database.connect_reader()).ranges

    assert 3 == made.seq
    assert [(1, 3, "signed"), (4, 4, "chained only")] == [(one.first, one.last, one.state) for one in ranges]


# Rollups


def runs():
    times = st.floats(0, 5000, allow_nan=False).map(lambda ms: round(ms, 3))
    return st.builds(
        HookRun,
        hook=st.sampled_from(["a", "b"]),
        duration_ms=times,
        outcome=st.sampled_from([None, "deny"]),
        failure=st.sampled_from([None, "exit"]),
        tokens=st.integers(0, 9),
    )


def shapes():
    return st.builds(
        lambda agent, day, model, tool, outcome, tokens, found: replace(
            record(
                agent=agent,
                model=model,
                time=f"2026-11-{day:02d}T00:00:00Z",
                tool=tool and Tool(name=tool, native=tool, result=Result(duration_ms=2)),
                usage=tokens and Usage(input_tokens=tokens, output_tokens=1),
            ),
            decision=outcome and Decision(outcome=outcome),
            runs=found,
        ),
        st.sampled_from(["codex", "cline"]),
        st.integers(1, 3),
        st.sampled_from([None, "m1"]),
        st.sampled_from([None, "shell"]),
        st.sampled_from([None, "deny"]),
        st.sampled_from([None, 5]),
        st.lists(runs(), max_size=2),
    )


@given(st.lists(st.lists(shapes(), max_size=6), max_size=5))
def test_a_rollup_is_what_a_group_by_would_say(tmp_path_factory, batches):
    folder = tmp_path_factory.mktemp("rollup")
    with Writer(folder / "events.db") as writer:
        for batch in batches:
            writer.append([build_entry(one) for one in batch])
        plain = writer.connection.execute(
            "SELECT substr(time, 1, 10), agent, type, coalesce(tool, ''), coalesce(outcome, ''), count(*)"
            " FROM events GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5"
        ).fetchall()
        assert plain == writer.connection.execute("SELECT * FROM daily_counts ORDER BY 1, 2, 3, 4, 5").fetchall()
        count = writer.connection.execute("SELECT coalesce(sum(runs), 0) FROM hook_runs").fetchone()[0]
        sessions = writer.connection.execute("SELECT coalesce(sum(events), 0) FROM sessions").fetchone()[0]

    flat = [one for batch in batches for one in batch]
    assert sum(len(one.runs) for one in flat) == count
    assert len(flat) == sessions


@given(st.floats(0, 1e7, allow_nan=False))
def test_a_time_is_at_most_a_quarter_shorter_than_its_bucket(ms):
    top = rollup.bucket_upper_ms(rollup.duration_bucket(ms))
    assert ms <= top * 1.000001
    assert top <= max(ms * 1.2500001, 0.1)


# Folding


def note(one):
    """A record of which only that it happened is known."""
    return replace(one, gaps=[Gap(where="$.event", capability="record", strategy="later", effect="observes")])


def test_files_of_others_become_rows_and_go():
    found = [record(number) for number in range(4)]
    for one in found:
        files.append(one)
    with Writer() as writer:
        assert ingest.IngestResult(4, 0) == ingest.ingest_spool(writer.append)
        assert ingest.IngestResult(0, 0) == ingest.ingest_spool(writer.append)

    assert [] == list(files.spool_dir().iterdir())
    assert {one.event.id for one in found} == {one.event.id for one in kept()}
    assert found[0] == find_record(found[0].event.id)


def test_a_call_of_which_more_will_be_known_is_waited_for():
    one = record()
    files.append(note(one))
    with Writer() as writer:
        assert 0 == ingest.ingest_spool(writer.append).new_records
        files.append(one)
        assert 1 == ingest.ingest_spool(writer.append).new_records

    assert [[]] == [found.gaps for found in kept()]


def test_a_call_of_which_nobody_said_more_is_kept_as_it_is():
    one = record()
    files.append(note(one))
    path = next(files.spool_dir().iterdir())
    os.utime(path, (1, 1))
    with Writer() as writer:
        assert 1 == ingest.ingest_spool(writer.append).new_records


def test_a_journal_is_left_alone_while_somebody_writes_it():
    journal, one = SpoolJournal(), record()
    journal.append(one)
    with Writer() as writer:
        assert 0 == ingest.ingest_spool(writer.append).new_records
        journal.close()
        assert 1 == ingest.ingest_spool(writer.append).new_records


def test_what_was_taken_back_is_not_kept():
    journal, one, other = SpoolJournal(), record(), record()
    journal.append(one)
    journal.append(other)
    journal.forget(one.event.id)
    journal.close()
    with Writer() as writer:
        ingest.ingest_spool(writer.append)

    assert [other] == kept()


def test_lines_that_are_not_what_was_written_are_put_aside():
    one = record()
    files.append(one)
    path = next(files.spool_dir().iterdir())
    path.write_bytes(path.read_bytes().replace(b"codex", b"cline"))
    with Writer() as writer:
        assert ingest.IngestResult(0, 1) == ingest.ingest_spool(writer.append)

    assert [path.with_suffix(".damaged")] == list(files.spool_dir().iterdir())


def test_a_store_that_cannot_be_written_keeps_the_spool(monkeypatch):
    one = record()
    files.append(one)
    with Writer() as writer:
        monkeypatch.setattr(writer, "append", lambda _: (_ for _ in ()).throw(sqlite3.OperationalError("disk full")))
        with pytest.raises(sqlite3.OperationalError):
            ingest.ingest_spool(writer.append)

    assert [one] == list(files.load_records())
    assert [one] == list(latest_records())


def test_nothing_is_there_before_something_was_kept():
    assert ([], None) == (list(latest_records()), find_record("x"))
    assert not paths.data_dir().joinpath("events.db").exists()


def test_a_body_is_a_record():
    one = build_entry(record())
    assert one == decode_entry(one.body)
    with pytest.raises(ValueError, match=r"JSON|Expecting|property"):
        decode_entry(b"{")
    assert "codex" == json.loads(one.body)["event"]["agent"]
