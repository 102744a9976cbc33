"""One process of a hook: whatever it does, it ends in time, is heard up to a limit, and leaves nothing behind."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from hookonce.handlers.command import ProcessContext
from hookonce.handlers.supervise.watchdog import MAX_OUTPUT_BYTES
from tests.handlers.processes import eventually, run_command, running, word

HERE = ProcessContext(cwd="/", env={"PATH": os.environ["PATH"]})
BIG = b"x" * 5_000_000


def ours():
    """Our own open descriptors and children, which a run must not change."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    return sorted(Path("/proc/self/fd").iterdir()), children.split()


@pytest.fixture(autouse=True)
def _nothing_is_left():
    """
    No run costs a descriptor, and none leaves a child, not even a dead one.
    """
    before = ours()
    yield
    assert before == ours()


@pytest.mark.covers("HIF-17")
def test_stdin_arrives_whole_and_both_outputs_are_heard():
    """
    A hook gets every byte of a large payload and may say something on both of its outputs.
    """
    ran = run_command("wc -c; echo aside >&2", BIG, HERE, 10)

    assert (0, b"5000000\n", b"aside\n", None) == (ran.code, ran.stdout, ran.stderr, ran.failure)


@pytest.mark.parametrize("command", ["exec <&-; echo x", "true <&-; exec true", "head -c 1 >/dev/null; echo x", "exit 0"])
def test_whoever_does_not_read_its_input_is_heard_all_the_same(command):
    """
    Closing stdin early, or never reading five megabytes of it, is no failure and no delay.
    """
    ran = run_command(command, BIG, HERE, 10)

    assert (0, None) == (ran.code, ran.failure)
    assert ran.duration < 5


def test_one_that_never_reads_and_never_ends_is_killed_in_time():
    """
    A full pipe does not keep us from looking at the clock.
    """
    mark = word()
    begin = time.monotonic()
    ran = run_command(f"sleep {mark}", BIG, HERE, 0.3)

    assert ("timeout", None) == (ran.failure, ran.code)
    assert time.monotonic() - begin < 9
    assert [] == running(mark)


@pytest.mark.parametrize(
    ("command", "code", "failure"),
    [
        ("exit 1", 1, None),
        ("exit 2", 2, None),
        ("exit 255", 255, None),
        ("kill -9 $$", None, "ended by signal 9"),
        ("kill -SEGV $$", None, "ended by signal 11"),
        ("/nonexistent/hook", 127, None),
        ("/etc/passwd", 126, None),
    ],
)
@pytest.mark.covers("HIF-20")
def test_the_ending_is_told_as_it_was(command, code, failure):
    """
    An exit code is an exit code, and who was ended by a signal has none.
    """
    ran = run_command(command, b"", HERE, 10)

    assert (code, failure) == (ran.code, ran.failure)


@pytest.mark.parametrize(
    ("command", "world"),
    [
        ("true", ProcessContext(cwd="/nonexistent", env={})),
        ("true", ProcessContext(cwd="/etc/passwd", env={})),
        ("true\0", HERE),
        ("true", ProcessContext(cwd="/", env={"A\0": "b"})),
        ("true " + "x" * (1 << 18), HERE),
    ],
)
def test_what_cannot_be_started_says_so(command, world):
    """
    A missing directory, a command with a zero byte, one that is too long: not started, and no exception.
    """
    ran = run_command(command, b"", world, 10)

    assert ran.code is None
    assert ran.failure.startswith("not started: ")


def test_variables_are_those_of_this_run():
    """
    Also if they lie in the very object that the run before had.
    """
    env = {"PATH": os.environ["PATH"]}
    world = ProcessContext(cwd="/", env=env)
    heard = [run_command("echo $A", b"", world, 10).stdout]
    for value in ("1", "2", "a=b"):
        env["A"] = value
        heard.append(run_command("echo $A", b"", world, 10).stdout)

    assert [b"\n", b"1\n", b"2\n", b"a=b\n"] == heard


@pytest.mark.slow
def test_a_gigabyte_is_read_and_thrown_away():
    """
    Only the first megabyte is kept, and that it was cut is known.
    """
    ran = run_command("head -c 1000000000 /dev/zero", b"", HERE, 30)

    assert (0, None, MAX_OUTPUT_BYTES) == (ran.code, ran.failure, len(ran.stdout))


@pytest.mark.parametrize("where", ["", " >&2"])
def test_one_that_never_stops_talking_is_killed_in_time(where):
    """
    Endless output does not move the deadline.
    """
    mark = word()
    begin = time.monotonic()
    ran = run_command(f"yes {mark}{where}", b"", HERE, 0.3)

    assert "timeout" == ran.failure
    assert time.monotonic() - begin < 9
    assert [] == running(mark)


