"""Claim slot of the native watchdog: which hook it has begun, without a file for each; and who takes over sees that."""

import os
import signal
import subprocess
from fcntl import LOCK_EX, flock

import pytest

from hookonce.handlers.supervise import hook_results
from hookonce.handlers.supervise.claim_slots import find_slot, iter_claims
from hookonce.handlers.supervise.hook_results import FORGET, UNKNOWN_ENDING
from tests.client.native.test_watchdog import SLEEPER, Inheritance, Watched
from tests.handlers.processes import eventually, running, word


class Place(Inheritance):
    """A folder with one call, and the slot of one watchdog."""

    def __init__(self, folder, client_pid):
        super().__init__(folder, client_pid)
        self.slot = folder / "watchdog-1"

    def watch(self, program, command, **more):
        """A hook of that call."""
        return Watched(program, command, claim=self.claim, slot=self.slot, limit_s=60, **more)

    def has_begun(self):
        """Whether a claim of the call is there, in a file of its own or in the slot."""
        return any(name.startswith("call.") for name in iter_claims(str(self.file.parent)))


@pytest.fixture
def client():
    """The client of the call."""
    with subprocess.Popen(SLEEPER) as process:
        yield process
        process.kill()


@pytest.fixture
def place(tmp_path, client):
    """A call of that client."""
    return Place(tmp_path, client.pid)


@pytest.mark.parametrize("build", ["freestanding", "libc"])
def test_the_slot_holds_the_claim_until_the_call_was_answered(native, build, place):
    """
    No claim file is made, and the slot goes with the watchdog.
    """
    watched = place.watch(native[build], "exit 2")
    assert 2 == watched.result().code
    assert str(place.slot) == find_slot(place.claim.path)
    assert place.has_begun()
    assert not place.file.exists()
    watched.say(FORGET)
    assert eventually(lambda: find_slot(place.claim.path) is None)
    assert not place.has_begun()
    watched.let_go()
    watched.wait()

    assert not place.slot.exists()


@pytest.mark.parametrize("when", ["before", "after"], ids=["before the hook ends", "after it has ended"])
def test_a_runner_that_is_killed_finds_its_heir_provided(compiled, place, client, when):
    """
    The time that the hook took counts from its start.
    """
    watched = place.watch(compiled, "sleep 0.3; echo said; exit 2")
    if when == "after":
        assert 2 == watched.result().code
    else:
        assert eventually(place.has_begun, 10)
    watched.let_go()
    found = place.recover()

    assert (2, b"said\n", None) == (found.code, found.stdout, found.failure)
    assert 0.25 < found.duration < 20
    client.kill()
    client.wait()
    watched.wait()
    assert not place.slot.exists()


def test_a_hook_whose_watchdog_was_killed_with_the_runner_is_not_run_again(compiled, place):
    """
    The slot says that it has begun.
    """
    mark = word()
    watched = place.watch(compiled, f"exec sleep {mark}")
    assert eventually(lambda: running(f"sleep\0{mark}"), 10)
    os.kill(watched.pid, signal.SIGKILL)
    watched.let_go()
    os.waitpid(watched.pid, 0)
    for pid in running(f"sleep\0{mark}"):
        os.kill(pid, signal.SIGKILL)

    assert [UNKNOWN_ENDING] * 2 == [place.recover().failure for _ in range(2)]


@pytest.mark.parametrize("is_late", [False, True])
def test_an_heir_waits_for_a_watchdog_that_has_not_left_the_result(compiled, place, client, is_late):
    """
    As long as it lives, also if the heir has made the claim file before it saw the slot.
    """
    watched = place.watch(compiled, "exit 2")
    assert 2 == watched.result().code
    os.kill(watched.pid, signal.SIGSTOP)
    watched.let_go()
    if is_late:
        place.file.touch()
    assert "timeout" == place.recover(0.2).failure
    assert is_late == place.file.exists()
    os.kill(watched.pid, signal.SIGCONT)

    assert 2 == place.recover().code
    client.kill()
    client.wait()
    watched.wait()


def test_a_slot_that_is_filled_while_an_heir_takes_the_claim_is_seen(place, monkeypatch):
    """
    It looks once more when its file is there, and leaves that file empty.
    """
    looks = iter([None, str(place.slot)])
    monkeypatch.setattr(hook_results, "find_slot", lambda _: next(looks, str(place.slot)))
    place.slot.write_bytes(bytes(128))
    with place.slot.open("rb") as file:
        flock(file, LOCK_EX)

        assert "timeout" == place.recover(0.1).failure
    assert b"" == place.file.read_bytes()


def test_a_hook_that_somebody_else_has_taken_does_not_begin(compiled, place, tmp_path):
    """
    Its claim file is there when the slot is filled; the slot goes, and the other one runs the hook.
    """
    place.file.touch()
    place.watch(compiled, f"touch {tmp_path}/ran").wait()

    assert not place.slot.exists()
    assert not (tmp_path / "ran").exists()
    assert place.recover() is None


def test_where_no_slot_can_be_made_a_claim_file_is(compiled, place):
    """
    Before the hook begins.
    """
    place.slot = place.slot.parent / "nothing" / "slot"
    watched = place.watch(compiled, f"ls {place.file.parent}")
    assert place.file.name.encode() == watched.result().stdout.strip()
    watched.say(FORGET)
    watched.let_go()
    watched.wait()

    assert not place.file.exists()


@pytest.mark.parametrize("order", [b"", b"\x10\0\0\0", bytes(16), b"\xff" * 16, b"\x40\0\0\0\x20\0\0\0" + b"\xff" * 56])
def test_an_order_that_is_none_starts_nothing(compiled, order):
    """
    It ends.
    """
    hangup, ours = os.pipe()
    process = subprocess.Popen(
        [compiled, "--watch", str(hangup), str(hangup), ""], pass_fds=[hangup], stdin=subprocess.DEVNULL
    )
    os.close(hangup)
    os.write(ours, order)
    os.close(ours)

    assert 0 == process.wait(20)
