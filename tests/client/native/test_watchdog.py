"""Both watchdogs, that of C and that of Python: one result of a hook, once nothing is left of it."""

import os
import resource
import signal
import subprocess
import threading
import time
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest

from hookonce.base.spawn import spawn
from hookonce.handlers.command import MAX_INLINE_ORDER_BYTES, CommandOperation, ProcessContext, encode_order
from hookonce.handlers.supervise.hook_results import FORGET, KILL, UNKNOWN_ENDING, CallResults, HookClaim, parse_result
from hookonce.handlers.supervise.watchdog import WatchOptions, forked_watchdog
from tests.handlers.processes import eventually, running, word
from tests.handlers.test_command import LEFT, OPEN, STUBBORN

SLEEPER = ["sleep", "600"]  # a client that is there


class Watched:
    """A hook with its watchdog, and the two pipes to that."""

    def __init__(
        self, program, command, umask=-1, cwd=None, *, payload=b"given", claim=None, limit_s=0, env=None, slot=""
    ):
        hangup, self.hangup = os.pipe()
        self.news, news = os.pipe()
        self.program, self.claim, self.slot = program, claim, slot
        place = ProcessContext(cwd=cwd, umask=umask, env=dict(os.environ) if env is None else env)
        self.operation = CommandOperation(command, payload, place, limit_s, claim)
        self.pid = self._fork(hangup, news) if program is None else self._spawn(hangup, news)
        for descriptor in (hangup, news):
            os.close(descriptor)

    def _spawn(self, hangup, news):
        line = [self.program, "--watch", str(hangup), str(news), str(self.slot)]
        order, stdin = encode_order(self.operation), os.memfd_create("order")
        if len(order) > MAX_INLINE_ORDER_BYTES:
            order = order[: os.write(stdin, order) and 16]
        process = subprocess.Popen(line, pass_fds=[hangup, news], stdin=stdin, env={})
        process.returncode = 0  # it is waited for by its number
        os.close(stdin)
        os.write(self.hangup, order)
        return process.pid

    def _fork(self, hangup, news):
        place, payload = self.operation.process_context, self.operation.payload
        stdin = os.memfd_create("payload") if isinstance(payload, bytes) else payload
        if stdin != payload:
            os.write(stdin, payload)
        options = WatchOptions(stdin, self.claim, self.operation.timeout)
        start = forked_watchdog(
            lambda pipes: spawn(self.operation.command, pipes, cwd=place.cwd, umask=place.umask, env=place.env),
            {stdin},
            options,
        )
        try:
            return start(hangup, news)
        finally:
            os.close(stdin)

    def say(self, word):
        os.write(self.hangup, word)

    def let_go(self):
        """As a runner does that is killed."""
        os.close(self.hangup)
        self.hangup = None

    def result(self):
        """What it tells, as soon as all of it is there."""
        data = bytearray()
        while (found := parse_result(data)) is None and (chunk := os.read(self.news, 1 << 16)):
            data += chunk
        return found

    def wait(self):
        """Until it has ended."""
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def end(self):
        """Its result, once it has ended."""
        found = self.result()
        if self.program is not None and self.hangup is not None:
            self.let_go()  # it would take another order
        self.wait()
        os.close(self.news)
        if self.hangup is not None:
            self.let_go()
        return found


class Inheritance:
    """A call in a folder: the claim of its only hook, and what an heir of the runner finds there."""

    def __init__(self, folder, client_pid):
        self.path, self.claim = f"{folder}/call", CallResults(f"{folder}/call", client_pid).claim("hook")
        self.file = Path(self.claim.path)

    def recover(self, timeout=60):
        """The result of the hook; None if it is the heir's to run."""
        search = CallResults(self.path, 0, takes_over=True).recover("hook", timeout)
        while True:
            try:
                time.sleep(next(search))
            except StopIteration as end:
                return end.value


@pytest.fixture
def inheritance(tmp_path, client):
    """A call of that client."""
    return Inheritance(tmp_path, client.pid)