STUBBORN = {
    "ignores every polite signal": "trap '' TERM INT HUP; while :; do sleep {mark}; done",
    "has a child in the background": "sleep {mark} & wait",
    "has a child in a session of its own": "setsid sleep {mark} & wait",
    "forks twice, as services do": "(setsid sh -c 'sleep {mark} & sleep {mark}' &) ; sleep {mark}",
    "forks twice and forgets where it comes from": "(env -i setsid /bin/sh -c 'trap \"\" TERM; sleep {mark}; :' &); sleep {mark}",
    "keeps starting itself anew": "f() {{ sleep {mark} & sleep 0.01; f; }}; f",
    "lets go of its outputs": "exec >&- 2>&-; sleep {mark}",
    "stops itself": "sleep {mark} & kill -STOP $! $$",
}


@pytest.mark.part(3)
@pytest.mark.covers("HIF-106")
@pytest.mark.parametrize("command", STUBBORN.values(), ids=STUBBORN)
def test_at_the_timeout_everything_that_it_started_is_killed(command):
    """
    Neither signals nor sessions nor a forgotten parent protect a process that a hook has started.
    """
    mark = word()
    begin = time.monotonic()
    ran = run_command(command.format(mark=mark), b"", HERE, 0.4)

    assert "timeout" == ran.failure
    assert [] == running(mark)
    assert time.monotonic() - begin < 9


LEFT = {
    "a child": "sleep {mark} &",
    "a child that holds its outputs and ignores signals": "(trap '' TERM HUP; sleep {mark}; :) &",
    "a service": "(setsid sh -c 'sleep {mark} & sleep {mark}' &)",
    "a service that forgets where it comes from": "(env -i setsid sleep {mark} >/dev/null 2>&1 &)",
    "a stopped child": "sleep {mark} & kill -STOP $!",
}


@pytest.mark.parametrize("command", LEFT.values(), ids=LEFT)
def test_at_its_end_everything_that_it_started_is_killed_too(command):
    """
    A hook that has answered leaves nothing running, and nobody waits for what it left.
    """
    mark = word()
    begin = time.monotonic()
    ran = run_command(f"{command.format(mark=mark)}\necho done", b"", HERE, 20)

    assert (0, b"done\n") == (ran.code, ran.stdout)
    assert [] == running(mark)
    assert time.monotonic() - begin < 15


OPEN = f"for n in {' '.join(map(str, range(256)))}; do [ -e /proc/$$/fd/$n ] && printf '%s ' $n; done; echo"


def test_the_hook_runs_where_and_as_it_was_told(tmp_path):
    """
    Directory, environment and umask are those of the caller, and nothing else of us comes along.
    """
    read, write = os.pipe()
    os.set_inheritable(write, True)
    try:
        world = ProcessContext(cwd=str(tmp_path), env={"ONLY": "this"}, umask=0o027)
        ran = run_command(f"pwd; umask; /usr/bin/env | /bin/grep -v -e ^PWD -e ^_ -e ^SHLVL; {OPEN}", b"", world, 5)
    finally:
        os.close(read)
        os.close(write)

    where, mask, *env, descriptors = ran.stdout.decode().split("\n")[:-1]
    assert (str(tmp_path), "0027", ["ONLY=this"]) == (where, mask, env)
    assert "0 1 2 " == descriptors


def test_signals_mean_to_a_hook_what_they_mean_to_any_program():
    """
    That we ignore broken pipes is not handed down.
    """
    ran = run_command("yes | head -n 1; kill -PIPE $$; echo alive", b"", HERE, 5)

    assert ("ended by signal 13", b"y\n") == (ran.failure, ran.stdout)


def test_it_leaves_our_terminal_and_group():
    """
    A hook has a session of its own: no terminal to write to, and no group that our agent would kill by halves.
    """
    ran = run_command("ps -o sid= -p $$; echo $$; : >/dev/tty", b"", HERE, 5)

    session, own = ran.stdout.split()
    assert session == own
    assert b"/dev/tty" in ran.stderr


def test_a_watchdog_that_is_killed_is_a_failure_of_the_hook():
    """
    Nobody waits until the deadline for somebody who is gone.
    """
    begin = time.monotonic()
    ran = run_command("kill -9 $PPID; exec sleep 0.5", b"", HERE, 10)

    assert (None, "its watchdog was killed") == (ran.code, ran.failure)
    assert time.monotonic() - begin < 9


@pytest.mark.parametrize("whole_group", [False, True])
def test_whoever_kills_us_kills_the_hook(whole_group):
    """
    Even by a signal that cannot be caught, and even what the hook has hidden in another session.
    """
    mark = word()
    pid = os.posix_spawn(
        "/proc/self/exe",
        ["python", "-c", CALLER, f"(env -i setsid sleep {mark} &); sleep {mark}"],
        {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]},
        setpgroup=0,
    )
    assert eventually(lambda: len(running(f"sleep\0{mark}")) == 2, 10)

    (os.killpg if whole_group else os.kill)(pid, signal.SIGKILL)
    os.waitpid(pid, 0)

    assert eventually(lambda: not running(f"sleep\0{mark}"), 15)


CALLER = """
import sys
from hookonce.handlers.command import CommandOperation, ProcessContext
from hookonce.handlers.operation import run_to_completion
world = ProcessContext(cwd="/", env={"PATH": "/usr/bin:/bin"})
run_to_completion(CommandOperation(sys.argv[1], b"", world, 60))
"""
