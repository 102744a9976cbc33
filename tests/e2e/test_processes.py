"""The command that agents call, as they call it: in a process of its own, killed, starved, lied to and left alone."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hookonce import agents
from hookonce.agents import canonical_event_of, config_events
from hookonce.base import ids, paths
from hookonce.base.runtime_dir import runtime_file
from hookonce.base.spawn import fork
from hookonce.base.wire import BLOCK_CODE, UNWRITTEN_REASON
from hookonce.client import installation, oneshot_call
from hookonce.client.installation import install_client, refresh_client
from hookonce.dispatch import dedup, dispatcher, fail_mode, live_formats
from hookonce.dispatch.request import call_record
from hookonce.handlers.operation import run_blocking
from hookonce.model import Reply
from hookonce.store.spool import files
from tests.cli.command import run as command
from tests.e2e.fault_cases import KIND, MODES, assert_unread, case, fail_mode_reply, settle, unread
from tests.handlers.processes import eventually, running, word
from tests.sample import part
from tests.shared import ROOT

COLD = {"HOOKONCE_COLD": "1"}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of our own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=["hookonce-on", "hookonce-on.sh"], ids=["native", "twin"])
def client(home, monkeypatch, request):
    """The installed command, in that home: the one made for this machine, and its twin."""
    kept = ROOT / "src" / "hookonce" / "client" / "native" / request.param
    if not kept.is_file():
        pytest.skip("no client was made for this machine")
    monkeypatch.setattr(installation, "_packaged_client", kept.read_bytes)
    return install_client()


def call(client, one, raw=None, **more):
    """Call it as an agent does; what it said and how it ended."""
    env = {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"], **COLD}
    ran = subprocess.run(
        [client, *one.words], input=one.raw if raw is None else raw, capture_output=True, check=False, env=env, **more
    )
    return ran.stdout, ran.stderr, ran.returncode


def bytes_of(reply):
    """An answer as it stands on the pipes."""
    return (reply.stdout + "\n" if reply.stdout else "").encode(), reply.stderr.encode(), reply.code


def refusing(home, name="claude-code"):
    """A hook that refuses, and the call that it refuses."""
    settle(home, "open", command="echo no >&2; exit 2")
    return case(name, home)


# Faults in the real command


@pytest.mark.part(5)
@pytest.mark.parametrize("name", agents.AGENTS)
def test_the_fail_mode_is_the_same_with_python_and_without(home, client, name):
    """
    A payload that is cut, told to Python, is refused; a call where the interpreter is gone where a hook fails closed.
    """
    one = case(name, home)
    for mode in part(MODES, 2, [*agents.AGENTS].index(name)):
        settle(home, mode)
        here = client.with_name("interpreter")
        kept = here.read_bytes()
        stdout, stderr, code = call(client, one, one.raw[:-3])
        assert_unread(one, Reply(stdout=stdout.decode().strip(), stderr=stderr.decode(), code=code))
        here.unlink()
        assert bytes_of(fail_mode_reply(one, mode)) == call(client, one)
        here.write_bytes(kept)


INTERPRETERS = {
    "no file that names it": lambda file: file.unlink(),
    "a file that is a folder": lambda file: (file.unlink(), file.mkdir()),
    "an empty file": lambda file: file.write_text(""),
    "binary garbage": lambda file: file.write_bytes(bytes(range(256))),
    "an interpreter that was removed": lambda file: names(file, "/nonexistent/python"),
    "a folder": lambda file: names(file, "/usr"),
    "a file that is no program": lambda file: names(file, "/etc/passwd"),
    "a program that ends at once": lambda file: names(file, "/bin/true"),
    "a program that fails": lambda file: names(file, "/bin/false"),
    "a program that takes offence at our words": lambda file: names(file, "/bin/ls"),
    "a program that cannot be executed": lambda file: script(file, "\0\0\0garbage"),
    "one that dies": lambda file: script(file, "#!/bin/sh\nkill -SEGV $$"),
    "one that is killed": lambda file: script(file, "#!/bin/sh\nkill -KILL $$"),
    "one whose libraries are gone": lambda file: script(file, "#!/bin/sh\necho 'libpython: not found' >&2\nexit 127"),
    "another Python, without us": lambda file: names(file, sys.executable, "build"),
    "a folder of ours without us": lambda file: names(file, sys.executable, "build", "/usr/share"),
    "a package of ours that is broken": lambda file: package(file, "hookonce", "this is no Python"),
    "a dependency that is broken": lambda file: package(file, "msgspec", "raise ImportError('no such extension')"),
    "a dependency that leaves": lambda file: package(file, "msgspec", "import sys; sys.exit(0)"),
    "a dependency that dies": lambda file: package(file, "msgspec", "import os; os.abort()"),
    "a dependency that talks": lambda file: package(file, "msgspec", "import sys; sys.stderr.write('x'); 1 / 0"),
}


def names(file, *lines):
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def script(file, text):
    program = file.with_name("program")
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    names(file, program)


def package(file, name, text):
    """A module of that name comes first."""
    first = file.parent / "first"
    (first / name).mkdir(parents=True)
    (first / name / "__init__.py").write_text(text, encoding="utf-8")
    if name != "hookonce":
        (first / "hookonce").symlink_to(ROOT / "src" / "hookonce")
    program, build, *shelves = file.read_text(encoding="utf-8").splitlines()
    names(file, program, build, first, *shelves)


@pytest.mark.part(6)
@pytest.mark.parametrize("fault", INTERPRETERS)
def test_without_python_the_shell_has_the_last_word(home, client, fault):
    """
    An interpreter that is missing, broken, somebody else's or killed costs nobody the promised answer.
    """
    INTERPRETERS[fault](client.with_name("interpreter"))
    for mode in MODES:
        settle(home, mode)
        for name in ("claude-code", "cursor"):
            one = case(name, home)
            assert bytes_of(fail_mode_reply(one, mode)) == call(client, one), (mode, name)


@pytest.mark.parametrize(
    "broken", [None, b"", b"\xff\0|\n", b"cursor|preToolUse|x|{}|\n", b"cursor|preToolUse|0|{\\0042cut"]
)
def test_without_python_and_without_usable_fail_modes_it_is_silence(home, client, broken):
    """
    A file that is not there means open, and so does one that nobody can read.
    """
    client.with_name("interpreter").unlink()
    fail_mode.fail_mode_file().unlink()
    if broken is not None:
        fail_mode.fail_mode_file().write_bytes(broken)
    for name in ("claude-code", "cursor"):
        one = case(name, home)
        assert bytes_of(fail_mode_reply(one, "open")) == call(client, one)


def test_the_shell_knows_the_silence_of_every_agent(home, client):
    """
    Also where the file of fail modes is gone, and by whatever name the agent is called.
    """
    client.with_name("interpreter").unlink()
    for name in [*agents.AGENTS, *agents.AGENT_ALIASES]:
        ran = subprocess.run([client, name, "x"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        quiet = fail_mode.open_reply(agents.load(name))
        assert bytes_of(quiet) == (ran.stdout, ran.stderr, ran.returncode), name


def test_every_refusal_that_was_made_beforehand_is_the_one_that_python_would_give(home, client):
    """
    For every event of every agent and of every live format, whose tool need not name the event, read and printed by a
    shell; for our wrappers, which may have to be asked at any event, the same.
    """
    kinds = sorted({kind for name in agents.AGENTS for kind in config_events(agents.load(name)).values()})
    hooks = [{"event": kind, "blocking": True, "on_failure": "closed", "handler": {"type": "command", "command": "true"}} for kind in kinds]
    manifest = {"spec": "hooks/1.0", "hooks": [hook for hook in hooks if not hook["event"].startswith("vendor.")]}
    (paths.config_dir() / "hooks.json").parent.mkdir(parents=True)
    (paths.config_dir() / "hooks.json").write_text(json.dumps(manifest), encoding="utf-8")
    fail_mode.refresh_fail_mode()
    printer = """while IFS='|' read -r a e c o r; do printf '%s\\036%s\\036%s\\036%b\\036%b\\035' "$a" "$e" "$c" "$o" "$r"; done"""
    ran = subprocess.run(["sh", "-c", printer], input=fail_mode.fail_mode_file().read_bytes(), capture_output=True, check=True)
    rows = [row.split(b"\x1e") for row in ran.stdout.split(b"\x1d")[1:-1]]

    assert len(rows) > 60
    nameless = [row for row in rows if row[0] in {b"", b"wrapper:"}]  # of a call that names no agent: the code that most read
    assert nameless
    assert all((b"2", b"") == (*row[2:4],) and b"hookonce doctor" in row[4] for row in nameless), nameless
    for name, native, code, stdout, stderr in (row for row in rows if row not in nameless):
        agent = live_formats.load_caller(name.decode().removeprefix("wrapper:"))
        if not native:
            assert (stdout, stderr, code) in {(*answer, number) for one, event, number, *answer in rows if one == name and event}
            continue
        assert name.startswith(b"wrapper:") or canonical_event_of(agent, native.decode()) in kinds
        expected = bytes_of(fail_mode.build_reply(agent, native.decode(), fail_mode.FAIL_CLOSED_REASON))
        assert expected == (stdout, stderr, int(code)), (name, native)


def test_the_shell_finds_the_refusal_without_any_other_program(home, client):
    """
    Nothing on PATH, and an environment without anything: what a repository can set does not matter.
    """
    settle(home, "closed")
    client.with_name("interpreter").unlink()
    one = case("claude-code", home)
    ran = subprocess.run([client, *one.words], input=one.raw, capture_output=True, check=False, env={"PATH": "/none", **COLD})

    assert bytes_of(fail_mode_reply(one, "closed")) == (ran.stdout, ran.stderr, ran.returncode)


@pytest.mark.part(6)
@pytest.mark.parametrize("python", [True, False])
@pytest.mark.parametrize("redirection", ["<&-", "2>&-", "<&- 2>&-", "<&- >&- 2>&-", ">&-", ">/dev/full", "2>/dev/full", "| true"])
def test_streams_that_are_closed_or_full_end_in_nothing_strange(home, client, redirection, python):
    """
    What can still be heard is the fail mode, else an exit code that refuses; no file of ours takes the place of a stream.
    """
    settle(home, "closed")
    if not python:
        client.with_name("interpreter").unlink()
    one = case("claude-code", home)
    line = f"{client} {' '.join(one.words)} {redirection}"
    ran = subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    stdout, _, _ = bytes_of(unread(one, "the payload does not contain what the hooks have to judge") if python else fail_mode_reply(one, "closed"))
    is_lost = ">&-" in redirection.split() or redirection == ">/dev/full"
    reason = UNWRITTEN_REASON if (is_lost or redirection == "| true") and "2>&-" not in redirection else b""

    assert (b"" if is_lost or redirection == "| true" else stdout, BLOCK_CODE if is_lost else 0) == (ran.stdout, ran.returncode)
    assert ran.stderr == reason or (redirection == "| true" and ran.stderr == b"")
    for file in paths.data_dir().rglob("*"):
        assert not file.is_file() or file.name == "failmode.bin" or b"permissionDecision" not in file.read_bytes()


@pytest.mark.part(4)
@pytest.mark.parametrize("named", [None, "/nonexistent", "/etc/passwd", "relative", ""])
def test_a_home_that_is_none_is_no_reason_to_say_anything(home, client, named):
    """
    Then the home is the one that the system knows; whatever stands there, a payload that is cut comes to no message.
    """
    one = case("cursor", home)
    env = {"PATH": os.environ["PATH"], **COLD} | ({} if named is None else {"HOME": named})
    ran = subprocess.run([client, *one.words], input=one.raw[:-3], capture_output=True, check=False, env=env)

    assert (b"", 0) == (ran.stderr, ran.returncode)
    assert json.loads(ran.stdout) == {} or "deny" == json.loads(ran.stdout)["permission"]


@pytest.mark.parametrize("words", [[], [""], ["--via"], ["nobody"], ["claude-code"], ["claude-code", "X", "--run"]])
def test_hookonce_on_answers_like_the_client_and_never_explains_its_usage(home, words):
    """
    Typed by hand or called by an agent, whatever the words.
    """
    ran = command("on", *words, given=b"", HOME=str(home))

    assert (0, "", "") == (ran.code, ran.out, ran.err)


@pytest.mark.part(2)
@pytest.mark.parametrize("mode", MODES)
def test_where_nothing_can_be_written_the_answer_is_the_hooks_or_the_fail_mode(home, client, mode):
    """
    Not one byte in any file: a client that needs one for Python gives the fail mode, and no hook runs.
    """
    settle(home, mode, command=f"mkdir {home}/ran")
    one = case("claude-code", home)

    def starve():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    answer = call(client, one, preexec_fn=starve)
    assert bytes_of(fail_mode_reply(one, "open" if (home / "ran").exists() else mode)) == answer


@pytest.mark.part(4)
@pytest.mark.parametrize(
    "limit", ["-n 4", "-n 7", "-v 16384", "-v 30720", "-t 0"], ids=["no files", "few files", "no memory", "little memory", "no time"]
)
def test_a_starved_python_decides_nothing(home, client, limit):
    """
    Too few descriptors, no memory, no time: whatever that does to Python, the refusal holds; so does a hook's own.
    """
    settle(home, "closed", "echo no >&2; exit 2")
    one = case("claude-code", home)
    file = client.with_name("interpreter")
    python, *shelves = file.read_text(encoding="utf-8").splitlines()
    script(file, f'#!/bin/sh\nulimit {limit}\nexec "{python}" "$@"\n')
    names(file, file.read_text(encoding="utf-8").strip(), *shelves)
    stdout, stderr, code = call(client, one)

    assert ("deny", b"", 0) == (json.loads(stdout)["hookSpecificOutput"]["permissionDecision"], stderr, code)


def test_an_agent_that_never_closes_its_pipe_is_answered_all_the_same(home, client):
    """
    A whole payload and then two seconds of nothing is all that there will be.
    """
    one = refusing(home)
    begin = time.monotonic()
    ran = start(client, one)
    ran.stdin.write(one.raw)
    ran.stdin.flush()

    assert b"deny" in ran.stdout.readline()
    assert 1.5 < time.monotonic() - begin < 15
    assert 0 == ended(ran)


def test_a_payload_that_never_comes_ends_in_the_fail_mode_before_the_agent_gives_up(home, client):
    """
    Half of it and then nothing: the refusal comes before the agent's own timeout.
    """
    settle(home, "closed")
    one = case("claude-code", home)
    begin = time.monotonic()
    ran = start(client, one._replace(words=[*one.words, "--timeout", "2"]))
    ran.stdin.write(one.raw[:-5])
    ran.stdin.flush()

    assert bytes_of(fail_mode_reply(one, "closed"))[0] == ran.stdout.read()
    assert time.monotonic() - begin < 2
    assert 0 == ended(ran)


def test_without_python_an_agent_that_is_still_writing_does_not_run_into_a_closed_pipe(home, client):
    """
    The answer is there at once, and every byte is taken.
    """
    settle(home, "closed")
    client.with_name("interpreter").unlink()
    one = case("claude-code", home)
    ran = start(client, one)

    assert bytes_of(fail_mode_reply(one, "closed"))[0] == ran.stdout.read()
    assert 0 == ran.wait(5)
    ran.stdin.write(b"x" * 3_000_000)
    assert 0 == ended(ran)


def start(client, one, **more):
    """Call it and do not wait."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([client, *one.words], **pipes, **more)


