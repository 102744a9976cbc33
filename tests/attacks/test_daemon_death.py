"""A daemon that dies changes no verdict: a hook that has begun is heard out, one that has not is asked, none twice.

Killed at random moments it is in tests/daemon/server/test_kills.py.
"""

import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

from hookonce.base.process_info import read_proc_stat
from hookonce.dispatch.fail_mode import FAIL_CLOSED_REASON
from tests.daemon.conftest import home, installed, shelf, warm
from tests.daemon.installed_home import HOOK, SILENT, TOOL, command, payload, refused
from tests.handlers.processes import eventually, running, word
from tests.handlers.servers import WAYS, server

__all__ = ["home", "installed", "shelf", "warm"]
LONG = 60  # seconds that nothing takes, however busy the machine is

# Each says that it runs, waits until it may go on, and refuses.
WAITS = 'echo {name} >>"$HOME/ran"; until [ -e "$HOME/{name}.go" ]; do sleep 0.02; done; echo {name} says no >&2; exit 2'
NOTES = 'echo {name} >>"$HOME/ran"'


def waits(name, **more):
    """A hook that refuses as soon as it may."""
    return command(WAITS.format(name=name), name=name, **more)


def notes(name, **more):
    """A hook without an opinion."""
    return command(NOTES.format(name=name), name=name, **more)


class Call:
    """A call of the client that is under way."""

    def __init__(self, home, given=None, words=TOOL, **options):
        self.process = home.start(*words, start_new_session=True, **options)
        self.process.stdin.write(payload() if given is None else given)
        self.process.stdin.close()

    def end(self):
        """How it ends."""
        with self.process as process:
            return process.stdout.read(), process.stderr.read(), process.wait(LONG)


def ending(call):
    """How a call ends, as the home tells it."""
    out, err, code = call.end()
    return code, out, err


def kill_daemon(home):
    """End the daemon, and nothing else that comes from it."""
    pid = home.status()["pid"]
    os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: not Path(f"/proc/{pid}/exe").exists(), LONG)


def go(home, *names):
    """Let hooks go on."""
    for name in names:
        (home.home / f"{name}.go").touch()


def is_clean(home):
    """Whether nothing of a hook is left: no result, and no watchdog."""
    calls = home.house / "calls"
    return eventually(lambda: not [*calls.glob("*.*")] and not home.orphans(), LONG)


@pytest.mark.part(2)
@pytest.mark.parametrize("mode", ["open", "closed"])
@pytest.mark.parametrize("heard", ["before", "after"], ids=["it ends before anybody looks", "it ends after that"])
def test_a_hook_that_has_begun_is_heard_out(warm, mode, heard):
    """
    It refuses after the kill, before or after somebody waits for it.
    """
    warm.hooks(waits("guard", on_failure=mode))
    call = Call(warm)
    assert eventually(lambda: warm.lines("ran"), LONG)
    if heard == "after":
        threading.Timer(0.5, go, (warm, "guard")).start()
    kill_daemon(warm)
    if heard == "before":
        go(warm, "guard")

    assert refused(ending(call), "guard says no")
    assert ["guard"] == warm.lines("ran")
    assert is_clean(warm)


@pytest.mark.parametrize("alone", [False, True], ids=["with its watchdogs in C", "with its watchdogs in Python"])
def test_the_result_of_the_first_hook_survives_a_kill_during_the_second(warm, alone):
    """
    Both are heard, the third, which had not begun, is asked, and each has run once.
    """
    if alone:
        (warm.home / ".config" / "hookonce").mkdir(parents=True, exist_ok=True)
        (warm.home / ".config" / "hookonce" / "config.toml").write_text('privileges = "reduced"\n')
    first = command('echo first >>"$HOME/ran"; echo first says no >&2; exit 2', name="first")
    warm.hooks(first, waits("second"), notes("third"), notes("third"))
    call = Call(warm)
    assert eventually(lambda: warm.lines("ran") == ["first", "second"], LONG)
    kill_daemon(warm)
    go(warm, "second")

    assert b"first says no" in ending(call)[1]
    assert ["first", "second", "third", "third"] == warm.lines("ran")
    assert is_clean(warm)


def test_everything_that_a_hook_reads_and_says_survives(warm):
    """
    Input that no pipe holds, half of it read before the kill; half a megabyte of output, and the order of hooks that change the input.
    """
    reads = (
        'head -c 10 >/dev/null; echo x >>"$HOME/ran"; until [ -e "$HOME/reads.go" ]; do sleep 0.02; done; wc -c >"$HOME/size"; '
        'printf \'{"context": "\'; head -c 500000 /dev/zero | tr "\\0" y; printf \'"}\''
    )
    rewrites = command("""echo '{"updated_input": {"command": "echo safe"}}'""", name="rewrites")
    sees = command('grep -o "echo safe" >>"$HOME/seen"; true', name="sees")
    warm.hooks(rewrites, command(reads, name="reads"), sees)
    given = payload(session="s", more="x" * 400_000)
    call = Call(warm, given)
    assert eventually(lambda: warm.lines("ran"), LONG)
    kill_daemon(warm)
    go(warm, "reads")
    code, out, _ = ending(call)
    said = json.loads(out)["hookSpecificOutput"]

    assert 0 == code
    assert int((warm.home / "size").read_text()) > 400_000
    assert "y" * 1000 in said["additionalContext"]
    assert {"command": "echo safe"} == said["updatedInput"]
    assert "echo safe" in warm.lines("seen")


