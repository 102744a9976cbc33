"""Attacks on who answers: somebody else at our socket is not believed, and hooks run with the caller's rights."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookonce.base.runtime_location import DAEMON_FILE
from tests.client.native.client_env import COLD, root_mount
from tests.daemon.installed_home import TOOL, command, payload, refused
from tests.handlers.processes import eventually

# Somebody who takes the socket's place and allows everything, after it has confined itself in some way.
IMPOSTOR = """
import ctypes, os, socket, sys
CONFINE
os.chdir(sys.argv[1])
try: os.unlink("socket")
except FileNotFoundError: pass
door = socket.socket(socket.AF_UNIX)
door.bind("socket")
door.listen(8)
open("ready", "w").close()
door.settimeout(30)
said = b"allowed"
while True:
    line, _ = door.accept()
    try:
        line.recv(1 << 20)
        line.sendall(bytes([2]) + bytes(8) + bytes([0]) + len(said).to_bytes(4, "little") + bytes(4) + said)
    except OSError:
        pass
    line.close()
"""
CONFINEMENTS = {
    "no new privileges": "assert 0 == ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)",
    "a user namespace": "assert 0 == ctypes.CDLL(None).unshare(0x10000000)",
    "a mount namespace": "assert 0 == ctypes.CDLL(None).unshare(0x10020000)",
    "both": "assert 0 == ctypes.CDLL(None).unshare(0x10020000); ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)",
}


@pytest.fixture
def impostor():
    """Start one in a runtime folder; it is ended with the test."""
    started = []

    def start(house, confine):
        script = IMPOSTOR.replace("CONFINE", confine)
        started.append(subprocess.Popen([sys.executable, "-c", script, house], stderr=subprocess.DEVNULL))
        if not eventually(lambda: (house / "ready").exists() or started[-1].poll() is not None, 30) or started[-1].poll():
            pytest.skip("this machine lets nobody confine themselves so")

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.part(3)
@pytest.mark.parametrize("confine", CONFINEMENTS.values(), ids=CONFINEMENTS)
def test_a_confined_program_at_our_socket_is_not_believed(world, impostor, confine):
    """
    Both clients let Python answer instead.
    """
    impostor(world.house(), confine)

    assert COLD == world.run("x")
    assert 0 == world.starts()


def test_somebody_like_us_is_believed(world, impostor):
    """
    Else the tests above would show nothing.
    """
    impostor(world.house(), "")

    assert (0, b"allowed", b"") == world.ask("x")


@pytest.mark.native("the other client is of Python itself, whose interpreter has to be one")
def test_another_program_than_the_interpreter_is_not_believed(world, impostor):
    """
    The installation names the interpreter.
    """
    impostor(world.house(), "")
    lines = (world.bin / "interpreter").read_text().splitlines()
    (world.bin / "interpreter").write_text("\n".join([shutil.which("sleep"), *lines[1:]]) + "\n")

    assert (0, b"allowed", b"") != world.run("x")


OWN_MOUNTS = f"1\n{Path('/proc/self/ns/mnt').readlink()}\n"
LOCKS = {
    "read by it": "fd = os.open(PATH, os.O_RDONLY); fcntl.lockf(fd, fcntl.LOCK_SH)",
    "written by another": "fd = os.open(PATH, os.O_RDWR); pid = os.fork(); pid or (ctypes.CDLL(None).prctl(1, 9), fcntl.lockf(fd, fcntl.LOCK_EX), open(PATH + '2', 'w'), time.sleep(60)); wait(PATH + '2')",
    "of the whole file": "fd = os.open(PATH, os.O_RDWR); fcntl.flock(fd, fcntl.LOCK_EX)",
    "given up": "fd = os.open(PATH, os.O_RDWR); fcntl.lockf(fd, fcntl.LOCK_EX); os.close(os.open(PATH, os.O_RDONLY))",
}
CONFINED = CONFINEMENTS["no new privileges"] + "; import fcntl, time; wait = lambda path: [time.sleep(0.01) for _ in iter(lambda: os.path.exists(path), True)]; "


@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS)
def test_no_other_lock_beside_the_client_makes_a_confined_program_our_daemon(world, impostor, lock):
    """
    Only one that is held by whoever answers, and that needs a file that can be written to.
    """
    (world.bin / DAEMON_FILE).write_text(OWN_MOUNTS)
    impostor(world.house(), CONFINED + lock.replace("PATH", repr(str(world.bin / DAEMON_FILE))))

    assert COLD == world.run("x")


@pytest.mark.native("the other client asks the system each time")
def test_whoever_can_write_beside_the_client_is_believed_if_nobody_else_can(world, impostor):
    """
    It could replace the client itself; a folder that is open to others says nothing, nor does one that sees other mounts.
    """
    (world.bin / DAEMON_FILE).write_text(OWN_MOUNTS)
    lock = f"fd = os.open({str(world.bin / DAEMON_FILE)!r}, os.O_RDWR); fcntl.lockf(fd, fcntl.LOCK_EX)"
    impostor(world.house(), CONFINED + lock)

    assert (0, b"allowed", b"") == world.ask("x")
    for other in (OWN_MOUNTS.replace("]", "0]"), OWN_MOUNTS[:-3], OWN_MOUNTS[2:], ""):
        (world.bin / DAEMON_FILE).write_text(other)
        assert COLD == world.run("x")
    (world.bin / DAEMON_FILE).write_text(OWN_MOUNTS)
    world.bin.chmod(0o750)
    assert (0, b"allowed", b"") != world.run("x")


def test_the_daemon_names_the_mount_that_is_its_root(warm):
    """
    By which a client that sees the same files knows it without /proc.
    """
    assert root_mount() == warm.client.with_name(DAEMON_FILE).read_text().splitlines()[2]


@pytest.mark.native("the other client asks the system each time")
def test_the_mount_that_is_the_root_tells_the_same_as_the_namespace(world, impostor):
    """
    In a namespace of its own a caller has another one, even if it sees the same files.
    """
    daemon_file = world.bin / DAEMON_FILE
    daemon_file.write_text(f"1\nmnt:[1]\n{root_mount()}\n")
    impostor(world.house(), CONFINED + f"fd = os.open({str(daemon_file)!r}, os.O_RDWR); fcntl.lockf(fd, fcntl.LOCK_EX)")

    assert (0, b"allowed", b"") == world.ask("x")
    apart = subprocess.run(["unshare", "--user", "--map-current-user", "--mount", world.client, "x"], env=world.env, input=b"", capture_output=True, check=False)
    if b"unshare" in apart.stderr:
        pytest.skip("this machine lets nobody have mounts of their own")
    assert COLD == (apart.returncode, apart.stdout, apart.stderr)
    for other in (f"{root_mount()}0", root_mount()[:-1], ""):
        daemon_file.write_text(f"1\nmnt:[1]\n{other}\n")
        assert COLD == world.run("x")


def test_the_daemon_holds_the_lock_for_as_long_as_it_answers(warm):
    """
    A write lock of its process, which keeps others from the file and ends with it.
    """
    file = os.open(warm.client.with_name(DAEMON_FILE), os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    warm.end()
    fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    os.close(file)


UNSHARED = {"network": "-rn", "user": "-r", "ipc": "-ri", "uts": "-ru", "cgroup": "-rC", "time": "-rT", "mounts": "-rm"}


@pytest.mark.part(3)
@pytest.mark.parametrize("flags", UNSHARED.values(), ids=UNSHARED)
def test_a_confined_callers_hook_runs_inside_its_confinement(warm, flags):
    """
    Never in the daemon, whose namespaces are others.
    """
    if subprocess.run(["unshare", flags, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine lets nobody have such a namespace")
    warm.hooks(command('readlink /proc/self/ns/* >"$SEEN"; echo no >&2; exit 2'))
    seen = warm.home / "seen"
    words = ["unshare", flags, warm.client, *TOOL]
    done = subprocess.run(words, input=payload(), env={**warm.env, "SEEN": str(seen)}, cwd=warm.where, capture_output=True, check=False, timeout=60)

    assert refused((done.returncode, done.stdout, done.stderr), "no")
    own = {str(path.readlink()) for path in Path("/proc/self/ns").iterdir()}
    assert set(seen.read_text().split()) - own


def test_a_callers_hook_has_no_group_that_the_caller_lacks(warm):
    """
    Whoever gave up a group has given it up for its hooks, too.
    """
    words = ["setpriv", "--regid", "65534", "--clear-groups"]
    if shutil.which("setpriv") is None or subprocess.run([*words, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine lets nobody change groups")
    warm.hooks(command('id -G >"$SEEN"; echo no >&2; exit 2'))
    seen = warm.home / "seen"
    env = {**warm.env, "SEEN": str(seen)}
    done = subprocess.run([*words, warm.client, *TOOL], input=payload(), env=env, cwd=warm.where, capture_output=True, check=False, timeout=60)

    assert refused((done.returncode, done.stdout, done.stderr), "no")
    assert "65534" == seen.read_text().strip()
