"""Functions as handlers: in a process of their own, or in one that has their file loaded; nobody disturbs another."""

import os
import time

import pytest

from hookonce.handlers.supervise import watchdog as supervise_watchdog
from tests.handlers.processes import running
from tests.sdk.worker_fixture import Ready, event, said
from tests.shared import ROOT

GUARD = '@hook("before_tool_execute", tool="shell")\ndef guard(event):\n    if "rm" in event.command: return deny("no")\n'


@pytest.fixture
def ready(tmp_path, monkeypatch):
    """A folder of functions, and whoever has them loaded."""
    monkeypatch.setenv("HOME", str(tmp_path))
    found = Ready(tmp_path)
    yield found
    found.close()


@pytest.fixture(params=["cold", "warm"])
def ask(ready, request):
    """Both ways to ask a function, which have to be the same to everybody."""
    return getattr(ready, request.param)


def test_a_function_answers(ready, ask):
    """
    It refuses what it wants to, and has no opinion on the rest.
    """
    ready.write(GUARD)

    assert {"decision": "deny", "reason": "no"} == said(ask(event("rm x"), name="guard"))
    assert None is said(ask(event("ls"), name="guard"))
    assert {"decision": "deny", "reason": "no"} == said(ask(event("rm x")))


def test_it_runs_in_the_world_of_who_has_called(ready, ask, tmp_path):
    """
    Its environment, directory and umask are the caller's, and so is nothing else.
    """
    place = tmp_path / "elsewhere"
    place.mkdir()
    ready.write("@hook\ndef look(event): return context(repr((dict(os.environ), os.getcwd(), os.umask(0))))\n")

    seen = said(ask(cwd=str(place), env={"PATH": "/usr/bin:/bin", "MINE": "ü"}, umask=0o27))
    world, cwd, umask = eval(seen["context"])  # noqa: S307  what our own function has written

    assert ({"PATH": "/usr/bin:/bin", "MINE": "ü"}, str(place), 0o27) == (
        {key: world[key] for key in world if key not in {"PWD", "SHLVL", "_", "OLDPWD", "LC_CTYPE"}},
        cwd,
        umask,
    )


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("raise ValueError('oh dear')", 1, "ValueError: oh dear"),
        ("os._exit(7)", 7, ""),
        ("os._exit(0)", None, ""),
        ("print('refused', file=sys.stderr); sys.exit(2)", 2, "refused"),
        ("return 'no'", 1, "return nothing, or deny"),
        ("return bytearray(1 << 31) and None", 1, "MemoryError"),
        ("raise KeyboardInterrupt", 1, "KeyboardInterrupt"),
    ],
)
def test_a_function_that_fails_says_how(ready, ask, body, code, words):
    """
    Its exit code counts as that of a command does, and what it wrote goes to the log.
    """
    ready.write(f"@hook\ndef guard(event):\n    {body}\n")

    ran = ask()

    assert (code, b"") == (ran.code, ran.stdout)
    assert words in ran.stderr.decode()


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("def broken(:\n", None, "SyntaxError"),
        ("import nothing_like_this\n", None, "nothing_like_this"),
        ("x = 1\n", None, "has no function with @hook"),
        (GUARD, "other", "has no function other"),
        ('@hook("session_start")\ndef guard(event): ...\n', "guard", "is a hook for session_start"),
        ('@hook("session_start")\ndef guard(event): ...\n', None, "no function of"),
        ('@hook("befor_tool_execute")\ndef guard(event): ...\n', None, "before_tool_execute"),
    ],
)
def test_a_file_that_is_of_no_use_fails(ready, ask, text, name, words):
    """
    Whatever is wrong is said in words; it is the failure of this hook, and no decision.
    """
    ready.write(text)

    ran = ask(name=name)

    assert 0 != ran.code
    assert words in (ran.failure or "") + ran.stderr.decode()


def test_what_it_prints_is_no_answer(ready, ask):
    """
    stdout belongs to the answer alone, even for what it starts.
    """
    ready.write("@hook\ndef guard(event):\n    print('{}'); os.system('echo more'); sys.stdout.flush()\n    return ask('sure?')\n")

    assert {"decision": "ask", "reason": "sure?"} == said(ask())


