"""Forgetting and waiting in the daemon: beside everything else, in small steps, and with so much memory at most."""

from pathlib import Path

import pytest

from hookonce.agents import reports_session_start
from hookonce.agents.transcripts.types import ReaderMemory, TranscriptCursor
from hookonce.base import paths, settings
from hookonce.base.event_loop import EventLoop
from hookonce.daemon import store_writer
from hookonce.daemon.dedup_cache import DedupCache
from hookonce.daemon.deferred_calls import DeferredCalls
from hookonce.daemon.store_writer import BackgroundStoreWriter, RetentionRunner
from hookonce.model import Usage
from hookonce.sessions import transcript_cursors
from hookonce.sessions.recorder import Recorder
from hookonce.sessions.transcript_cursors import TranscriptFile
from hookonce.store.entry import build_entry
from hookonce.store.maintenance import erasure, retention
from hookonce.store.spool import files, ingest
from hookonce.store.spool import journal as journals
from hookonce.store.spool.journal import SpoolJournal
from hookonce.store.writer import Writer
from tests.store.rows import append, stored, verified

CANARY = "kanarienvogel"


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(settings, "SYSTEM", tmp_path / "etc")


def configured(text):
    paths.config_dir().mkdir(parents=True, exist_ok=True)
    (paths.config_dir() / "config.toml").write_text(text)


class House:
    """As much of a daemon as forgets."""

    def __init__(self, writer):
        self.loop, self.recorder, self.locked = EventLoop(), Recorder(writer, reports_session_start), 0
        self.forgetter = RetentionRunner(self.loop, self.ask)

    def ask(self, work):
        if self.locked:
            self.locked -= 1
            return False
        work(self.recorder)
        return True


def test_what_is_too_old_goes_in_steps_while_the_record_goes_on(monkeypatch):
    """
    Also if the store is locked for a while.
    """
    monkeypatch.setattr(retention, "_BATCH_ROWS", 7)
    monkeypatch.setattr(store_writer, "_RETENTION_STEP_INTERVAL_S", 0.01)
    monkeypatch.setattr(store_writer, "_RETENTION_RETRY_S", 0.01)
    configured("keep_days = 1\n")
    new = []
    with Writer() as writer:
        append(writer, 60, received="2020-01-01T00:00:00Z")
        append(writer, 1, received="2026-11-15T00:00:00Z")
        house = House(writer)
        house.locked = 2
        house.forgetter.start()
        while house.forgetter.is_busy:
            new += append(writer, 1, received="2026-11-15T00:00:00Z")
            house.loop.run_once(0.01)
        left = writer.connection.execute("SELECT count(*) FROM events").fetchone()[0]
        graves = writer.connection.execute("SELECT count(*) FROM tombstones").fetchone()[0]
        house.loop.close()

    assert (len(new) + 1, 9) == (left, graves)
    assert verified().ok


@pytest.mark.parametrize("text", ["", "keep_days = 'many'\n"])
def test_nothing_is_looked_for_where_everything_is_kept(text):
    """
    Nor where nobody understands what is wanted.
    """
    configured(text)
    with Writer() as writer:
        house = House(writer)
        house.forgetter.start()
        house.loop.close()

    assert not house.forgetter.is_busy


def test_the_file_of_an_erased_session_is_not_named_any_more():
    """
    Nor how far it was read; what others have written stays.
    """
    with Writer() as writer:
        told = [stored(session=name, usage=Usage(input_tokens=1)) for name in (CANARY, "other")]
        writer.append([build_entry(one) for one in told])
        for name in (CANARY, "other"):
            cursor = TranscriptCursor(device=1, inode=2, offset=3, mark="", memory=ReaderMemory(session=name))
            transcript_cursors.save_cursor(writer.connection, TranscriptFile(Path(f"/h/{name}.jsonl"), "codex", name), cursor, "2026-11-15")
        erasure.erase_records(writer, [told[0].event.id])
        left = writer.connection.execute("SELECT path, session FROM transcript_cursors").fetchall()

    assert [("/h/other.jsonl", "other")] == left
    assert not [file.name for file in paths.data_dir().iterdir() if file.is_file() and CANARY.encode() in file.read_bytes()]


def test_what_can_be_written_nowhere_does_not_fill_the_memory(monkeypatch):
    """
    All of it is counted, and as much as is remembered may still be kept.
    """
    monkeypatch.setattr(journals, "_MAX_UNWRITTEN_EVENTS", 3)
    monkeypatch.setattr(journals.os, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    kept = []
    log = SpoolJournal(kept.append)
    told = [stored(number) for number in range(5)]
    assert not any(log.append(one) for one in told)
    assert (5, 3) == (files.lost_record_count(), len(kept))
    log.confirm_stored([one.event.id for one in told])

    assert 2 == files.lost_record_count()


def test_calls_that_never_end_do_not_fill_the_memory(monkeypatch):
    """
    Records are stored between them once there are many.
    """
    monkeypatch.setattr(store_writer, "_MAX_PENDING_ROWS", 8)
    monkeypatch.setattr(store_writer, "_BUSY_RETRY_S", 0)
    monkeypatch.setattr(store_writer, "_QUIET_PERIOD_S", 0)
    loop = EventLoop()
    background = BackgroundStoreWriter(loop, lambda: True)
    for number in range(40):
        background.journal.append(stored(number))
        for _ in range(4):  # a timer, and idle turns
            loop.run_once(0.001)
    pending = background.pending_count
    background.close()
    loop.close()

    assert pending <= 16


def test_records_are_stored_as_soon_as_there_are_many(monkeypatch):
    """
    In the first idle turn of the loop; where there is none, between two calls.
    """
    monkeypatch.setattr(store_writer, "_MAX_PENDING_ROWS", 8)
    monkeypatch.setattr(store_writer, "_MAX_CROWD_ROWS", 32)
    loop = EventLoop()
    background = BackgroundStoreWriter(loop, lambda: True)
    for number in range(9):
        background.journal.append(stored(number))
    loop.run_once(0)
    assert 0 == background.pending_count

    counts = []
    for number in range(200):
        loop.call_soon(lambda: None)  # as if somebody called in each turn
        background.journal.append(stored(number))
        loop.run_once(0)
        counts.append(background.pending_count)
    background.close()
    loop.close()

    assert 32 <= max(counts) <= 64


def test_waiting_calls_of_one_agent_have_one_environment():
    queue = DeferredCalls(EventLoop(), SpoolJournal(), DedupCache())
    for environment in (b"A=1\0" * 100, bytes(bytearray(b"A=1\0" * 100)), b"B=1\0"):
        queue._defer_call([b"", b"", b"", b"", environment, b"", b"", b"{}"])
    first, second, third = (work.args[1][4] for *_, work in queue._queue)

    assert first is second
    assert b"B=1\0" == third


def test_of_very_many_calls_that_wait_only_some_are_looked_at(monkeypatch):
    """
    Whoever wants all of them looks at all.
    """
    looked = []
    usual = ingest._open_spool_file
    monkeypatch.setattr(ingest, "_MAX_DEFERRED_FILES", 3)
    monkeypatch.setattr(ingest, "_open_spool_file", lambda path: looked.append(path) or usual(path))
    monkeypatch.setattr(ingest, "_is_incomplete", lambda *_: True)
    for number in range(9):
        files.append(stored(number))

    assert 3 == ingest.ingest_spool(lambda _: 0, 2).pending_calls
    assert 3 == len(looked)
    assert 9 == ingest.ingest_spool(lambda _: 0).pending_calls
