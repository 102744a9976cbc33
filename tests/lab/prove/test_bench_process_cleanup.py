"""Processes that an agent has left behind are found by their mark, however they have hidden, and ended; others are not."""

import os
import signal
import subprocess
import sys
from uuid import uuid4

import pytest

from hookonce.lab.prove import bench
from tests.handlers.processes import eventually, running, word

# Goes into the background as daemons do: its parents are gone, and its session is its own.
DAEMON = """
import os, signal, sys
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
if sys.argv[2] == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.execvp("sh", ["sh", "-c", "trap '' TERM; while :; do sleep " + sys.argv[1] + "; done"])
os.execvp("sleep", ["sleep", sys.argv[1]])
"""
_LONG = 30  # seconds that nothing takes, however busy the machine is


@pytest.fixture
def started():
    """How processes are started here; whatever is left of them at the end is ended."""
    words = []

    def start(run, manner="gentle"):
        words.append(word())
        env = {"PATH": os.environ["PATH"]} | ({bench.RUN_VARIABLE: run} if run else {})
        subprocess.run([sys.executable, "-I", "-c", DAEMON, words[-1], manner], env=env, check=True, timeout=_LONG)
        assert eventually(lambda: ours(words[-1]), _LONG)
        return words[-1]

    yield start
    for pid in [pid for one in words for pid in running(one)]:
        os.kill(pid, signal.SIGKILL)


def ours(one):
    """The processes that sleep so long, once they are what they were to become."""
    return [pid for pid in running(one) if _command(pid).startswith(("sleep\0", "sh\0"))]


def _command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return ""


def gone(one):
    """Whether nobody sleeps so long any more."""
    return eventually(lambda: not running(one), _LONG)


def test_a_process_that_has_hidden_is_ended_and_named(started):
    """
    Neither its parent nor its session tells whose it is, but its environment does.
    """
    run = uuid4().hex
    one = started(run)
    assert [f"sleep {one}"] == bench.end_processes(run)
    assert gone(one)


def test_one_that_does_not_listen_is_ended_all_the_same(started, monkeypatch):
    """
    After it was asked, and had time.
    """
    monkeypatch.setattr(bench, "_TERM_TIMEOUT_S", 0.2)
    run = uuid4().hex
    one = started(run, "stubborn")
    assert bench.end_processes(run)
    assert gone(one)


def test_all_of_them_are_ended(started):
    """
    And each kind is named once.
    """
    run = uuid4().hex
    several = [started(run) for _ in range(3)]
    assert sorted(f"sleep {one}" for one in several) == bench.end_processes(run)
    assert all(map(gone, several))


def test_nobody_else_is_ended(started):
    """
    Neither those of another run, nor those of none, nor one whose mark only begins alike.
    """
    run = uuid4().hex
    others = [started(uuid4().hex), started(None), started(f"{run}0")]
    mine = started(run)
    assert [f"sleep {mine}"] == bench.end_processes(run)
    assert gone(mine)
    assert all(map(ours, others))


def test_where_nothing_is_left_nothing_is_named():
    """
    Which is what most agents should do.
    """
    assert [] == bench.end_processes(uuid4().hex)


def test_we_do_not_end_ourselves():
    """
    Though the mark may be ours, when the lab is run by an agent in the lab.
    """
    run = uuid4().hex
    program = f"from hookonce.lab.prove import bench; print(bench.end_processes({run!r}), end='')"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), bench.RUN_VARIABLE: run}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=_LONG, check=True)
    assert "[]" == done.stdout
