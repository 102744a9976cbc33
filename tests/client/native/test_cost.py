"""What a warm call and a hook cost, counted and not timed: pages of memory that are touched, and system calls."""

import fcntl
import os
import shutil
import socket
import subprocess

import pytest

from hookonce.base.runtime_location import DAEMON_FILE
from hookonce.base.wire import ANSWER, encode_reply
from hookonce.handlers.command import CommandOperation, ProcessContext, encode_order
from hookonce.handlers.supervise.hook_results import FORGET
from tests.client.native.client_env import Daemon, World, hear, root_mount

MAX_PAGE_FAULTS = 12  # 38 with a static glibc, 4 for a program that does nothing
MAX_HOOK_CALLS = 14  # 13 of its watchdog, from the order to the result, 4 more with a claim
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


def test_a_hook_that_says_nothing_wakes_its_watchdog_once(compiled, tmp_path):
    """
    By its end. Its pipes were there before its order came, and are closed after its result was told.
    """
    if shutil.which("strace") is None:
        pytest.skip("there is no strace here")
    ours, theirs = socket.socketpair()
    order = encode_order(CommandOperation("exit 3", b"given", ProcessContext(cwd="/", env={}), 1))
    line = ["strace", "-o", tmp_path / "calls", compiled, "--watch", *[str(theirs.fileno())] * 2, ""]
    with ours, theirs, subprocess.Popen(line, pass_fds=[theirs.fileno()], stderr=subprocess.DEVNULL) as process:
        theirs.close()
        for word in (b"", FORGET):
            ours.sendall(word + order)
            said = ours.recv(1 << 16)
        ours.sendall(FORGET)
        ours.shutdown(socket.SHUT_WR)
        process.wait()
    calls = (tmp_path / "calls").read_text().splitlines()
    if not calls:
        pytest.skip("nobody may be traced here")
    told = [number for number, call in enumerate(calls) if call.startswith("write(4")][1]
    came = max(number for number, call in enumerate(calls[:told]) if call.startswith("read(3"))
    names = [call.partition("(")[0] for call in calls[came + 1 : told]]

    assert said.endswith(b"3")
    assert (1, 0) == (names.count("ppoll"), names.count("pipe2")), names
    assert len(names) <= MAX_HOOK_CALLS, names
