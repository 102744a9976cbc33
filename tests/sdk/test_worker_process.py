"""Workers that stay: what a call leaves in its process is put right, or the next call has another process."""

import json
import os
import random
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookonce.handlers.supervise import claim_slots
from hookonce.handlers.supervise.hook_results import CallResults
from hookonce.handlers.workers import client as worker_client
from tests.handlers.processes import running, word
from tests.sdk.worker_fixture import Ready, event, said

CALLS = int(os.environ.get("HOOKONCE_WORKER_CALLS", "24"))
AT_ONCE = 8

# A function that does what the command says, and then tells what its process is like.
DOES = """
import io, json, resource, signal, stat, struct, subprocess, threading
left = []

def fork_away():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", os.environ["MARK"]])
        os._exit(0)
    time.sleep(0.05)

def write_answer(number):
    for fd in range(3, 20):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                os.write(fd, struct.pack("<I?3I", number, False, 1, 2, 0) + b"0{}")
        except OSError:
            pass
    time.sleep(0.05)

@hook
def guard(event):
    tells = json.dumps({
        "cwd": os.getcwd(), "umask": os.umask(0o77), "names": sorted(os.environ), "zone": time.localtime(0).tm_hour,
        "signals": [str(signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGALRM)],
        "blocked": len(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "trace": sys.gettrace() is None,
        "timers": [signal.getitimer(timer) for timer in (signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)],
        "threads": threading.active_count(), "limits": resource.getrlimit(resource.RLIMIT_NOFILE), "nice": os.nice(0),
    })
    pid = os.getpid()
    exec(event.command, globals())
    return context(json.dumps([pid, tells]))
"""
# Where the process can be put right, it stays.
PUT_RIGHT = [
    "os.chdir('/tmp')",
    "os.umask(0)",
    "os.environ['LEFT'] = '1'; del os.environ['PATH']; os.environ['PLACE'] = 'elsewhere'",
    "os.environ.clear()",
    "os.environ = {}; os.environb = {}",
    "os.environ['TZ'] = 'Asia/Tokyo'; time.tzset()",
    "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGUSR1, print)",
    "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR2})",
    "signal.alarm(1); signal.setitimer(signal.ITIMER_VIRTUAL, 99); signal.setitimer(signal.ITIMER_PROF, 99)",
    "sys.settrace(lambda *_: None)",
    "sys.stdout = sys.stderr = io.StringIO(); print('lost')",
    "print('x' * 9000)",
    "os.close(1); os.close(2); os.close(0)",
    "os.dup2(os.open('/dev/null', os.O_WRONLY), 2)",
    "subprocess.run(['true'])",
    "left.append(subprocess.Popen(['true'])); time.sleep(0.1)",
    "t = threading.Thread(target=bool); t.start(); t.join()",
    "bytearray(200 << 20)",
    "sys.exit(3)",
    "raise RuntimeError('no')",
    "bytearray(1 << 31)",
]
REPLACED = [
    "threading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
    "left.append(subprocess.Popen(['sleep', os.environ['MARK']]))",
    "fork_away()",
    "os.fork() or os.execvp('sleep', ['sleep', os.environ['MARK']])",
    "resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))",
    "os.nice(1)",
    "sys.stdout.close()",
    "sys.stdout = io.TextIOWrapper(sys.stdout.detach())",
    "left.append(bytearray(b'x') * (80 << 20))",
]


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """One file of functions for all of these tests, and whoever has it loaded."""
    found = Ready(tmp_path_factory.mktemp("worker"))
    found.write(DOES)
    yield found
    found.close()


class Asked:
    """A caller with a world of its own."""

    def __init__(self, ready):
        self.ready, self.mark = ready, word()
        self.world = {"env": {"PATH": "/usr/bin:/bin", "PLACE": "here", "MARK": self.mark, "TZ": "UTC0"}, "umask": 0o27}

    def __call__(self, command="pass", **more):
        """What it is told of a call."""
        return self.ready.warm(event(command), **self.world | more)

    def tells(self, **more):
        """The pid, and what the process was like."""
        return json.loads(said(self(**more))["context"])


@pytest.fixture
def worker_calls(ready):
    """Somebody who asks."""
    return Asked(ready)


@pytest.mark.part(3)
@pytest.mark.parametrize("command", PUT_RIGHT)
def test_what_can_be_put_right_is(worker_calls, command):
    """
    The next call is answered by the same process, which is as it was.
    """
    before = worker_calls.tells()
    worker_calls(command)

    assert before == worker_calls.tells()
    assert b"" == worker_calls().stderr