@pytest.fixture(params=["native", "python"])
def program(request):
    """The native watchdog; None for the one that is forked from Python."""
    return request.getfixturevalue("compiled") if request.param == "native" else None


@pytest.fixture
def client():
    """The client of a call."""
    with subprocess.Popen(SLEEPER) as process:
        yield process
        process.kill()


@pytest.mark.parametrize(
    ("command", "code", "failure"),
    [
        ("exit 0", 0, None),
        ("exit 2", 2, None),
        ("exit 255", 255, None),
        ("kill -9 $$", None, "ended by signal 9"),
        ("kill -SEGV $$", None, "ended by signal 11"),
        ("kill -PIPE $$", None, "ended by signal 13"),
        ("/nonexistent/hook", 127, None),
        ("/etc/passwd", 126, None),
    ],
)
def test_the_ending_is_told_as_it_was(program, command, code, failure):
    """
    The exit code, or the signal.
    """
    found = Watched(program, command).end()

    assert (code, failure) == (found.code, found.failure)


@pytest.mark.parametrize(
    ("cwd", "why"), [("/nonexistent", "No such file or directory"), ("/etc/passwd", "Not a directory")]
)
def test_what_cannot_be_started_says_so(program, cwd, why):
    """
    And why.
    """
    found = Watched(program, "true", cwd=cwd).end()

    assert found.failure.startswith("not started: ")
    assert why in found.failure
    assert (None, b"", b"") == (found.code, found.stdout, found.stderr)


def test_the_hook_runs_where_and_as_it_was_told(program, tmp_path):
    """
    Its own three descriptors and nothing else, the directory, the umask, the environment, a session of its own.
    """
    read, write = os.pipe()
    os.set_inheritable(write, True)
    command = f"cat; echo; pwd; umask; echo $ONLY; ps -o sid= -p $$; echo $$; {OPEN}"
    found = Watched(program, command, 0o027, str(tmp_path), env={"ONLY": "this", "PATH": os.environ["PATH"]}).end()
    os.close(read)
    os.close(write)
    given, where, mask, only, session, own, descriptors = found.stdout.decode().splitlines()

    assert (0, b"") == (found.code, found.stderr)
    assert ["given", str(tmp_path), "0027", "this", "0 1 2 "] == [given, where, mask, only, descriptors]
    assert session.strip() == own


def test_a_payload_that_no_pipe_holds_arrives_whole_and_a_megabyte_of_each_output_is_kept(program):
    """
    Both at the same time, and nobody waits for the other.
    """
    command = "tee /dev/stderr | cat; head -c 3000000 /dev/zero | tr '\\0' z"
    found = Watched(program, command, payload=b"x" * 5_000_000).end()

    assert (0, b"x" * (1 << 20), b"x" * (1 << 20)) == (found.code, found.stdout, found.stderr)
    assert b"5000000\n" == Watched(program, "wc -c", payload=b"x" * 5_000_000).end().stdout


def test_a_payload_may_come_in_a_pipe():
    """
    Where no file may grow, not even in memory; that is what the watchdog of Python is asked for then.
    """
    pipe, end = os.pipe()
    os.write(end, b"x" * 50_000)
    os.close(end)

    assert b"50000\n" == Watched(None, "wc -c", payload=pipe).end().stdout


@pytest.mark.part(4)
@pytest.mark.parametrize("command", STUBBORN.values(), ids=STUBBORN)
@pytest.mark.parametrize("word_", [KILL, FORGET, b""], ids=["is told to kill", "is told to forget", "is alone"])
def test_when_its_runner_wants_that_or_is_gone_everything_is_killed(program, command, word_):
    """
    Neither signals nor sessions nor a forgotten parent protect a process that a hook has started.
    """
    mark = word()
    watched = Watched(program, command.format(mark=mark))
    assert eventually(lambda: len(running(mark)) > 1, 10)  # the watchdog itself may carry the word too
    time.sleep(0.2)
    watched.say(word_) if word_ else watched.let_go()

    assert "timeout" == watched.end().failure
    assert [] == running(mark)


