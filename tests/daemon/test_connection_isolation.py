"""Who is not let in, and who is sent away: other users, and callers whose world is another one."""

import ctypes
import os
import shutil
import socket
import subprocess

import pytest

from hookonce.client.daemon_endpoints import with_address
from tests.daemon.installed_home import TOOL, command, payload, refused
from tests.handlers.processes import eventually

NOBODY = 65534
NO = command("echo no >&2; exit 2")
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 38, 22


@pytest.fixture
def refusing(warm):
    """A home with a daemon and a hook that refuses."""
    warm.hooks(NO)
    assert refused(warm.tool(), "no")
    return warm


def confine():
    """Never have more rights than now."""
    assert 0 == ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def filter_calls():
    """Let the system look at every call of ours, and allow it."""
    confine()
    allow = (ctypes.c_ushort * 4)(6, 0, 0, 0x7FFF)  # return "allow", of which this is the upper half
    program = (ctypes.c_byte * 16).from_buffer_copy(
        (1).to_bytes(8, "little") + ctypes.addressof(allow).to_bytes(8, "little")
    )
    assert 0 == ctypes.CDLL(None).prctl(PR_SET_SECCOMP, 2, program, 0, 0)


def as_nobody(work):
    """What somebody else gets when they try."""
    if os.getuid() != 0:
        pytest.skip("only root can be somebody else")
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            said = repr(work())
        except BaseException as problem:  # noqa: BLE001  told to whoever asks
            said = type(problem).__name__
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as told:
        said = told.read()
    os.waitpid(pid, 0)
    return said


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_another_user_cannot_reach_the_socket(refusing):
    """
    Neither the socket nor anything beside it.
    """

    def reach():
        with socket.socket(socket.AF_UNIX) as line:
            with_address(str(refusing.socket), line.connect)

    assert "PermissionError" == as_nobody(reach)
    assert "PermissionError" == as_nobody(lambda: [*refusing.house.iterdir()])
    assert 0o700 == refusing.house.stat().st_mode & 0o777
    assert 0 == refusing.socket.stat().st_mode & 0o077


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_another_user_is_not_answered_even_where_the_folder_is_open(refusing):
    """
    Whose process it is counts, and not only the folder.
    """
    folders = [folder for folder in (refusing.house, *refusing.house.parents) if folder.stat().st_mode & 0o077 == 0]
    modes = {folder: folder.stat().st_mode for folder in folders}
    frame = refusing.frame(payload())
    before = refusing.status()["answered"]

    def say():
        return refusing.say(frame)

    try:
        for folder in folders:
            folder.chmod(0o755)
        refusing.socket.chmod(0o666)
        said = as_nobody(say)
    finally:
        for folder, mode in modes.items():
            folder.chmod(mode)
    assert "b''" == said
    assert before == refusing.status()["answered"]


@pytest.mark.parametrize("how", [confine, filter_calls])
def test_a_confined_caller_has_its_hooks_run_where_it_is(refusing, how):
    """
    The same answer, which is not the daemon's.
    """
    before = refusing.status()

    assert refused(refusing.tool(preexec_fn=how), "no")
    after = refusing.status()
    assert (before["answered"], before["pid"], 1) == (after["answered"], after["pid"], after["sandboxed"] - before["sandboxed"])


@pytest.mark.parametrize("how", [["--mount"], ["--pid", "--fork"]])
def test_a_caller_with_other_mounts_or_processes_has_its_hooks_run_where_it_is(refusing, how):
    """
    The same answer, which is not the daemon's.
    """
    words = ["unshare", *how]
    if not shutil.which("unshare") or subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("namespaces cannot be made here")
    before = refusing.status()
    ran = subprocess.run(
        [*words, refusing.client, *TOOL], input=payload(), env=refusing.env, cwd="/", capture_output=True, check=False
    )

    assert refused((ran.returncode, ran.stdout, ran.stderr), "no")
    assert (before["answered"], before["sandboxed"] + 1) == tuple(refusing.status()[key] for key in ("answered", "sandboxed"))


def test_a_daemon_that_a_confined_caller_has_started_makes_room_for_another_one(home):
    """
    It serves who is confined as it is; whoever is not is answered without it, and the next one finds a better one.
    """
    home.hooks(NO)

    def is_started():
        assert refused(home.tool(preexec_fn=confine), "no")
        return home.status() is not None

    assert eventually(is_started, 30)
    old = home.status()["pid"]
    assert refused(home.tool(), "no")
    assert eventually(lambda: old not in home.daemons(), 30)
    assert old != home.warm()["pid"]
