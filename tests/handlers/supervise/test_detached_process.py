"""Hooks that nobody waits for: started at once, never too many, never for ever, and heard of in the log."""

import os
import time
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock

import pytest

from hookonce.base import paths
from hookonce.handlers.command import CommandOperation, ProcessContext
from hookonce.handlers.supervise import detached_process
from hookonce.store.privacy.sanitize import sanitize_output
from tests.handlers.processes import eventually, running, word


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of our own, and a project in it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / ".git" / "HEAD").touch()
    return tmp_path


@pytest.fixture
def start(home):
    """Start a hook of that project."""
    world = ProcessContext(cwd=str(home / "project"), env=dict(os.environ))
    return lambda command: detached_process.run_detached(CommandOperation(command, b"{}", world, 0), command, world, sanitize_output)


def log():
    """What our log says, without the times."""
    text = paths.log_path().read_text(encoding="utf-8", errors="replace") if paths.log_path().exists() else ""
    return [line.split(" ", 1)[-1] for line in text.splitlines()]


def count(words):
    return sum(words in line for line in log())


@pytest.mark.covers("HIF-16", "OH-38", "HIF-107")
def test_nobody_waits_for_it_and_the_log_tells_of_its_beginning_and_its_end(start):
    """
    The call goes on at once; what the hook says on either output is kept, with how it ended.
    """
    begin = time.monotonic()
    ran = start("sleep 0.6; cat; echo ' said'; echo aside >&2; exit 3")

    assert (0, None) == (ran.code, ran.failure)
    assert time.monotonic() - begin < 0.5
    assert eventually(lambda: count("async hook ended (exit code 3)"))
    assert log()[0].startswith("async hook started by process ")
    assert log()[-2:] == ["   | {} said", "   | aside"]
    assert 0o600 == paths.log_path().stat().st_mode & 0o777


def test_it_is_nobodys_child_and_holds_nothing_of_ours(start, tmp_path):
    """
    An agent that waits until our pipes are closed does not wait for it.
    """
    read, write = os.pipe()
    os.set_inheritable(write, True)
    start(f"sleep 0.3; ps -o sid= -p $PPID >{tmp_path / 'session'}")
    os.close(write)

    assert b"" == os.read(read, 1)
    os.close(read)
    assert eventually(lambda: count("async hook ended (exit code 0)"))
    assert os.getsid(0) != int((tmp_path / "session").read_text(encoding="ascii"))


def test_its_output_is_kept_up_to_64_kilobytes(start):
    """
    More than that is thrown away.
    """
    start("head -c 3000000 /dev/zero | tr '\\0' x")

    assert eventually(lambda: count("async hook ended"))
    assert eventually(lambda: 64 * 1024 == paths.log_path().read_bytes().count(b"xxxx") * 4)  # it is still being written


@pytest.mark.covers("HIF-107")
def test_it_is_killed_after_its_time_with_all_that_it_started(start, monkeypatch):
    """
    Ten minutes; here a moment.
    """
    mark = word()
    assert 600 == detached_process.MAX_DETACHED_S
    monkeypatch.setattr(detached_process, "MAX_DETACHED_S", 0.3)
    start(f"(env -i setsid sleep {mark} &); sleep {mark}")

    assert eventually(lambda: count("async hook ended (timeout)"))
    assert [] == running(f"sleep\0{mark}")


def test_eight_of_a_project_run_at_once_and_the_others_wait_for_their_turn(start, monkeypatch, tmp_path):
    """
    All of them run in the end, never more than eight beside each other.
    """
    mark = word()
    monkeypatch.setattr(detached_process, "_SLOT_POLL_S", 0.01)
    for _ in range(20):
        assert start(f": {mark}; until [ -e {tmp_path}/go ]; do sleep 0.01; done").failure is None

    def at_once():
        return len(sessions(running(f"sh\0-c\0: {mark}")))

    assert eventually(lambda: at_once() == 8, 20)
    assert not eventually(lambda: at_once() != 8, 0.3)
    (tmp_path / "go").touch()
    assert eventually(lambda: count("async hook ended (exit code 0)") == 20, 20)