@pytest.mark.parametrize("command", LEFT.values(), ids=LEFT)
def test_at_its_end_everything_that_it_started_is_killed(program, command):
    """
    The result comes when nothing is left.
    """
    mark = word()
    found = Watched(program, f"{command.format(mark=mark)}\necho done").end()

    assert (0, b"done\n", []) == (found.code, found.stdout, running(mark))


def test_many_orphans_are_all_found(program):
    """
    More than one look at the list of them shows.
    """
    mark = word()
    found = Watched(program, f"i=0; while [ $i -lt 700 ]; do (setsid sleep {mark} &); i=$((i + 1)); done").end()

    assert (0, []) == (found.code, running(mark))


def test_a_hook_that_was_stopped_is_still_watched(program):
    """
    Stopping is no ending.
    """
    watched = Watched(program, "kill -STOP $$; exit 3")
    time.sleep(0.2)
    assert (0, 0) == os.waitpid(watched.pid, os.WNOHANG)
    watched.let_go()

    assert "timeout" == watched.end().failure


def test_a_result_is_kept_until_the_call_was_answered(program, tmp_path, client):
    """
    The claim is there for as long, and gone afterwards; what is killed meanwhile is dead already.
    """
    claim = HookClaim(str(tmp_path / "claim"), client.pid)
    watched = Watched(program, "echo x; exit 2", claim=claim, limit_s=60)
    found = watched.result()
    assert (2, b"x\n") == (found.code, found.stdout)
    watched.say(KILL)
    time.sleep(0.1)
    assert [0o100600] == [path.stat().st_mode for path in tmp_path.iterdir()]
    watched.say(FORGET)
    watched.let_go()
    watched.wait()

    assert [] == [*tmp_path.iterdir()]


@pytest.mark.parametrize("when", ["before", "after"], ids=["before the hook ends", "after it has ended"])
def test_a_runner_that_is_killed_finds_its_heir_provided(program, tmp_path, client, inheritance, when):
    """
    The result is there for as long as the client is, in the watchdog's memory: the claim only says where.
    """
    command = f"until [ -e {tmp_path}/go ]; do sleep 0.02; done; echo a secret; exit 2"
    watched = Watched(program, command, claim=inheritance.claim, limit_s=60)
    assert eventually(lambda: inheritance.file.exists() and inheritance.file.read_bytes())
    if when == "before":
        watched.let_go()
    (tmp_path / "go").touch()
    if when == "after":
        assert 2 == watched.result().code
        watched.let_go()
    found = inheritance.recover()
    assert (2, b"a secret\n") == (found.code, found.stdout)
    assert inheritance.file.read_bytes().startswith(b"/proc/")
    client.kill()
    client.wait()
    watched.wait()

    assert not inheritance.file.exists()
    assert inheritance.recover() is None


def test_without_a_runner_a_hook_has_the_rest_of_its_time(program, client, inheritance):
    """
    It is counted from its start.
    """
    mark, begin = word(), time.monotonic()
    watched = Watched(program, f"sleep {mark}", claim=inheritance.claim, limit_s=1)
    time.sleep(0.5)
    watched.let_go()

    found = inheritance.recover()
    assert "timeout" == found.failure
    assert 0.9 < time.monotonic() - begin < 15
    assert 0.9 < found.duration < 15, "of the hook, not of its heir"
    assert [] == running(f"sleep\0{mark}")
    client.kill()
    client.wait()
    watched.wait()


@pytest.mark.parametrize(
    "content", [b"", b"\0", b"/proc/1/fd/999999", b"/proc/self/environ", b"/proc/self/mem", b"x" * 5000]
)
def test_an_heir_runs_what_never_began_and_nothing_else(inheritance, content):
    """
    An empty claim that nobody holds is the heir's, once; any other that leads nowhere is a hook that has failed.
    """
    inheritance.file.write_bytes(content)
    found = inheritance.recover()

    assert found is None if content == b"" else found.failure == UNKNOWN_ENDING
    assert UNKNOWN_ENDING == inheritance.recover().failure


