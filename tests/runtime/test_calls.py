"""One call, one run."""

from concurrent.futures import ThreadPoolExecutor
from time import sleep, time

import pytest

from hookonce import ids
from hookonce.handlers.walk import run_blocking
from hookonce.model import Reply
from hookonce.runtime import calls

SAID = Reply(stdout='{"decision":"deny"}', stderr="no, and half a character: \ud800", code=2)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))


def test_of_many_who_want_to_run_an_id_one_does():
    """
    And the others hear the very words that were answered.
    """
    call = ids.new_id()
    with ThreadPoolExecutor(8) as pool:
        assert 1 == sum(pool.map(lambda _: calls.claim_call(call), range(16)))
        waiting = pool.submit(run_blocking, calls.await_answer(call, time() + 5))
        sleep(0.02)
        assert not waiting.done()
        calls.save_answer(call, SAID)
        assert SAID == waiting.result()
    assert not calls.claim_call(call)


def test_nobody_waits_beyond_the_deadline_or_for_nothing():
    """
    No answer is told as none.
    """
    call = ids.new_id()
    calls.claim_call(call)

    assert run_blocking(calls.await_answer(call, time() + 0.03)) is None
    assert run_blocking(calls.await_answer(ids.new_id(), time() + 5)) is None


def test_what_was_read_goes_away():
    """
    The client has it, and nobody else asks.
    """
    call = ids.new_id()
    calls.claim_call(call)
    calls.remove_claim(call)
    calls.remove_claim(call)

    assert calls.claim_call(call)
