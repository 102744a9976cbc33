"""Checkpoints that the daemon has signed: beside everything else, by a process that ends."""

import os
from contextlib import closing
from time import monotonic, sleep

import pytest
from msgspec.structs import replace

from hookonce.base import settings
from hookonce.base.event_loop import EventLoop
from hookonce.daemon import checkpoint_signer, store_writer
from hookonce.daemon.store_writer import BackgroundStoreWriter
from hookonce.handlers.supervise import watchdog
from hookonce.store import database
from hookonce.store.integrity import checkpoint, keys
from tests.store.rows import stored, verified


@pytest.fixture
def background(tmp_path, monkeypatch):
    """The writer of a daemon, with four rows, two of them derived, of which nothing is signed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(settings, "SYSTEM", tmp_path / "etc")
    monkeypatch.setattr(store_writer, "_SIGN_INTERVAL_S", -1)
    loop = EventLoop()
    background = BackgroundStoreWriter(loop)
    for number in range(2):
        background.journal.append(stored(number, session=None))
    background.flush_batch()
    yield background
    background.close()
    loop.close()
    watchdog.reap()


def sign(background):
    """Have it signed, and wait until whoever signs has said something."""
    background.maintain()
    assert background._signer.is_busy
    deadline = monotonic() + 60
    while background._signer.is_busy and monotonic() < deadline:
        background._loop.run_once(0.1)


def checkpoints():
    with closing(database.connect_reader()) as connection:
        return connection.execute("SELECT seq, key FROM checkpoints").fetchall()


def test_a_checkpoint_is_signed_by_a_process_of_its_own(background, monkeypatch):
    """
    So what signs is not loaded here; and it is the signature that everybody accepts.
    """
    sign_here = checkpoint_signer.sign_text
    monkeypatch.setattr(checkpoint_signer, "sign_text", lambda text: sign_here(text) if os.getpid() != own_pid else None)
    own_pid = os.getpid()
    sign(background)

    assert [(4, keys.load_signing_key()[0])] == checkpoints()
    assert verified().ok
    assert background.problem is None
    background.maintain()
    assert not background._signer.is_busy


@pytest.mark.parametrize(
    ("fault", "problem"), [(lambda _: os._exit(1), "the process that signs has ended"), (lambda _: int("no"), "invalid literal for int() with base 10: 'no'")]
)
def test_why_nothing_was_signed_is_named_and_tried_again(background, monkeypatch, fault, problem):
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_signer, "sign_text", fault)
        sign(background)
    assert f"a checkpoint could not be signed: {problem}" == background.status()["problem"]
    assert [] == checkpoints()
    background.run_with_recorder(lambda _: None)  # what else is stored does not hide it
    assert f"a checkpoint could not be signed: {problem}" == background.status()["problem"]

    monkeypatch.setattr(store_writer, "_SIGN_INTERVAL_S", 3600)  # it is due at once all the same
    sign(background)
    assert [4] == [seq for seq, _ in checkpoints()]
    assert background.status()["problem"] is None


def test_rows_that_come_while_it_is_signed_are_signed_the_next_time(background):
    background.maintain()
    background.journal.append(stored(3, session=None))
    background.flush_batch()
    while background._signer.is_busy:
        background._loop.run_once(0.1)
    assert [4] == [seq for seq, _ in checkpoints()]

    sign(background)
    assert [4, 6] == [seq for seq, _ in checkpoints()]
    assert verified().ok


def test_a_checkpoint_of_somebody_who_was_faster_stays_the_last(background):
    def sign_twice(recorder):
        draft = checkpoint.draft_checkpoint(recorder.writer.connection)
        assert checkpoint.sign_checkpoint(recorder.writer.connection) is not None
        assert not checkpoint.store_checkpoint(recorder.writer.connection, draft, *checkpoint.sign_text(draft.text))

    assert background.run_with_recorder(sign_twice)
    assert 1 == len(checkpoints())
    assert verified().ok


def test_a_checkpoint_of_another_chain_is_not_stored(background):
    def store_elsewhere(recorder):
        draft = checkpoint.draft_checkpoint(recorder.writer.connection)
        other_draft = replace(draft, head=replace(draft.head, hash=b"x" * 32))
        assert not checkpoint.store_checkpoint(recorder.writer.connection, other_draft, *checkpoint.sign_text(other_draft.text))

    assert background.run_with_recorder(store_elsewhere)
    assert [] == checkpoints()


def test_a_process_that_signs_for_ever_is_killed(background, monkeypatch):
    monkeypatch.setattr(checkpoint_signer, "_TIMEOUT_S", 0.2)
    monkeypatch.setattr(checkpoint_signer, "sign_text", lambda _: sleep(600))
    sign(background)

    assert "a checkpoint could not be signed: the process that signs has ended" == background.status()["problem"]


def test_who_leaves_before_the_signature_is_there_signs_itself(background):
    background.maintain()
    background.close()

    assert [4] == [seq for seq, _ in checkpoints()]
