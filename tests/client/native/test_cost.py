"""What a warm call costs, counted and not timed: pages of memory that are touched, and system calls."""

import fcntl
import os
import shutil
import subprocess

import pytest

from hookonce.base.runtime_location import DAEMON_FILE
from hookonce.base.wire import ANSWER, encode_reply
from tests.client.native.client_env import Daemon, World, hear, root_mount

MAX_PAGE_FAULTS = 12  # 38 with a static glibc, 4 for a program that does nothing
MAX_SYSTEM_CALLS = 46  # 45, of which 4 are the start and the end


@pytest.fixture
def world_with_daemon(compiled, tmp_path):
    """A client without a C library, and somebody at the socket who holds the daemon's lock."""
    world = World(compiled, tmp_path)
    with Daemon(world.house()) as daemon, (world.bin / DAEMON_FILE).open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        lock.write(f"{os.getpid()}\n\n{root_mount()}\n")
        lock.flush()
        daemon.act = lambda line: (hear(line), line.sendall(encode_reply(ANSWER, 0)))
        yield world


def payload_file(world):
    """A file with a payload, as a descriptor."""
    (world.home / "payload").write_text("{}")
    return (world.home / "payload").open()


def test_a_warm_call_touches_few_pages(world_with_daemon):
    """
    What it needs lies side by side.
    """
    with payload_file(world_with_daemon) as payload:
        pid = os.posix_spawn(world_with_daemon.client, [world_with_daemon.client, "x"], world_with_daemon.env, file_actions=[(os.POSIX_SPAWN_DUP2, payload.fileno(), 0)])
    _, status, usage = os.wait4(pid, 0)

    assert 0 == status
    assert usage.ru_minflt <= MAX_PAGE_FAULTS


def test_a_warm_call_asks_the_system_little(world_with_daemon):
    """
    And nothing of /proc, which is made anew for each process that asks, unless the path of a socket is too long.
    """
    if shutil.which("strace") is None:
        pytest.skip("there is no strace here")
    with payload_file(world_with_daemon) as payload:
        done = subprocess.run(["strace", "-o", world_with_daemon.home / "calls", world_with_daemon.client, "x"], stdin=payload, env=world_with_daemon.env, capture_output=True, check=False)
    calls = (world_with_daemon.home / "calls").read_text().splitlines() if done.returncode == 0 else []
    if not calls:
        pytest.skip("nobody may be traced here")

    assert [] == [line for line in calls if "/proc" in line and not line.startswith("connect")]
    assert len(calls) <= MAX_SYSTEM_CALLS, calls