def test_where_no_file_may_grow_a_hook_is_asked_and_never_taken_for_one_that_was_not(program, client, inheritance):
    """
    Not even in memory; an heir waits in vain.
    """
    payload = os.open("/dev/null", os.O_RDONLY) if program is None else b""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limit[1]))
    try:
        watched = Watched(program, "exit 2", payload=payload, claim=inheritance.claim, limit_s=60)
        assert 2 == watched.result().code
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    watched.let_go()

    assert "timeout" == inheritance.recover(0.3).failure
    client.kill()
    client.wait()
    watched.wait()


def test_an_heir_waits_for_whoever_holds_the_claim(inheritance):
    """
    Until it is let go, or removed, or the hook's time is over.
    """
    with inheritance.file.open("wb") as file:
        flock(file, LOCK_EX)
        assert "timeout" == inheritance.recover(0.1).failure
        threading.Timer(0.1, inheritance.file.unlink).start()

        assert inheritance.recover() is None


@pytest.mark.parametrize("is_reaped", [True, False])
def test_without_runner_and_client_a_hook_is_killed(program, tmp_path, client, is_reaped):
    """
    Nobody wants to hear it any more, whether or not somebody has asked how the client ended.
    """
    mark, claim = word(), HookClaim(str(tmp_path / "claim"), client.pid)
    watched = Watched(program, f"sleep {mark}", claim=claim, limit_s=60)
    assert eventually(lambda: running(f"sleep\0{mark}"), 10)
    watched.let_go()
    client.kill()
    if is_reaped:
        client.wait()

    assert eventually(lambda: not running(f"sleep\0{mark}"), 10)
    assert eventually(lambda: not [*tmp_path.iterdir()], 10)
    watched.wait()


@pytest.mark.parametrize(
    "why", ["claimed", "alone"], ids=["somebody else has claimed it", "its runner was killed before"]
)
def test_a_hook_that_is_not_its_own_does_not_begin(program, tmp_path, client, why):
    """
    Whoever answers instead of the runner runs it.
    """
    claim = HookClaim(str(tmp_path / "claim"), client.pid)
    if why == "claimed":
        (tmp_path / "claim").touch()
    if program is not None and why == "alone":  # a shell holds it up until its runner is gone
        slow = tmp_path / "slow"
        slow.write_text(f'#!/bin/sh\nsleep 0.3\nexec {program} "$@"\n')
        slow.chmod(0o755)
        watched = Watched(slow, f"touch {tmp_path}/ran", claim=claim, limit_s=60)
    else:
        if program is None and why == "alone":
            pytest.skip("a fork cannot be held up from outside")
        watched = Watched(program, f"touch {tmp_path}/ran", claim=claim, limit_s=60)
    if why == "alone":
        watched.let_go()
    watched.wait()

    assert not (tmp_path / "ran").exists()
    assert (why == "claimed") == (tmp_path / "claim").exists()


def test_a_claim_that_cannot_be_made_keeps_no_hook_from_being_asked(program, client):
    """
    As on a full disk.
    """
    assert 3 == Watched(program, "exit 3", claim=HookClaim("/nonexistent/claim", client.pid), limit_s=60).end().code


@pytest.mark.parametrize("whole", [False, True], ids=["the watchdog", "with its group"])
def test_a_watchdog_that_is_killed_has_no_result(program, whole):
    """
    Its runner hears the end of the pipe.
    """
    mark = word()
    watched = Watched(program, f"sleep {mark}")
    assert eventually(lambda: running(f"sleep\0{mark}"), 10)
    (os.killpg if whole else os.kill)(watched.pid, signal.SIGKILL)
    for pid in running(f"sleep\0{mark}"):
        os.kill(pid, signal.SIGKILL)

    assert watched.result() is None
    os.waitpid(watched.pid, 0)
    os.close(watched.news)
    watched.let_go()
