"""What is left of watchdogs: no descriptors, and no processes that have ended."""

import os
import signal
from pathlib import Path

import pytest

from hookonce.base.spawn import fork
from hookonce.handlers.supervise import watchdog
from hookonce.handlers.supervise.watchdog import Watchdog
from tests.handlers.processes import eventually


def waits(leash, news):
    """One that ends when it is killed."""
    if (pid := fork()) == 0:
        signal.pause()
    return pid


def test_one_that_had_not_ended_is_taken_away_when_it_has(monkeypatch):
    """
    Not before, and once.
    """
    monkeypatch.setattr(watchdog, "_zombie_pids", [])
    begun = []
    Watchdog(lambda *ends: begun.append(waits(*ends)) or begun[0]).close(has_ended=False)
    (pid,) = begun
    watchdog.reap()
    assert [pid] == watchdog._zombie_pids

    os.kill(pid, signal.SIGKILL)

    assert eventually(lambda: watchdog.reap() or not watchdog._zombie_pids)
    assert not Path(f"/proc/{pid}").exists()
    watchdog._zombie_pids.append(pid)  # nobody's, as in a copy of us
    watchdog.reap()
    assert [] == watchdog._zombie_pids


def test_one_for_which_there_is_no_second_pipe_leaves_no_first(monkeypatch):
    """
    A machine that has run out of descriptors does not lose two more of them.
    """
    first = os.pipe()
    pipes = iter([first])
    monkeypatch.setattr(os, "pipe", lambda: next(pipes, None) or none_left())
    with pytest.raises(OSError, match="Too many"):
        Watchdog(waits)

    assert not any(Path(f"/proc/self/fd/{end}").exists() for end in first)


def none_left():
    """What a system says that has no descriptors any more."""
    raise OSError(24, "Too many open files")
