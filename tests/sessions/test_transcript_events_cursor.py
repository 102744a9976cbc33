"""Reading on: rows and cursor are written together, whatever happens in between."""

import os
import signal
from contextlib import closing, suppress

import pytest

from hookonce.agents import reports_session_start
from hookonce.sessions import transcript_cursors
from hookonce.sessions import transcript_events as walk
from hookonce.sessions.recorder import Recorder
from hookonce.sessions.transcript_events import TranscriptOwner, read_chunk, store_chunk
from hookonce.store import database
from hookonce.store.integrity import audit
from hookonce.store.query import RecordFilter, find_records
from hookonce.store.writer import Writer
from tests.agents.transcripts.material import GOLDEN, golden, lines, reader_of
from tests.sessions.test_transcript_events import kept

ROUNDS = int(os.environ.get("HOOKONCE_KILLS", "12"))
WHOSE = TranscriptOwner(agent="claude-code", session="s")
CLAUDE = reader_of(GOLDEN / "claude-code")


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(walk, "CHUNK_BYTES", 4096)


def through(recorder, file):
    """Read a file to its end, piece by piece; how many pieces there were."""
    pieces, more = 0, True
    while more:
        piece = read_chunk(recorder, reader_of(file) if file.is_relative_to(GOLDEN) else CLAUDE, file, is_last=True)
        store_chunk(recorder, piece, WHOSE)
        pieces, more = pieces + 1, piece.has_more
    return pieces


def test_a_file_is_read_in_pieces_and_a_long_line_is_read_all_the_same():
    """
    The scenario's lines are longer than a piece; none of them is left out.
    """
    with Writer() as writer:
        pieces = through(Recorder(writer, reports_session_start), golden("claude-code", "tour"))

    assert pieces > 3
    assert 9 == len(kept(type="after_model"))


def test_only_what_is_new_is_read(tmp_path):
    """
    A daemon that begins anew goes on where the last one was.
    """
    file, whole = tmp_path / "s.jsonl", golden("claude-code", "tour").read_bytes()
    half = whole.index(b"\n", len(whole) // 2) + 1
    file.write_bytes(whole[:half])
    with Writer() as writer:
        through(Recorder(writer, reports_session_start), file)
    with file.open("ab") as rest:
        rest.write(whole[half:])
    with Writer() as writer:
        piece = read_chunk(Recorder(writer, reports_session_start), CLAUDE, file)
        through(Recorder(writer, reports_session_start), file)

    assert half == piece.previous.offset < piece.cursor.offset
    assert 9 == len(kept(type="after_model"))


def test_rows_that_cannot_be_kept_leave_the_cursor_where_it_was(monkeypatch):
    """
    And the other way round; the next time everything is there once.
    """
    file = golden("claude-code", "pair")

    def broken(*_, **__):
        raise OSError("the disk is full")

    with Writer() as writer:
        recorder = Recorder(writer, reports_session_start)
        with monkeypatch.context() as patch, suppress(OSError):
            patch.setattr(transcript_cursors, "save_cursor", broken)
            through(recorder, file)
        nothing = (kept(), transcript_cursors.load_cursor(writer.connection, file))
        through(recorder, file)

    assert ([], None) == nothing
    assert 2 == len(kept(type="after_model"))


def test_who_is_killed_between_any_two_statements_loses_and_doubles_nothing():
    """
    In a process of its own each time, at another statement each time; then somebody else goes on.
    """
    file = golden("codex", "tour")
    for number in range(ROUNDS):
        child = os.fork()
        if child == 0:
            _read_until(3 + number * 7, file)
        _, status = os.waitpid(child, 0)
        assert (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL) or os.WEXITSTATUS(status) == 0
    with Writer() as writer:
        through(Recorder(writer, reports_session_start), file)
    with closing(database.connect_reader()) as connection:
        found = [one.event.data["model_call_id"] for one in find_records(connection, RecordFilter(type="after_model"))]
        verdict = audit.verify(connection)

    assert 9 == len(found) == len(set(found))
    assert [] == verdict.flaws


def _read_until(statement, file):
    """Read, and be killed when the database is told so many things."""
    left = [statement]

    def count(_):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        with Writer() as writer:
            writer.connection.set_trace_callback(count)
            through(Recorder(writer, reports_session_start), file)
    finally:
        os._exit(0)


def test_a_cursor_that_cannot_be_read_is_none():
    """
    The file is read again, and what was there stays as it was.
    """
    file = golden("claude-code", "pair")
    with Writer() as writer:
        through(Recorder(writer, reports_session_start), file)
        before = kept()
        writer.connection.execute("UPDATE transcript_cursors SET cursor = x'00'")
        through(Recorder(writer, reports_session_start), file)

    assert before == kept()


def test_no_secret_is_kept_in_the_name_of_a_file(tmp_path):
    """
    It is known again by its hash.
    """
    key = "ghp_" + "Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j"
    file = tmp_path / f"{key}.jsonl"
    file.write_bytes(lines({"type": "user", "sessionId": "s"}))
    with Writer() as writer:
        piece = read_chunk(Recorder(writer, reports_session_start), CLAUDE, file)
        store_chunk(Recorder(writer, reports_session_start), piece, WHOSE)
        dumped = "\n".join(writer.connection.iterdump())

        assert transcript_cursors.load_cursor(writer.connection, file) is not None
        assert [] == transcript_cursors.list_transcripts(writer.connection, "2000", 9)
    assert key not in dumped
