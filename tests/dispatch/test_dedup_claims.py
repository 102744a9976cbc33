"""One call, one run."""

from concurrent.futures import ThreadPoolExecutor
from time import sleep, time

import pytest

from hookonce.base import ids
from hookonce.dispatch import dedup
from hookonce.handlers.operation import run_blocking
from hookonce.model import Reply

SAID = Reply(stdout='{"decision":"deny"}', stderr="no, and half a character: \ud800", code=2)
RAW = b'{"tool_name":"Bash"}'


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
        assert 1 == sum(pool.map(lambda _: dedup.claim_call(call), range(16)))
        waiting = pool.submit(run_blocking, dedup.await_answer(call, RAW, time() + 5))
        sleep(0.02)
        assert not waiting.done()
        dedup.save_answer(call, SAID, RAW)
        assert SAID == waiting.result().reply
    assert not dedup.claim_call(call)


def test_nobody_waits_beyond_the_deadline_or_for_nothing():
    """
    No answer is told as none.
    """
    call = ids.new_id()
    dedup.claim_call(call)

    assert run_blocking(dedup.await_answer(call, RAW, time() + 0.03)).reply is None
    assert run_blocking(dedup.await_answer(ids.new_id(), RAW, time() + 5)).reply is None


def test_what_was_read_goes_away():
    """
    The client has it, and nobody else asks.
    """
    call = ids.new_id()
    dedup.claim_call(call)
    dedup.remove_claim(call)
    dedup.remove_claim(call)

    assert dedup.claim_call(call)