@pytest.mark.parametrize("command", REPLACED)
def test_what_cannot_be_put_right_ends_with_its_worker(worker_calls, command):
    """
    The call itself is answered; the next one has another process, and nothing of the first is left.
    """
    pid, tells = worker_calls.tells()
    result = worker_calls(command)
    next_pid, next_tells = worker_calls.tells()

    assert (0, None) == (result.code, result.failure)
    assert (True, tells) == (pid != next_pid, next_tells)
    worker_calls.ready.turn(lambda: not running(worker_calls.mark) and not Path(f"/proc/{pid}").exists())


def test_descriptors_that_are_left_open_do_not_pile_up(worker_calls):
    """
    A process with too many of them is replaced before it runs out.
    """
    pids = {json.loads(said(worker_calls("left.append([open('/dev/null') for _ in range(5)])"))["context"])[0] for _ in range(40)}

    assert 1 < len(pids) < 10


def test_a_copy_that_a_function_makes_of_its_process_answers_nobody(worker_calls):
    """
    Both come back from the function; one of them was asked.
    """
    pid, _ = worker_calls.tells()
    answers = [json.loads(said(worker_calls("left.append(os.fork())"))["context"])[0] for _ in range(3)]

    assert pid == answers[0]
    assert os.getpid() != answers[0]
    assert said(worker_calls())


def test_a_function_that_writes_to_the_socket_answers_no_other_call(worker_calls):
    """
    A word too many is none of the next call's.
    """
    pid, _ = worker_calls.tells()
    first = worker_calls("write_answer(0)")

    assert pid == json.loads(said(first)["context"])[0] != worker_calls.tells()[0]


def test_a_call_in_another_world_has_nothing_of_the_last(worker_calls, tmp_path):
    """
    Environment, directory and umask are those of each caller.
    """
    first = json.loads(worker_calls.tells(cwd=str(tmp_path))[1])
    other = json.loads(worker_calls.tells(env={"OTHER": "1", "TZ": "Asia/Tokyo"}, umask=0o22)[1])
    names = sorted({*first["names"]} ^ {*other["names"]})

    assert (str(tmp_path), 0o27, 0) == (first["cwd"], first["umask"], first["zone"])
    assert (str(worker_calls.ready.folder), 0o22, 9) == (other["cwd"], other["umask"], other["zone"])
    assert ["MARK", "OTHER", "PATH", "PLACE"] == names


def test_steady_calls_cost_one_process_and_one_file(worker_calls, tmp_path):
    """
    The worker claims all of its calls in that file, and takes the next one when the last was answered.
    """
    pids, files, ready = set(), set(), worker_calls.ready
    for number in range(20):
        results, ended = CallResults(str(tmp_path / f"call{number}"), os.getpid()), []
        operation = replace(ready.call(event("pass"), **worker_calls.world), claim=results.claim("guard"))
        operation.begin(ready.loop, 20, ended.append)
        pids.add(json.loads(said(*ready.wait(ended))["context"])[0])
        names = [name for name, _ in claim_slots.iter_slots(str(tmp_path))]
        files.update(file.name for file in tmp_path.iterdir())
        assert [results.claim("guard").path.rpartition("/")[2].removesuffix("2") + "1"] == names
        results.release()

    assert {f"worker-{pid}" for pid in pids} == files
    assert 1 == len(pids)


def test_a_worker_whose_answer_is_needed_takes_no_other_call(worker_calls, tmp_path):
    """
    Until the call of the agent was answered, its result might be asked for by somebody else.
    """
    results, ended, ready = CallResults(str(tmp_path / "call"), os.getpid()), [], worker_calls.ready
    operation = replace(ready.call(event("pass"), **worker_calls.world), claim=results.claim("guard"))
    operation.begin(ready.loop, 20, ended.append)
    pid = json.loads(said(*ready.wait(ended))["context"])[0]
    others = {worker_calls.tells()[0] for _ in range(3)}
    results.release()

    assert pid not in others
    assert pid == worker_calls.tells()[0]


def test_a_call_imports_nothing_that_was_not_there_before(ready, tmp_path):
    """
    Else each worker would import it again, while somebody waits.
    """
    found = Ready(tmp_path)
    found.write(
        "class Finder:\n    imports = []\n    @classmethod\n    def find_spec(cls, name, *_): cls.imports.append((os.getpid(), name))\n"
        "sys.meta_path.insert(0, Finder)\n@hook(tool='shell')\ndef guard(event):\n"
        "    return [context(' '.join(name for pid, name in Finder.imports if pid == os.getpid())), ask('?')]\n"
    )
    answers = [said(found.warm()).get("context") for _ in range(2)]
    found.close()

    assert [None, None] == answers