def test_a_hook_that_closes_its_output_and_leaves_children_is_heard_and_nothing_of_it_stays(warm):
    """
    Its end is that of its own process, not of its output.
    """
    mark = word()
    warm.hooks(command("exec >&-; (setsid sleep " + mark + " &); " + WAITS.format(name="guard")))
    call = Call(warm)
    assert eventually(lambda: warm.lines("ran"), LONG)
    kill_daemon(warm)
    go(warm, "guard")

    assert refused(ending(call), "guard says no")
    assert [] == running(f"sleep\0{mark}")
    assert is_clean(warm)


def test_where_no_claim_can_be_written_a_closed_hook_refuses_and_runs_once(warm):
    """
    Nobody can know then whether it has begun.
    """
    shutil.rmtree(warm.house / "calls")
    (warm.house / "calls").touch()
    warm.hooks(waits("guard", on_failure="closed"))
    call = Call(warm)
    assert eventually(lambda: warm.lines("ran"), LONG)
    kill_daemon(warm)
    go(warm, "guard")

    assert refused(ending(call), FAIL_CLOSED_REASON)
    assert ["guard"] == warm.lines("ran")


def test_a_large_payload_whose_own_process_is_killed_too_is_answered_by_its_hook(warm):
    """
    The daemon forks for it; both are killed.
    """
    warm.hooks(waits("guard"))
    call = Call(warm, payload(more="x" * 3_000_000))
    assert eventually(lambda: warm.lines("ran"), LONG)
    assert len(warm.daemons()) == 2
    warm.kill()
    go(warm, "guard")

    assert refused(ending(call), "guard says no")
    assert ["guard"] == warm.lines("ran")
    assert is_clean(warm)


def test_a_large_payload_whose_own_process_alone_is_killed_is_answered_by_its_hook(warm):
    """
    The daemon lives on, and knows that its child does not.
    """
    warm.hooks(waits("guard"))
    call = Call(warm, payload(more="x" * 3_000_000))
    assert eventually(lambda: warm.lines("ran"), LONG)
    (child,) = set(warm.daemons()) - {warm.status()["pid"]}
    os.kill(child, signal.SIGKILL)
    go(warm, "guard")

    assert refused(ending(call), "guard says no")
    assert ["guard"] == warm.lines("ran")


FUNCTION = """
import os, sys, time
from hookonce import deny, hook
@hook("before_tool_execute")
def guard(event):
    with open(os.path.expanduser("~/ran"), "a") as file: file.write("function\\n")
    while not os.path.exists(os.path.expanduser("~/function.go")): time.sleep(0.02)
    ENDING
"""


@pytest.mark.parametrize("last", ['return deny("no")', 'sys.stderr.write("no\\n"); sys.exit(2)'], ids=["answers", "exits"])
def test_a_function_that_has_begun_is_heard_out(warm, last):
    """
    Its worker outlives the daemon; what it prints is heard too.
    """
    warm.hooks(HOOK | {"handler": {"type": "function", "file": "guard.py", "timeout": 20}}, notes("after"))
    (warm.home / ".config" / "hookonce" / "guard.py").write_text(FUNCTION.replace("ENDING", last))
    call = Call(warm)
    assert eventually(lambda: warm.lines("ran"), LONG)
    kill_daemon(warm)
    go(warm, "function")

    assert refused(ending(call), "no")
    assert ["function", "after"] == warm.lines("ran")
    assert is_clean(warm)
    assert eventually(lambda: not running(str(warm.home / ".config" / "hookonce" / "guard.py")), LONG)


@pytest.mark.parametrize("mode", ["open", "closed"])
def test_what_the_daemon_itself_has_asked_for_over_the_network_is_a_failure_of_that_hook(warm, mode):
    """
    Nobody can hear that answer any more, nobody asks again, and every other hook is heard.
    """
    with server(WAYS) as there:
        remote = HOOK | {"name": "remote", "handler": {"type": "http", "url": there.url("/hangs"), "timeout": 20}, "on_failure": mode}
        warm.hooks(notes("before"), remote, notes("after"))
        call = Call(warm)
        assert eventually(lambda: there.heard, LONG)
        kill_daemon(warm)
        end = ending(call)
        assert 1 == len(there.heard)

    reason = "the hook remote failed (the process that ran it was killed), and on_failure is closed"
    assert refused(end, reason) if mode == "closed" else end == SILENT
    assert ["before", "after"] == warm.lines("ran")
    assert is_clean(warm)


