"""Watchdogs that run one hook after another: as safe as one of its own for each, and no process for any."""

import os
import signal
import time
from pathlib import Path

import pytest

from hookonce.base.event_loop import EventLoop
from hookonce.handlers.command import CommandOperation, ProcessContext
from hookonce.handlers.operation import begin_operation, run_on_loop
from hookonce.handlers.supervise import watchdog, watchdog_pool
from hookonce.handlers.supervise.claim_slots import iter_claims
from hookonce.handlers.supervise.hook_results import CallResults
from hookonce.handlers.supervise.watchdog_pool import MIN_IDLE_COUNT, WatchdogPool
from tests.handlers.processes import eventually, running, word


class Pool:
    """A pool in a folder, the pids of its watchdogs, and how hooks end there."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.loop, self.pids = folder, EventLoop(), []
        spawn = watchdog.spawn_native
        monkeypatch.setattr(watchdog_pool, "runtime_path", lambda _, name: f"{folder}/{name}")
        monkeypatch.setattr(
            watchdog, "spawn_native", lambda *given, **more: self.pids.append(spawn(*given, **more)) or self.pids[-1]
        )
        self.pool, self.count = WatchdogPool(self.loop), 0

    def call(self):
        """A call with results that are kept until it is answered."""
        self.count += 1
        return CallResults(f"{self.folder}/{self.count}", os.getpid())

    def operation(self, command, timeout=20, results=None, payload=b"given"):
        """A hook of a call."""
        context = ProcessContext(cwd="/", env={"PATH": os.environ["PATH"], "HERE": str(self.folder)})
        return CommandOperation(command, payload, context, timeout, results and results.claim(command))

    def run(self, command, timeout=20, **more):
        """How a hook ends, its call answered at once."""
        results = self.call()
        ran = run_on_loop(self.loop, self.operation(command, timeout, results, **more))
        results.release()
        return ran

    def slots(self):
        """The files of the folder; there are no others."""
        assert all(path.name.startswith("watchdog-") for path in self.folder.iterdir())
        return [*self.folder.iterdir()]

    def has_begun(self):
        """Whether a claim of the latest call is there."""
        return any(name.startswith(f"{self.count}.") for name in iter_claims(str(self.folder)))


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """A pool, of which nothing is left afterwards."""
    found = Pool(tmp_path, monkeypatch)
    yield found
    found.pool.close()
    found.loop.close()
    assert eventually(lambda: watchdog.reap() or not any(Path(f"/proc/{pid}").exists() for pid in found.pids), 20)
    assert [] == found.slots()


def test_many_hooks_are_run_by_one_process_and_no_file_is_made(pool):
    """
    Each hears its own payload, and sees no claim.
    """
    said = [pool.run('cat; ls "$HERE" | grep -v ^watchdog-; exit 2', payload=f"payload {number}".encode()) for number in range(20)]

    assert [(2, f"payload {number}".encode()) for number in range(20)] == [(ran.code, ran.stdout) for ran in said]
    assert 1 == len(pool.pids) == len(pool.slots())


def test_hooks_of_one_call_have_watchdogs_of_their_own_until_it_is_answered(pool):
    """
    Each of them keeps a result; afterwards all are free.
    """
    for _ in range(3):
        results = pool.call()
        for _ in range(3):
            assert 0 == run_on_loop(pool.loop, pool.operation("exit 0", 20, results)).code
        assert pool.has_begun()
        results.release()

    assert 3 == len(pool.pids)
    assert eventually(lambda: pool.loop.run_once(0.05) or not pool.has_begun())


def test_a_watchdog_is_told_that_a_call_was_answered_with_its_next_order(pool, monkeypatch):
    """
    Or a moment later: whoever was answered has the processor first.
    """
    words, send = [], watchdog_pool.PooledWatchdog.send
    pool.run("exit 0")
    monkeypatch.setattr(watchdog_pool.PooledWatchdog, "send", lambda self, data: words.append(data) or send(self, data))
    pool.run("exit 0")
    assert 1 == len(words)

    assert eventually(lambda: pool.loop.run_once(0.05) or len(words) == 2)
    assert eventually(lambda: not pool.has_begun())


def test_nothing_of_a_hook_reaches_the_next(pool):
    """
    No process, no output, no directory, no umask, no variable, no descriptor.
    """
    mark = word()
    pool.run(f"cd /usr; umask 0; (setsid sleep {mark} &); head -c 3000000 /dev/zero; sleep 0.05")
    assert [] == running(f"sleep\0{mark}")
    umask, cwd, *rest = pool.run("umask; pwd; ls /proc/self/fd").stdout.decode().split()

    assert ("/", ["0", "1", "2", "3"]) == (cwd, rest)  # the last is that of the folder itself
    assert int(umask, 8) != 0
    assert 1 == len(pool.pids)


def test_a_hook_that_takes_too_long_costs_its_watchdog_nothing(pool):
    """
    Everything is killed, and the next hook is run by the same.
    """
    mark = word()
    assert "timeout" == pool.run(f"trap '' TERM; setsid sleep {mark} & sleep {mark}", 0.2).failure
    assert [] == running(f"sleep\0{mark}")
    assert 0 == pool.run("exit 0").code
    assert 1 == len(pool.pids)


def test_a_hook_that_kills_its_watchdog_has_failed_and_the_next_is_run(pool):
    """
    By another one; the claim goes with the answer.
    """
    results = pool.call()
    ran = run_on_loop(pool.loop, pool.operation("kill -9 $PPID; exec sleep 0.1", 20, results))
    assert "its watchdog was killed" == ran.failure
    assert pool.has_begun()
    results.release()
    assert not pool.has_begun()

    assert 0 == pool.run("exit 0").code
    assert 2 == len(pool.pids)


def test_one_that_was_killed_while_it_was_idle_is_replaced(pool):
    """
    No hook fails for that.
    """
    pool.run("exit 0")
    os.kill(pool.pids[0], signal.SIGKILL)
    os.waitpid(pool.pids[0], 0)

    assert 0 == pool.run("exit 0").code
    assert 2 == len(pool.pids)


def test_a_call_that_nobody_waits_for_any_more_frees_its_watchdog(pool):
    """
    Its hook is killed, whether the call is given up before or after that is known.
    """
    mark, ended = word(), []
    results = pool.call()
    handle = begin_operation(pool.operation(f"sleep {mark}", 20, results), pool.loop, 20, ended.append)
    assert eventually(lambda: running(f"sleep\0{mark}"))
    handle.cancel()
    results.release()
    while not ended:
        pool.loop.run_once()

    assert [] == running(f"sleep\0{mark}")
    assert (0, 1) == (pool.run("exit 0").code, len(pool.pids))


def test_those_that_had_nothing_to_do_for_long_end_but_for_a_few(pool, monkeypatch):
    """
    The latest stay.
    """
    results = pool.call()
    for _ in range(MIN_IDLE_COUNT + 2):
        run_on_loop(pool.loop, pool.operation("exit 0", 20, results))
    results.release()
    pool.pool.end_idle()
    assert MIN_IDLE_COUNT + 2 == len(pool.slots())
    monkeypatch.setattr(watchdog_pool, "monotonic", lambda: time.monotonic() + 61)
    pool.pool.end_idle()

    assert eventually(lambda: len(pool.slots()) == MIN_IDLE_COUNT)
    assert 0 == pool.run("exit 0").code
    assert MIN_IDLE_COUNT + 2 == len(pool.pids)


def test_an_order_that_is_too_large_is_for_a_watchdog_of_its_own(pool):
    """
    The payload is whole all the same.
    """
    assert b"200000\n" == pool.run("wc -c", payload=b"x" * 200_000).stdout
    assert eventually(lambda: not [*pool.folder.iterdir()])