def ended(ran):
    """Its exit code, all pipes closed."""
    for pipe in (ran.stdin, ran.stdout, ran.stderr):
        pipe.close()
    return ran.wait(5)


# Killing the caller


@pytest.mark.part(2)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, "group"])
def test_whoever_kills_the_command_kills_its_hook(home, client, how):
    """
    Within a second nothing of it runs any more: not the shell, not Python, not the watchdog, not what the hook hides.
    """
    mark = word()
    settle(home, "open", command=f"(env -i setsid sleep {mark} &); sleep {mark}")
    one = case("claude-code", home)
    ran = start(client, one, start_new_session=True)
    ran.stdin.write(one.raw)
    ran.stdin.close()
    assert eventually(lambda: len(running(f"sleep\0{mark}")) == 2)
    everybody = below(ran.pid)
    assert len(everybody) >= 4

    os.killpg(ran.pid, signal.SIGKILL) if how == "group" else os.kill(ran.pid, how)
    assert eventually(lambda: not any(alive(pid) for pid in everybody - {ran.pid}), 15)
    assert b"" == ran.stdout.read()
    ended(ran)


def below(pid):
    """A process and all that it has started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return {pid}.union(*(below(int(child)) for child in children))


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_call_whose_agent_is_gone_before_it_began_runs_nothing(home):
    """
    Who called is looked at from the first moment on.
    """
    settle(home, "open", command=f"sleep 1; touch {home}/ran")
    pid = fork()
    if not pid:
        read, write = os.pipe()
        os.dup2(read, 0)
        os.write(write, case("claude-code", home).raw)
        os.close(write)
        os._exit(oneshot_call.main(case("claude-code", home).words, caller=1))

    assert 1 == os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert not (home / "ran").exists()


def test_our_own_delay_is_a_failure_too(home, monkeypatch):
    """
    Whatever holds us up, at the deadline the agent hears the fail mode.
    """
    settle(home, "closed")
    one = case("claude-code", home)
    monkeypatch.setattr(dispatcher, "process_request", lambda *_: time.sleep(20))
    begin = time.monotonic()
    with oneshot_call.DeadlineGuard(time.monotonic() + 0.2, None):
        assert fail_mode_reply(one, "closed") == one.answer()
    assert time.monotonic() - begin < 15


def test_a_decision_that_was_made_is_told_however_long_its_record_takes(home, monkeypatch):
    """
    The deadline comes while the record is being written; the hook has refused, and that is the answer.
    """
    one = refusing(home)
    monkeypatch.setattr(call_record, "redact_record", lambda *_: time.sleep(10))
    with oneshot_call.DeadlineGuard(time.monotonic() + 0.5, None):
        assert "deny" in one.answer().stdout


# Hooks that misbehave

MISBEHAVIOUR = {
    "sleeps": "sleep {mark}",
    "has a child that ignores signals": "(trap '' TERM INT; sleep {mark}; :) & wait",
    "forks twice and hides": "(env -i setsid sleep {mark} &); sleep {mark}",
    "is ended by a signal": "kill -KILL $$",
    "is not there": "/nonexistent/hook",
    "exits with a warning": "exit 1",
    "exits with another code": "exit 7",
    "prints what is no text": r"printf '\377\376'",
    "prints what is no answer": "echo yes",
    "prints without end": "yes {mark}",
    "closes its input and sleeps": "exec <&-; sleep {mark}",
    "closes its output and sleeps": "exec >&- 2>&-; sleep {mark}",
    "never reads and sleeps": "sleep {mark} </dev/null",
}


@pytest.mark.part(3)
@pytest.mark.covers("HIF-18", "HIF-20")
@pytest.mark.parametrize("command", MISBEHAVIOUR.values(), ids=MISBEHAVIOUR)
def test_a_hook_that_misbehaves_is_answered_for_in_time_and_leaves_nothing(home, command):
    """
    Open: as if it were not there. Closed: refused, with its name. Five megabytes of input make no difference.
    """
    mark = word()
    one = case("claude-code", home)
    payload = json.loads(one.raw)
    large = json.dumps(payload | {"tool_input": payload["tool_input"] | {"content": "x" * 5_000_000}}).encode()
    for mode in part(MODES, 2, [*MISBEHAVIOUR.values()].index(command)):
        settle(home, mode, command=command.format(mark=mark), name="watcher")
        begin = time.monotonic()
        reply = one.answer(words=[*one.words, "--timeout", "1.4"], raw=large)
        assert time.monotonic() - begin < 20  # and not as long as the hook sleeps, however busy the machine is
        if mode == "open":
            assert fail_mode_reply(one, "open") == reply
        else:
            told = json.loads(reply.stdout)["hookSpecificOutput"]
            assert ("deny", True) == (told["permissionDecision"], "watcher" in told["permissionDecisionReason"])
        assert eventually(lambda: [] == running(mark), 20)


def test_a_hook_that_prints_a_gigabyte_is_no_answer(home):
    """
    It is read to its end, and is no JSON.
    """
    settle(home, "closed", command="head -c 1000000000 /dev/zero", name="watcher")
    reply = case("claude-code", home).answer()

    assert "watcher failed" in reply.stdout


def test_a_hook_that_ends_well_with_a_service_left_behind_is_heard_and_the_service_is_not(home):
    """
    What it said counts; what it left does not run on.
    """
    mark = word()
    settle(home, "open", command=f"(env -i setsid sleep {mark} &) ; echo no >&2; exit 2")

    assert "deny" in case("claude-code", home).answer().stdout
    assert [] == running(f"sleep\0{mark}")


# Hooks that nobody waits for


def test_an_async_hook_outlives_the_call_and_is_told_of_in_the_log(home, client):
    """
    The agent is answered at once, its pipes are closed, and the hook goes on without anybody.
    """
    handler = {"type": "command", "command": f"sleep 0.6; touch {home}/ran; echo said", "async": True}
    settle(home, "open", handler=handler)
    one = case("claude-code", home)
    begin = time.monotonic()

    assert (b"", b"", 0) == call(client, one)
    took = time.monotonic() - begin
    assert not (home / "ran").exists() or took > 0.6
    assert eventually((home / "ran").exists)
    assert eventually(lambda: "said" in paths.log_path().read_text(encoding="utf-8"))
    assert "async hook started" in paths.log_path().read_text(encoding="utf-8")


def test_killing_the_caller_does_not_end_an_async_hook(home, client):
    """
    It belongs to nobody.
    """
    background = {"type": "command", "command": f"sleep 0.5; touch {home}/ran", "async": True}
    settle(home, "open", handler=background)
    slow = {"event": KIND, "handler": {"type": "command", "command": f"touch {home}/slow; sleep 60"}}
    manifest = paths.config_dir() / "hooks.json"
    hooks = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps(hooks | {"hooks": [*hooks["hooks"], slow]}), encoding="utf-8")
    one = case("claude-code", home)
    ran = start(client, one, start_new_session=True)
    ran.stdin.write(one.raw)
    ran.stdin.close()
    assert eventually((home / "slow").exists)
    os.killpg(ran.pid, signal.SIGKILL)
    ended(ran)

    assert eventually((home / "ran").exists)


@pytest.mark.part(2)
@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli", "copilot-cli"])
def test_at_the_end_of_a_session_the_record_comes_first_and_hooks_run_on_alone(home, name, monkeypatch):
    """
    An agent that ends does not wait: it is answered at once, and nothing is lost if we are ended with it.
    """
    settle(home, "open", event="session_end", blocking=False, command=f"while [ ! -e {home}/go ]; do sleep 0.05; done; cat >{home}/ran; touch {home}/done")
    agent = agents.load(name)
    native = next(native for native, kind in config_events(agent).items() if kind == "session_end")
    seen = []
    monkeypatch.setattr(dispatcher, "process_request", spying(dispatcher.process_request, seen))
    payload = {"session_id": "s", "sessionId": "s", "hook_event_name": native, "cwd": str(home)}
    reply = dispatcher.answer_call([name, native], json.dumps(payload).encode(), dict(os.environ))

    assert fail_mode.open_reply(agent) == reply
    assert [["session_end"]] == seen
    (home / "go").touch()
    assert eventually((home / "done").exists)
    assert "session_end" == json.loads((home / "ran").read_text(encoding="utf-8"))["type"]
    (record,) = files.load_records()
    assert [("session_end", 0)] == [(run.hook, run.exit) for run in record.runs]


def spying(respond, seen):
    """The walk, and what was recorded before it began."""

    def look(*words):
        seen.append([record.event.type for record in files.load_records()])
        return respond(*words)

    return look


def test_a_second_end_with_nothing_to_say_is_no_error(home):
    """
    Droid calls once more with an empty stdin.
    """
    settle(home, "closed")

    assert fail_mode.open_reply(agents.load("factory-droid")) == dispatcher.answer_call(["factory-droid", "SessionEnd"], b"", {})
    assert not paths.log_path().exists()
    assert ["session_end"] == [record.event.type for record in files.load_records()]


# One call, one run


def test_twenty_processes_with_one_id_run_the_hook_once_and_answer_alike(home):
    """
    Whoever makes the file first runs the hook, all others wait for its answer.
    """
    settle(home, "open", command=f"echo x >>{home}/runs; sleep 0.3; echo no >&2; exit 2")
    one, call_id = case("claude-code", home), ids.new_id()
    children = []
    for number in range(20):
        if not (pid := fork()):
            reply = dispatcher.answer_call(one.words, one.raw, {}, call_id)
            (home / f"answer-{number}").write_text(reply.stdout, encoding="utf-8")
            os._exit(reply.code)
        children.append(pid)

    assert {0} == {os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children}
    assert "x\n" == (home / "runs").read_text(encoding="ascii")
    answers = {(home / f"answer-{number}").read_text(encoding="utf-8") for number in range(20)}
    assert ["deny"] == [json.loads(text)["hookSpecificOutput"]["permissionDecision"] for text in answers]
    assert 1 == len(list(files.load_records()))


def test_whoever_runs_the_hook_and_is_killed_leaves_the_others_with_the_fail_mode(home):
    """
    They wait until their time is over, and run nothing themselves.
    """
    settle(home, "closed", command=f"echo x >>{home}/runs; sleep 60")
    one, call_id = case("claude-code", home), ids.new_id()
    if not (pid := fork()):
        dispatcher.answer_call(one.words, one.raw, {}, call_id)
        os._exit(0)
    assert eventually((home / "runs").exists)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    begin = time.monotonic()

    assert fail_mode_reply(one, "closed") == dispatcher.answer_call([*one.words, "--timeout", "2"], one.raw, {}, call_id)
    assert time.monotonic() - begin < 2
    assert "x\n" == (home / "runs").read_text(encoding="ascii")


def test_the_answer_is_written_down_before_it_leaves_and_gone_after_it_has_left(home, client, monkeypatch):
    """
    A file for the call: made when it begins, for nobody else to read; with the answer in it in the end, then gone.
    """
    settle(home, "open", command=f"cat {runtime_file('calls', 'x').parent}/* >{home}/begun; echo no >&2; exit 2")
    one = case("claude-code", home)
    reply = dispatcher.answer_call(one.words, one.raw, {}, "an-id")
    left = runtime_file("calls", "an-id")
    assert {"done": False, "reply": None, "pid": os.getpid(), "keeps_results": False} == json.loads((home / "begun").read_text(encoding="utf-8"))
    assert reply == run_blocking(dedup.await_answer("an-id", one.raw, time.time() + 20)).reply
    assert reply.stdout.encode() not in left.read_bytes()
    assert 0o600 == left.stat().st_mode & 0o777
    left.unlink()

    assert b"deny" in call(client, one)[0]
    assert [] == [*left.parent.iterdir()]


# Installing


def test_installing_tries_the_command_out_without_a_trace_and_writes_the_fail_modes(home):
    """
    No record of the trial, though a hook has to be asked; and what the shell would say is there from the first day on.
    """
    settle(home, "closed", command=f"touch {home}/ran")
    for file in paths.client_path().parent.iterdir():
        file.unlink()
    (home / ".claude").mkdir()
    ran = command("install", "claude-code", HOME=str(home))

    assert (0, "") == (ran.code, ran.err)
    assert not (home / "ran").exists()
    assert [] == list(files.load_records())
    assert not paths.log_path().exists()
    paths.client_path().with_name("interpreter").unlink()
    one = case("claude-code", home)
    assert bytes_of(fail_mode_reply(one, "closed")) == call(paths.client_path(), one)


def test_a_newer_version_replaces_its_older_copy_and_nobody_elses(home, client):
    """
    The same installation, or none any more; and where nothing was installed nothing is.
    """
    beside = client.with_name("interpreter")
    right = client.read_bytes(), beside.read_bytes()
    client.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    names(beside, sys.executable, "0.0.1-of-before")
    refresh_client()
    assert right == (client.read_bytes(), beside.read_bytes())
    names(beside, "/nonexistent/python", "/x")
    refresh_client()
    assert right == (client.read_bytes(), beside.read_bytes())
    names(beside, "/bin/sh", "/x")
    refresh_client()
    assert b"/bin/sh\n/x\n" == beside.read_bytes()
    beside.unlink()
    client.unlink()
    refresh_client()
    assert not client.exists()


def manifest_refusals():
    """The lines that were made beforehand because of manifests; those of our wrappers are always there."""
    return [line for line in fail_mode.fail_mode_file().read_bytes().splitlines()[1:] if not line.startswith(b"wrapper:")]


def test_fail_modes_follow_the_manifest_from_call_to_call(home, client):
    """
    A hook that need not be asked any more opens what was closed, and a manifest that is broken changes nothing.
    """
    one = case("claude-code", home)
    manifest = settle(home, "closed")
    closed = manifest_refusals()
    manifest.write_text("{", encoding="utf-8")
    one.answer()
    assert closed == manifest_refusals() != []
    settle(home, "open")
    one.answer()

    assert [] == manifest_refusals()