def test_an_async_hook_is_started_once(warm):
    """
    Before the kill; the one after it is started by whoever answers.
    """
    asynchronous = {"blocking": False, "handler": {"async": True}}
    warm.hooks(notes("early", **asynchronous), waits("guard"), notes("late", **asynchronous))
    call = Call(warm)
    assert eventually(lambda: "guard" in warm.lines("ran"), LONG)
    kill_daemon(warm)
    go(warm, "guard")

    assert refused(ending(call), "guard says no")
    assert eventually(lambda: ["early", "guard", "late"] == sorted(warm.lines("ran")), LONG)


@pytest.mark.parametrize("mode", ["open", "closed"])
def test_a_hook_that_does_not_end_has_its_own_time_and_no_more(warm, mode):
    """
    Its timeout counts from its start, and nothing of it is left.
    """
    mark = word()
    warm.hooks(command(f'echo x >>"$HOME/ran"; (setsid sleep {mark} &); sleep {mark}', handler={"timeout": 1}, on_failure=mode))
    call = Call(warm)
    assert eventually(lambda: warm.lines("ran"), LONG)
    kill_daemon(warm)
    end = ending(call)

    assert refused(end, "the hook guard did not answer in time") if mode == "closed" else end == SILENT
    assert [] == running(f"sleep\0{mark}")
    assert ["x"] == warm.lines("ran")


def test_a_timeout_before_the_kill_is_a_timeout_after_it(warm):
    """
    What the daemon knew of the first hook is not lost during the second.
    """
    late = command('echo late >>"$HOME/ran"; sleep 60', handler={"timeout": 0.5, "timeout_action": "block"}, name="late")
    warm.hooks(late, waits("second"))
    call = Call(warm)
    assert eventually(lambda: len(warm.lines("ran")) == 2, LONG)
    kill_daemon(warm)
    (warm.home / "second.go").touch()

    assert b"did not answer in time" in ending(call)[1]
    assert ["late", "second"] == warm.lines("ran")


def test_a_client_that_is_killed_after_the_daemon_takes_its_hook_along(warm):
    """
    And nobody's words are left on a disk.
    """
    mark = word()
    said = command('echo "a secret"; echo first >>"$HOME/ran"', name="first")
    warm.hooks(said, command(f'echo x >>"$HOME/ran"; (setsid sleep {mark} &); sleep {mark}'))
    call = Call(warm)
    assert eventually(lambda: len(running(f"sleep\0{mark}")) == 2, LONG)
    kill_daemon(warm)
    os.killpg(call.process.pid, signal.SIGKILL)
    call.end()

    assert eventually(lambda: not running(f"sleep\0{mark}"), LONG)
    assert ["first", "x"] == warm.lines("ran")
    left = [path for path in (warm.house / "calls").iterdir() if b"secret" in path.read_bytes()]
    assert eventually(lambda: not any(path.exists() for path in left), LONG)


@pytest.mark.parametrize("mode", ["open", "closed"])
def test_a_watchdog_that_is_killed_with_the_daemon_is_a_failure_of_its_hook(warm, mode):
    """
    Nobody knows how that hook ended, so it counts as failed, and does not run again.
    """
    mark = word()
    warm.hooks(command(f'echo x >>"$HOME/ran"; exec sleep {mark}', on_failure=mode))
    call = Call(warm)
    assert eventually(lambda: running(f"sleep\0{mark}"), LONG)
    (sleeper,) = running(f"sleep\0{mark}")
    watchdog = int(read_proc_stat(sleeper)[1])
    kill_daemon(warm)
    os.kill(watchdog, signal.SIGKILL)
    end = ending(call)
    for pid in running(f"sleep\0{mark}"):
        os.kill(pid, signal.SIGKILL)

    reason = "the hook guard failed (the process that ran it was killed), and on_failure is closed"
    assert refused(end, reason) if mode == "closed" else end == SILENT
    assert ["x"] == warm.lines("ran")


@pytest.mark.parametrize("first", [0, 1], ids=["the first entry is asked again first", "the second entry is"])
def test_a_call_through_two_entries_is_decided_once_all_the_same(warm, first):
    """
    The hook began for the first entry, while the second one waited.
    """
    warm.hooks(waits("guard"))
    calls = [Call(warm)]
    assert eventually(lambda: warm.lines("ran"), LONG)
    calls.append(Call(warm, words=[*TOOL[:3], "claude-code/project"]))
    assert eventually(lambda: warm.status()["under_way"] == 2, LONG)
    os.kill(calls[1 - first].process.pid, signal.SIGSTOP)
    kill_daemon(warm)
    time.sleep(0.6)
    os.kill(calls[1 - first].process.pid, signal.SIGCONT)
    go(warm, "guard")

    assert [True, True] == [refused(ending(call), "guard says no") for call in calls]
    assert ["guard"] == warm.lines("ran")
