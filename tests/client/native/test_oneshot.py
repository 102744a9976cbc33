"""The cold way: what Python is given, and what becomes of its ending."""

import fcntl
import os
import signal
import subprocess
import sys

import pytest

from tests.client.native.client_env import COLD
from tests.handlers.processes import eventually, running, word

SLOTS = 2 * os.sysconf("SC_NPROCESSORS_ONLN")


@pytest.fixture
def slots(world):
    """The directory of the slots, in a house where no daemon is tried."""
    (world.house() / "daemon.failed").touch()
    place = world.house() / "slots"
    place.mkdir(mode=0o700)
    return place


def hold(place, count):
    """Take that many slots."""
    held = [(place / str(number)).open("w") for number in range(count)]
    for file in held:
        fcntl.flock(file, fcntl.LOCK_EX)
    return held


def test_python_is_given_the_frame_both_outputs_and_nothing_else(world, slots):
    """
    The frame as a file from its beginning, a stderr that nobody hears by accident, ours as descriptor 3, the slot as 4.
    """
    read, write = os.pipe()
    with world.start("x", "y", pass_fds=[write], cwd="/", umask=0o005) as process:
        out, err = (f"pipe:[{os.fstat(pipe.fileno()).st_ino}]" for pipe in (process.stdout, process.stderr))
        process.communicate(b"{}", timeout=60)
    os.close(read)
    os.close(write)
    given = world.descriptors("cold")

    assert given.pop(0).endswith("(deleted)")
    assert {1: out, 2: "/dev/null", 3: err, 4: str(slots / "0")} == given
    assert ["-I", "-S", f"{world.home}/lib/hookonce/client/oneshot.py", str(world.bin), str(process.pid), "4"] == world.words()
    assert "/\n0005\n" == (world.told / "cold.cwd").read_text()


def test_python_has_an_environment_of_its_own(world):
    """
    The caller's is in the frame, and would choose what our interpreter loads.
    """
    world.run("x", env={**world.env, "LANG": "de_DE.UTF-8", "LD_BIND_NOW": "1", "PATH": "/tmp", "odd.name": "y"})
    found = dict(line.split("=", 1) for line in (world.told / "cold.environ").read_text().split("\0")[:-1])

    assert {"HOME", "LANG", "MALLOC_MMAP_THRESHOLD_", "PATH"} == found.keys()
    assert ("de_DE.UTF-8", "/usr/local/bin:/usr/bin:/bin", world.env["HOME"]) == (found["LANG"], found["PATH"], found["HOME"])


def test_a_slot_is_the_first_that_is_free(world, slots):
    """
    And free again afterwards.
    """
    held = hold(slots, SLOTS - 1)
    world.run("x")
    for file in held:
        file.close()

    assert str(slots / str(SLOTS - 1)) == world.descriptors("cold")[4]
    assert all(file.close() is None for file in hold(slots, SLOTS))


def test_without_a_free_slot_a_call_waits_for_one(world, slots):
    """
    As many interpreters as the machine can run, not as many as there are calls.
    """
    held = hold(slots, SLOTS)
    with world.start("x") as process:
        process.stdin.close()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        assert not (world.told / "words").exists()
        for file in held:
            file.close()
        assert 7 == process.wait(30)

    assert "4" == world.words()[-1]


@pytest.mark.slow
def test_after_four_seconds_it_goes_on_without(world, slots):
    """
    An answer is better than order.
    """
    held = hold(slots, SLOTS)
    try:
        assert COLD == world.run("x")
        assert "-" == world.words()[-1]
    finally:
        for file in held:
            file.close()


@pytest.mark.part(2)
@pytest.mark.parametrize("code", range(10))
def test_a_hundred_more_than_its_exit_code_is_an_ending(world, code):
    """
    Ours is the code, and all was said.
    """
    world.interpret(cold=f"printf said; exit {100 + code}")

    assert (code, b"said", b"") == world.run("amp")


@pytest.mark.parametrize("how", ["exit 0", "exit 1", "exit 2", "exit 99", "exit 110", "exit 127", "kill -9 $$", "kill -SEGV $$"])
def test_any_other_ending_is_an_accident(world, how):
    """
    An agent could take it for a decision.
    """
    world.interpret(cold=f"echo trouble >&2; {how}")

    assert (0, b"{}\n", b"") == world.run("amp")


@pytest.mark.parametrize("code", [0, 3])
def test_whoever_ignores_the_end_of_children_hands_that_down_to_us_in_vain(world, code):
    """
    We see how Python ended, whatever our caller does with its own children.
    """
    world.interpret(cold=f"exit {100 + code}")
    script = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", script, world.client, "amp"], input=b"{}", capture_output=True, check=False, env=world.env)

    assert (code, b"") == (done.returncode, done.stdout)


@pytest.mark.native("its Python looks itself whether the shell is still there, also when it is cold; tests/e2e shows that")
def test_whoever_kills_us_kills_python(world):
    """
    Nobody needs its answer any more.
    """
    mark = word()
    world.interpret(cold=f"exec sleep {mark}")
    with world.start("x") as process:
        process.stdin.close()
        assert eventually(lambda: running(f"sleep\0{mark}"), 10)
        process.send_signal(signal.SIGKILL)

    assert eventually(lambda: not running(f"sleep\0{mark}"), 10)