def test_there_are_as_many_workers_as_calls_at_once_and_fewer_afterwards(worker_calls, monkeypatch):
    """
    A call that waits for a busy process gets another one; idle ones go.
    """
    ready = worker_calls.ready
    begun = [ready.begin(event("time.sleep(0.2)"), **worker_calls.world) for _ in range(4)]
    pids = {json.loads(said(result)["context"])[0] for result in ready.wait(*begun)}
    (kept,) = ready.kept._clients.values()
    monkeypatch.setattr(worker_client, "_WORKER_IDLE_TIMEOUT_S", -1.0)
    ready.kept.end_idle()

    assert 4 == len(pids)
    ready.turn(lambda: len(kept._workers) <= 1 + kept._has_isolated_calls)
    assert worker_calls.tells()[0] in kept._workers


def test_the_spare_worker_of_isolated_calls_stays(worker_calls, monkeypatch):
    """
    It is not forked again and again while nobody calls.
    """
    ready = worker_calls.ready
    said(worker_calls(is_isolated=True))
    said(worker_calls())
    (kept,) = ready.kept._clients.values()
    ready.turn(lambda: any(not worker.is_used for worker in kept._idle_workers) and not kept._orders_pending)
    spares = {worker.pid for worker in kept._idle_workers if not worker.is_used}
    monkeypatch.setattr(worker_client, "_WORKER_IDLE_TIMEOUT_S", -1.0)
    ready.kept.end_idle()
    ready.turn(lambda: len(kept._workers) == 2)

    assert spares & {worker.pid for worker in kept._idle_workers}


def test_idle_workers_make_room_for_isolated_calls(worker_calls, monkeypatch):
    """
    However many there are.
    """
    ready = worker_calls.ready
    ready.wait(*[ready.begin(event("time.sleep(0.1)"), **worker_calls.world) for _ in range(3)])
    (kept,) = ready.kept._clients.values()
    monkeypatch.setattr(worker_client, "_MAX_WORKERS_PER_FILE", len(kept._workers))
    begun = [ready.begin(event("time.sleep(0.05)"), is_isolated=True, **worker_calls.world) for _ in range(5)]

    assert 5 == len({json.loads(said(result)["context"])[0] for result in ready.wait(*begun)})


def test_a_worker_that_ended_is_replaced_before_anybody_asks(worker_calls):
    """
    The next call waits for no fork.
    """
    worker_calls("os._exit(1)")
    (kept,) = worker_calls.ready.kept._clients.values()

    worker_calls.ready.turn(lambda: kept._idle_workers)


MIXED = {
    "pass": lambda result: result.code == 0,
    "1 / 0": lambda result: result.code == 1 and b"ZeroDivisionError" in result.stderr,
    "os._exit(7)": lambda result: result.code == 7,
    "os.kill(os.getpid(), 9)": lambda result: result.failure == "ended by signal 9",
    "time.sleep(99)": lambda result: result.failure == "timeout",
    "fork_away()": lambda result: result.code == 0,
    "threading.Thread(target=time.sleep, args=(99,)).start()": lambda result: result.code == 0,
    "left.append(bytearray(b'x') * (3 << 20))": lambda result: result.code == 0,
    "left.append(open('/dev/null'))": lambda result: result.code == 0,
    "os.chdir('/'); os.environ['LEFT'] = '1'": lambda result: result.code == 0,
}


def test_mixed_calls_are_answered_right_and_leave_nothing(worker_calls):
    """
    Good, crashing, hanging and leaking ones, some of them at once and some in isolation.
    """
    ready, wrong, pids = worker_calls.ready, Counter(), set()
    commands = [random.choice([*MIXED, "pass", "pass"]) for _ in range(CALLS)]  # noqa: S311
    for first in range(0, CALLS, AT_ONCE):
        batch = commands[first : first + AT_ONCE]
        options = [worker_calls.world | {"timeout": 0.3 if "99)" in command and "sleep(" in command else 20.0, "is_isolated": not number % 4} for number, command in enumerate(batch, first)]
        begun = [ready.begin(event(command), **more) for command, more in zip(batch, options, strict=True)]
        for command, result in zip(batch, ready.wait(*begun), strict=True):
            wrong[command] += not MIXED[command](result)
            if result.stdout:
                pid, tells = json.loads(json.loads(result.stdout)["context"])
                pids.add(pid)
                wrong[command] += "LEFT" in tells

    assert {} == +wrong, f"{CALLS} calls by {len(pids)} processes"
    (kept,) = ready.kept._clients.values()
    ready.turn(lambda: not running(worker_calls.mark) and all(worker in kept._idle_workers for worker in kept._workers.values()))
    ready.turn(lambda: len(running(str(ready.folder))) == 2 + len(kept._workers))  # one may still be replaced