COUNTS = "seen = []\n@hook{words}\ndef guard(event):\n    seen.append(os.getpid())\n    return context(str(len(seen)))\n"


@pytest.mark.parametrize(("words", "manifest"), [("", True), ("(isolation='fork')", False), ("(isolation='fork')", True)])
@pytest.mark.parametrize("name", [None, "guard"])
def test_in_isolation_each_call_begins_with_the_file_as_it_is(ready, words, manifest, name):
    """
    Whether the manifest says so or the decorator.
    """
    ready.write(COUNTS.format(words=words))

    assert [{"context": "1"}] * 3 == [said(ready.warm(name=name, is_isolated=manifest)) for _ in range(3)]


def test_without_isolation_variables_of_the_file_stay(ready):
    """
    One process answers call after call.
    """
    ready.write(COUNTS.format(words=""))

    assert ["1", "2", "3"] == [said(ready.warm())["context"] for _ in range(3)]
    assert ["1"] == [said(ready.warm(is_isolated=True))["context"]]
    assert ["4"] == [said(ready.warm())["context"]]


@pytest.mark.parametrize(("name", "counts"), [("in_worker", "123"), ("in_copy", "111")])
def test_the_example_counts_as_the_page_says(ready, name, counts):
    """
    docs/sdk.md has both functions, and what they say.
    """
    ready.write((ROOT / "examples" / "state" / "calls.py").read_text(encoding="utf-8"))

    assert [f"call {count} of this {name[3:]}" for count in counts] == [said(ready.warm(name=name))["context"] for _ in counts]


def test_what_it_leaves_running_ends_with_it(ready, ask, tmp_path):
    """
    Threads, children, and children that have left for a session of their own.
    """
    mark = f"sleep {os.getpid()}7"
    ready.write(
        "from subprocess import Popen\nfrom threading import Thread\n@hook\ndef guard(event):\n"
        "    Thread(target=time.sleep, args=(99,)).start()\n"
        f"    Popen('{mark}', shell=True); Popen('setsid {mark} & disown', shell=True, executable='/bin/bash')\n"
        "    time.sleep(0.1)\n    return deny('no')\n"
    )

    assert {"decision": "deny", "reason": "no"} == said(ask())

    ready.turn(lambda: not running(mark))


def test_one_that_sleeps_is_ended_and_disturbs_nobody(ready):
    """
    While it sleeps others are answered, by the same file; at its deadline it ends, and the next call is answered.
    """
    ready.write("@hook\ndef guard(event):\n    if event.command == 'sleep': time.sleep(99)\n    return deny('no')\n")
    ready.warm()
    sleeping = ready.begin(event("sleep"), timeout=1.5)

    others = [said(ready.warm()) for _ in range(5)]

    assert not sleeping
    assert [{"decision": "deny", "reason": "no"}] * 5 == others
    assert "timeout" == ready.wait(sleeping)[0].failure
    assert {"decision": "deny", "reason": "no"} == said(ready.warm())


def test_many_at_once_wait_for_their_turn(ready):
    """
    More calls than there are processes are all answered.
    """
    ready.write("@hook\ndef guard(event):\n    time.sleep(0.01); return context(event.command)\n")

    begun = [ready.begin(event(str(number))) for number in range(30)]

    assert [{"context": str(number)} for number in range(30)] == [said(ran) for ran in ready.wait(*begun)]


def test_a_file_that_never_gets_loaded_is_given_up(ready):
    """
    The call ends at its deadline; once the file is mended the next one is answered.
    """
    ready.write("time.sleep(99)\n" + GUARD)

    assert "timeout" == ready.warm(timeout=0.5).failure

    ready.write(GUARD)
    assert {"decision": "deny", "reason": "no"} == said(ready.warm(event("rm x")))


def test_a_file_that_ends_its_process_while_it_is_loaded_fails(ready):
    """
    Nobody waits until the deadline for that.
    """
    ready.write("os._exit(3)\n")

    assert "the process that had its file loaded has ended" == ready.warm().failure