def sessions(pids):
    """A hook is a session; what it starts looks like itself for a moment."""
    found = set()
    for pid in pids:
        with suppress(OSError):
            found.add(os.getsid(pid))
    return found


def test_another_project_does_not_wait_for_this_one(start, home):
    """
    Eight are eight of one project.
    """
    mark = word()
    for _ in range(8):
        start(f"sleep {mark}")
    elsewhere = ProcessContext(cwd=str(home), env=dict(os.environ))
    detached_process.run_detached(CommandOperation("echo here", b"", elsewhere, 0), "echo here", elsewhere, sanitize_output)
    try:
        assert eventually(lambda: count("async hook ended (exit code 0)") == 1)
    finally:
        assert eventually(lambda: len(running(f"sleep\0{mark}")) == 8)
        for pid in running(f"sleep\0{mark}"):
            os.kill(pid, 9)
    assert eventually(lambda: count("async hook ended") == 9)


def test_too_many_that_wait_are_refused_and_told_of(start, monkeypatch):
    """
    A hook for which there is no place, not even to wait, is a hook that failed to start.
    """
    monkeypatch.setattr(detached_process, "MAX_PROCESSES_PER_PROJECT", 1)
    monkeypatch.setattr(detached_process, "_MAX_SLOTS", 2)
    monkeypatch.setattr(detached_process, "_SLOT_POLL_S", 0.01)
    endings = [start("sleep 1").failure for _ in range(3)]

    assert [None, None] == endings[:2]
    assert endings[2].startswith("not started: ")
    assert eventually(lambda: count("async hook ended (exit code 0)") == 2)
    assert 1 == count("async hook not started")


def test_one_that_waited_too_long_never_runs(start, monkeypatch, tmp_path):
    """
    Its ten minutes are for waiting too.
    """
    monkeypatch.setattr(detached_process, "MAX_PROCESSES_PER_PROJECT", 1)
    monkeypatch.setattr(detached_process, "_SLOT_POLL_S", 0.01)
    start("sleep 0.5")
    monkeypatch.setattr(detached_process, "MAX_DETACHED_S", 0.1)
    start(f"touch {tmp_path / 'ran'}")

    assert eventually(lambda: count("others ran all the time") == 1)
    assert eventually(lambda: count("async hook ended (exit code 0)") == 1)
    assert not (tmp_path / "ran").exists()


def test_it_is_a_running_hook_to_whatever_it_starts(start, tmp_path):
    """
    The mark that it hands down names a process above it that is alive, and goes away with it.
    """
    start(f"cat {marks()}/$HOOKONCE_PARENT >{tmp_path / 'mark'}")

    assert eventually(lambda: count("async hook ended (exit code 0)"))
    runner, depth = (tmp_path / "mark").read_text(encoding="ascii").split()
    assert "1" == depth
    assert f"async hook started by process {runner}: " in log()[0]
    assert [] == [*marks().iterdir()]


def marks():
    from hookonce.base.runtime_dir import runtime_file

    return runtime_file("handlers", "x").parent


def test_one_for_which_there_is_no_process_holds_no_place(start, monkeypatch):
    """
    The next ones have all places there are.
    """

    def none_left(*_):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with monkeypatch.context() as patch:
        patch.setattr(detached_process, "fork_child", none_left)
        assert ["not started: [Errno 11] Resource temporarily unavailable"] * 3 == [start("true").failure for _ in range(3)]

    places = [os.open(file, os.O_RDWR) for file in sorted(detached_process.runtime_file("async", "x").parent.iterdir())]
    for place in places:
        flock(place, LOCK_EX | LOCK_NB)
        os.close(place)
    assert 1 == len(places)
