"""What can become of a daemon, its socket, its files and its disk: everybody is answered, and one daemon remains."""

import os
import resource
import shutil
import socket
import subprocess
from contextlib import closing
from functools import partial

import pytest

from hookonce.client.daemon_endpoints import with_address
from hookonce.dispatch.fail_mode import FAIL_CLOSED_REASON
from hookonce.store import database
from hookonce.store.spool import files
from tests.daemon.installed_home import TOOL, command, payload, refused
from tests.handlers.processes import eventually

SMALL = ["mount", "-t", "tmpfs", "-o", "size=64k", "small"]
NO = command("echo no >&2; exit 2")


@pytest.fixture
def refusing(home):
    """A home with a hook that refuses."""
    home.hooks(NO)
    return home


def is_right(home):
    """Whether a call is answered as the hook says."""
    return refused(home.tool(), "no")


def remains_one(home):
    """Whether calls go on until there is one daemon, which answers, and no second one."""
    return eventually(lambda: is_right(home) and len(home.daemons()) == 1 and home.status() is not None, 30)


def test_fifty_calls_without_a_daemon_are_answered_and_start_one(refusing):
    """
    Whether it comes in time for them or not.
    """
    endings = refusing.crowd([(TOOL, payload(session=f"s{number}")) for number in range(50)], at_once=50)

    assert all(refused(ending, "no") for ending in endings)
    assert len(refusing.daemons()) <= 1
    assert remains_one(refusing)


def test_a_daemon_whose_socket_was_removed_leaves_and_another_one_comes(refusing):
    """
    Nobody could reach it any more.
    """
    pid = refusing.warm()["pid"]
    refusing.socket.unlink()

    assert is_right(refusing)
    assert eventually(lambda: pid not in refusing.daemons(), 30)
    assert remains_one(refusing)


def test_a_socket_that_somebody_left_behind_keeps_nobody_away(refusing):
    """
    It is replaced, and calls are answered meanwhile.
    """
    with socket.socket(socket.AF_UNIX) as old:
        with_address(str(refusing.socket), old.bind)

    assert is_right(refusing)
    assert remains_one(refusing)


def test_a_socket_that_was_replaced_by_another_daemons_is_left_alone(refusing):
    """
    The old daemon leaves without taking the new one's socket away.
    """
    pid = refusing.warm()["pid"]
    refusing.socket.unlink()
    with socket.socket(socket.AF_UNIX) as new:
        with_address(str(refusing.socket), new.bind)
        inode = refusing.socket.stat().st_ino

        assert eventually(lambda: pid not in refusing.daemons(), 30)
        assert inode == refusing.socket.stat().st_ino
    assert remains_one(refusing)


def test_a_build_that_was_replaced_is_not_answered_by_the_old_daemon(own_package):
    """
    The old one leaves, also when the client was not replaced yet, and a new one comes.
    """
    home, package = own_package
    pid = home.warm()["pid"]
    build = home.status()["build"]
    new = package / "errors.new"
    new.write_text((package / "errors.py").read_text() + "\n")
    new.replace(package / "errors.py")

    assert is_right(home)
    assert eventually(lambda: pid not in home.daemons(), 30)
    assert remains_one(home)
    assert build != home.status()["build"]


def test_a_package_that_was_upgraded_runs_no_hook_in_the_old_daemon(own_package):
    """
    What it has not imported yet is of another build: the call is answered by the new one, and the old daemon leaves.
    """
    home, package = own_package
    before = home.warm()
    package.rename(package.with_name("old"))
    shutil.copytree(package.with_name("old"), package)
    (package / "handlers" / "verdict.py").write_text((package / "handlers" / "verdict.py").read_text() + "\n")

    assert is_right(home)
    after = home.status()
    assert after is None or before["pid"] != after["pid"] or before["answered"] == after["answered"]
    assert eventually(lambda: before["pid"] not in home.daemons(), 30)
    assert remains_one(home)


def test_a_client_of_another_build_is_answered_without_the_daemon(own_package):
    """
    A daemon that is current stays for the others.
    """
    home, _ = own_package
    pid = home.warm()["pid"]
    file = home.bin / "interpreter"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], "other", *lines[2:], ""]))
    before = home.status()["answered"]

    assert is_right(home)
    assert (pid, before) == (home.status()["pid"], home.status()["answered"])


@pytest.mark.part(2)
@pytest.mark.parametrize("fault", ["raise SystemExit(3)", "import nothing_of_that_name", "1/0", "this is no Python"])
def test_a_daemon_that_cannot_start_costs_nobody_an_answer(own_package, fault):
    """
    It is tried once, and calls are answered without it.
    """
    home, package = own_package
    (package / "daemon" / "__main__.py").write_text(fault + "\n")

    assert [True] * 3 == [is_right(home) for _ in range(3)]
    assert [] == home.daemons()
    assert (home.house / "daemon.failed").exists()


def test_a_daemon_that_dies_while_it_starts_is_not_missed(own_package):
    """
    An exception in the midst of everything, which its log tells.
    """
    home, package = own_package
    (package / "daemon" / "server.py").write_text("raise RuntimeError('on its way')\n")

    assert is_right(home)
    assert eventually(lambda: not home.daemons(), 30)
    assert "on its way" in (home.bin.parent / "hookonce.log").read_text(encoding="utf-8")


def test_a_daemon_that_hangs_before_it_listens_is_waited_for_only_a_moment(own_package):
    """
    It holds the lock; everybody is answered without it.
    """
    home, package = own_package
    (package / "daemon" / "__main__.py").write_text("import time\ntime.sleep(600)\n")

    assert [True] * 2 == [is_right(home) for _ in range(2)]
    assert len(home.daemons()) <= 1


def test_an_interpreter_that_is_none_leaves_the_fail_mode(home):
    """
    What was made beforehand is said, and nothing hangs.
    """
    home.hooks(NO | {"on_failure": "closed"})
    home.warm()
    (home.bin / "interpreter").write_text("/bin/false\nbuild\n/nowhere\n")
    home.end()
    ending = home.tool()

    assert (0, b"") == (ending[0], ending[2])
    assert b'"permissionDecision":"deny"' in ending[1].replace(b" ", b"")


def test_a_caller_that_may_write_no_files_hears_the_fail_mode(home):
    """
    That a hook runs only once for a call could not be promised.
    """
    home.hooks(NO | {"on_failure": "closed"})
    few = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (0, 0))
    assert refused(home.tool(env=home.cold_env), "no")  # somebody has to have made what the client then says

    assert [True] * 3 == [refused(home.tool(preexec_fn=few), FAIL_CLOSED_REASON) for _ in range(3)]


def known(home):
    """How many calls are in the store, or counted as lost."""
    with home.inside(), closing(database.open_reader()) as connection:
        kept = connection.execute("SELECT count(*) FROM events WHERE type = 'before_tool_execute'").fetchone()[0]
        return kept + files.lost_record_count()


def test_a_full_disk_costs_records_and_no_answers(refusing):
    """
    What cannot be written before the answer is in the store a moment later, or counted as lost.
    """
    disk = refusing.bin.parent / "spool"
    disk.mkdir()
    if os.getuid() != 0 or subprocess.run([*SMALL, disk], capture_output=True, check=False).returncode:
        pytest.skip("a small disk needs the right to mount one")
    try:
        refusing.warm()
        for number in range(100):
            assert refused(refusing.tool(session=f"s{number}"), "no")
        assert eventually(lambda: known(refusing) >= 100, 30)
        refusing.end()
    finally:
        subprocess.run(["umount", "-l", disk], check=True)

