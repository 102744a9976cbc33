"""Claims of workers that stay: one file for all calls of a worker, found by whoever answers after a kill."""

import os
import signal

import pytest

from hookonce.handlers.operation import OperationResult
from hookonce.handlers.supervise import claim_slots
from hookonce.handlers.supervise.claim_slots import ClaimSlot, find_slot, iter_claims, slot_path
from hookonce.handlers.supervise.hook_results import UNKNOWN_ENDING, CallResults, encode_result
from tests.handlers.processes import eventually


@pytest.fixture
def call(tmp_path):
    """The results of a call whose runner was killed, and the path of the claim of its first hook."""
    path = str(tmp_path / "0190-call")
    return CallResults(path, 0, takes_over=True), CallResults(path, 0).claim("guard").path


def recover(results, timeout=20.0):
    """The result of the hook, as soon as there is one; how often somebody had to look again."""
    waiting, looks = results.recover("guard", timeout), 0
    try:
        while True:
            next(waiting)
            looks += 1
            if looks == 3:
                return None, looks
    except StopIteration as end:
        return end.value, looks


@pytest.mark.parametrize("memory", [True, False])
def test_a_result_is_waited_for_and_read(call, monkeypatch, memory):
    """
    As long as its worker has not left it, nobody knows more than that it has begun; without files in memory the slot holds it.
    """
    results, path = call
    if not memory:
        monkeypatch.setattr(claim_slots, "_open_result_file", lambda: -1)
    slot = ClaimSlot(slot_path(path, os.getpid()))
    slot.fill("calls/another.claim.1")
    slot.fill(path)
    begun = recover(results)
    slot.save(encode_result("2", b"out", b"no"))

    assert (None, 3) == begun
    again = CallResults(path.partition(".")[0], 0, takes_over=True)
    result, looks = recover(again)
    assert ((2, None, b"out", b"no"), 0) == ((result.code, result.failure, result.stdout, result.stderr), looks)


def test_a_hook_that_no_slot_names_has_not_begun(call, tmp_path):
    """
    It is claimed by whoever asks, so that it runs once.
    """
    results, path = call
    slot = ClaimSlot(slot_path(path, os.getpid()))
    slot.fill(path.replace("0190", "0191"))

    assert (None, 0) == recover(results)
    assert [path.rpartition("/")[2], f"worker-{os.getpid()}"] == sorted(file.name for file in tmp_path.iterdir())


def test_the_result_of_a_worker_that_was_killed_is_unknown(call):
    """
    The hook has begun, and must not run again.
    """
    results, path = call
    pid = os.fork()
    if pid == 0:
        ClaimSlot(slot_path(path, os.getpid())).fill(path)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)

    assert (OperationResult(failure=UNKNOWN_ENDING).failure, 0) == (recover(results)[0].failure, 0)
    assert eventually(lambda: find_slot(path) is not None)


def test_what_only_the_runner_knew_comes_first(call):
    """
    A timeout, for which it has killed the worker.
    """
    results, path = call
    ClaimSlot(slot_path(path, os.getpid())).fill(path)
    CallResults(path.partition(".")[0], 0).claim("guard").save("timeout")

    assert "timeout" == recover(results)[0].failure


def test_a_slot_of_a_process_that_had_the_same_number_is_used_again(call, tmp_path):
    """
    Nothing of its content stays, and its claims are listed as others are.
    """
    _, path = call
    slot_file = tmp_path / f"worker-{os.getpid()}"
    slot_file.write_bytes(b"x" * 500)
    slot = ClaimSlot(str(slot_file))
    slot.fill(path)

    assert path.rpartition("/")[2] in iter_claims(str(tmp_path))
    assert len(slot_file.read_bytes()) < 200
    slot.remove()
    assert [] == [*iter_claims(str(tmp_path))]
