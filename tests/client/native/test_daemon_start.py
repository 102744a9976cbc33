"""The daemon's start: one for all who call, in a clean world, and not again and again."""

import os
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path

import pytest

from hookonce.client.daemon_endpoints import with_address
from tests.client.native.client_env import COLD, SERVER

WARM = (0, b"warm", b"")


@pytest.fixture
def house(world):
    """The runtime directory."""
    return world.house()


@pytest.fixture
def server(world, house):
    """An interpreter that becomes a daemon, which is ended with the test."""
    world.interpret(warm=SERVER.replace("HOME", str(world.home)).replace("HOUSE", str(house)))
    yield
    with suppress(FileNotFoundError, ProcessLookupError):  # it was never started, or has ended by itself
        os.kill(int((world.told / "pid").read_text()), signal.SIGKILL)


def answered(world):
    """Call until the daemon is there: on a busy machine it may come too late for the first."""
    found = world.run("x")
    until = time.monotonic() + 20
    while found != WARM and time.monotonic() < until:
        assert COLD == found
        found = world.run("x")
    return found


@pytest.mark.usefixtures("server")
def test_a_call_without_a_daemon_starts_it(world):
    """
    The same call is answered by it, or by Python if it took too long, and the next ones find it.
    """
    assert WARM == answered(world)
    assert WARM == world.run("x")
    assert 1 == world.starts()


@pytest.mark.usefixtures("server")
def test_fifty_calls_at_once_start_one_daemon(world):
    """
    Everybody is answered, by it or by Python.
    """
    calls = [world.start("x") for _ in range(50)]
    for call in calls:
        call.stdin.close()
    endings = []
    for call in calls:
        with call:
            endings.append((call.wait(60), call.stdout.read(), call.stderr.read()))

    assert set(endings) <= {WARM, COLD}
    assert 1 == world.starts()


@pytest.mark.usefixtures("server")
def test_a_socket_that_nobody_listens_at_is_no_daemon(world, house):
    """
    One was killed: the next call starts another.
    """
    with socket.socket(socket.AF_UNIX) as old:
        with_address(str(house / "socket"), old.bind)
    world.interpret(warm=f"rm '{house}/socket'; " + SERVER.replace("HOME", str(world.home)).replace("HOUSE", str(house)))

    assert WARM == answered(world)
    assert 1 == world.starts()


@pytest.mark.usefixtures("server")
def test_it_lives_in_a_clean_world(world, house):
    """
    Root directory, four variables, nothing of the caller's descriptors, the lock as the fourth, a session of its own.
    """
    read, write = os.pipe()
    env = {**world.env, "LANG": "de_DE.UTF-8", "PYTHONPATH": "/evil", "LD_PRELOAD": "", "SECRET": "x"}
    with world.start("x", env=env, pass_fds=[write], cwd=world.home, umask=0) as process:
        os.close(write)
        process.communicate(b"{}", timeout=60)
    answered(world)
    os.close(read)
    pid = int((world.told / "pid").read_text())
    variables = {line for line in (world.told / "warm.environ").read_text().split("\0") if line}

    assert {**dict.fromkeys(range(3), "/dev/null"), 3: str(house / "daemon.lock")} == world.descriptors("warm")
    ours = {"PATH=/usr/local/bin:/usr/bin:/bin", "MALLOC_MMAP_THRESHOLD_=131072"}
    assert {f"HOME={world.home}", "LANG=de_DE.UTF-8", *ours} == variables
    assert "/\n0077\n" == (world.told / "warm.cwd").read_text()
    assert f"-I -S {world.home}/lib/hookonce/daemon/__main__.py {world.bin}\n" == (world.told / "started").read_text()
    assert os.getsid(0) != os.getsid(pid)
    assert os.getpid() != int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    assert 0o600 == (house / "daemon.lock").stat().st_mode & 0o777


def test_a_start_that_failed_is_not_tried_again_for_a_while(world, house):
    """
    Half a minute later it is.
    """
    assert COLD == world.run("x")
    assert (house / "daemon.failed").exists()
    assert COLD == world.run("x")
    assert 1 == world.starts()

    half_a_minute_ago = time.time() - 31
    os.utime(house / "daemon.failed", (half_a_minute_ago, half_a_minute_ago))
    assert COLD == world.run("x")
    assert 2 == world.starts()


def test_one_that_lives_without_answering_is_not_started_twice(world, house):
    """
    It holds the lock; calls do not wait for it for ever, and it did not fail.
    """
    world.interpret(warm=f"echo $$ >{world.told}/pid; exec sleep 60")
    try:
        assert [COLD, COLD] == [world.run("x"), world.run("x")]
        assert 1 == world.starts()
        assert not (house / "daemon.failed").exists()
    finally:
        os.kill(int((world.told / "pid").read_text()), signal.SIGKILL)


def test_without_an_interpreter_nothing_is_started(world, house):
    """
    And nothing is waited for.
    """
    (world.home / "python").unlink()

    assert (0, b"", b"") == world.run("x")
    assert [] == [*house.iterdir()]


def test_a_home_without_a_runtime_directory_gets_none_from_us(world):
    """
    Python makes it; a daemon that lies nowhere cannot be started.
    """
    assert COLD == world.run("x")
    assert (0, "-") == (world.starts(), world.words()[-1])