def test_an_edited_file_counts_from_the_next_call_on(ready):
    """
    What has begun ends as it began; what comes later runs what is there now, and the old process goes.
    """
    ready.write("@hook\ndef guard(event):\n    if event.command == 'slow': time.sleep(1)\n    return context('old')\n")
    said(ready.warm())
    slow = ready.begin(event("slow"))
    ready.turn(lambda: running("guard.py"))
    ready.write("@hook\ndef guard(event):\n    return context('new')\n")

    assert {"context": "new"} == said(ready.warm())
    assert {"context": "old"} == said(ready.wait(slow)[0])
    assert {"context": "new"} == said(ready.warm())
    folder = str(ready.folder)
    ready.turn(lambda: len(running(folder)) <= 3)


def test_an_edited_file_that_it_imports_counts_too(ready):
    """
    From the next call on, as if it were its own; and while nothing is edited nothing is loaded anew.
    """
    ready.write("import words\n@hook\ndef guard(event): return context(f'{words.SAYS} {os.getppid()}')\n")
    seen = []
    for text in ("old", "new"):
        (ready.folder / "words.py").write_text(f"SAYS = {text!r}\n", encoding="utf-8")
        time.sleep(0.11)  # what was written just now might change once more
        seen += [said(ready.warm())["context"].split() for _ in range(2)]

    assert ["old", "old", "new", "new"] == [text for text, _ in seen]
    assert seen[0] == seen[1] != seen[2] == seen[3]
    assert {"guard.py", "words.py"} == {file.name for file in ready.folder.iterdir()}


def test_a_file_that_changes_between_look_and_start_does_not_run(ready, tmp_path):
    """
    What runs is what was seen: a process that finds other bytes than were hashed refuses them.
    """
    ready.write(GUARD)
    call = ready.call(event("rm x"))
    ready.write("open('ran', 'w')\n" + GUARD)
    ended = []
    call.begin(ready.loop, 10, ended.append)

    (ran,) = ready.wait(ended)

    assert "has changed while its hook was being started" in ran.failure
    assert not (tmp_path / "ran").exists()


def test_a_killed_nursery_is_replaced(ready):
    """
    Calls that are under way fail at once; the next one starts another.
    """
    ready.write("@hook\ndef guard(event):\n    if event.command == 'kill': os.kill(os.getppid(), 9); time.sleep(99)\n    return deny('no')\n")
    ready.warm()

    assert ready.warm(event("kill")).failure is not None
    assert {"decision": "deny", "reason": "no"} == said(ready.warm())


def test_a_large_event_and_a_large_answer(ready, ask):
    """
    Pipes that are full are no obstacle.
    """
    ready.write("@hook\ndef guard(event): return context(event.command)\n")

    assert {"context": "x" * 900_000} == said(ask(event("x" * 900_000)))


@pytest.mark.parametrize("watchdog", ["native", "copied"])
def test_nobody_is_left_behind(ready, watchdog, monkeypatch):
    """
    When whoever asked ends, so does all of it.
    """
    if watchdog == "copied":
        monkeypatch.setattr(supervise_watchdog, "find_native_watchdog", lambda: None)
    ready.write("@hook\ndef guard(event): time.sleep(99)\n")
    ready.begin()
    ready.turn(lambda: len(running(str(ready.folder))) >= 2)

    ready.kept.close()

    ready.turn(lambda: not running(str(ready.folder)))


def test_an_answer_that_nobody_waits_for_is_broken_off(ready, tmp_path):
    """
    As when an agent is interrupted.
    """
    ready.write(f"@hook\ndef guard(event):\n    open({str(tmp_path / 'began')!r}, 'w').close(); time.sleep(0.5); open({str(tmp_path / 'ended')!r}, 'w')\n")
    ready.warm(timeout=5)
    (tmp_path / "began").unlink()
    (tmp_path / "ended").unlink()
    made, ended = ready.call(), []
    asking = made.begin(ready.loop, 10, ended.append)
    ready.turn((tmp_path / "began").exists)

    asking.cancel()

    assert ended
    ready.turn(lambda: not eventually_busy(ready))
    assert not (tmp_path / "ended").exists()


def eventually_busy(ready):
    """Whether a copy still works on the call."""
    return any(not one.is_idle for one in ready.kept._clients.values())
