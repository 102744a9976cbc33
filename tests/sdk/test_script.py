"""A file of hooks is a program: whoever calls it is answered in kind."""

import json
import os
import subprocess
import sys

import pytest

from hookonce import agents
from hookonce.base.jsontext import dump
from hookonce.diagnose.trial import sample_event
from hookonce.sdk.functions import load_module
from hookonce.sdk.script import build_reply
from tests.dispatch.pipeline_cases import shell_calls
from tests.shared import ROOT

GUARD = ROOT / "examples" / "hooks" / "guard.py"
CALLS = list(shell_calls("before_tool_execute"))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(scope="module")
def guard():
    """The five lines of the README."""
    path = list(sys.path)
    yield load_module(str(GUARD), GUARD.read_bytes())
    sys.path[:] = path


def meant(value, old, new):
    """A payload in which another command stands."""
    if type(value) is dict:
        return {key: meant(one, old, new) for key, one in value.items()}
    if type(value) is list:
        return [meant(one, old, new) for one in value]
    return value.replace(old, new) if type(value) is str else value


@pytest.mark.parametrize(("agent", "native", "payload"), CALLS)
def test_the_five_lines_refuse_on_every_agent(guard, agent, native, payload):
    """
    Every recorded payload in which a shell is about to be used, with a command that nobody wants.
    """
    who = agents.load(agent)
    given = agents.decode(who, payload, native).tool.input
    command = given.get("commands", [given["command"]])[-1]
    bad, good = (json.dumps(meant(payload, command, one)).encode() for one in ("sudo rm -rf /", "true"))

    refused = who.read_reply(native, build_reply(guard, bad, [agent, native], {}))
    silent = build_reply(guard, good, [agent, native], {})

    assert ("deny", "not here") == (refused.outcome, refused.reason)
    assert who.config.silence == silent.stdout
    assert (0, "") == (silent.code, silent.stderr)


def run(raw, *words, file=GUARD, **more):
    """Call it as an agent does."""
    done = subprocess.run([sys.executable, file, *words], input=raw, capture_output=True, check=False, **more)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def payload(agent, command="rm -rf /"):
    """What an agent writes."""
    return dump(sample_event(agents.load(agent), "before_tool_execute", "shell", {"command": command}).native)


def test_it_answers_who_calls_it(tmp_path):
    """
    An agent that tells who it is needs no words; one that does not is named; others get a canonical answer, or none.
    """
    claude = json.dumps({"session_id": "s", "transcript_path": "/h/.claude/projects/p/s.jsonl", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}})
    canonical = dump(sample_event(agents.load("codex"), "before_tool_execute", "shell", {"command": "rm -rf /"}))

    assert '"permissionDecision":"deny"' in run(claude.encode())[1]
    assert (2, "", "not here") == run(payload("windsurf"), "windsurf", "pre_run_command")
    assert (0, '{"decision":"deny","reason":"not here"}\n', "") == run(canonical)
    assert (0, "", "") == run(b'{"openhook":"0.1","id":"e","source":"x","type":"tool.start","time":"2026-01-01T00:00:00Z","session_id":"s"}')


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("raw", "words", "expected", "told"),
    [
        (b"{", [], 2, "not JSON"),
        (b"[" * 5000, [], 2, "nested deeper"),
        (b"[]", [], 2, "not a JSON object"),
        (b"{}", [], 1, "nothing says whose payload this is"),
        (b'{"schema": "hookonce/1"}', [], 2, "no canonical event"),
        (b"{}", ["nobody"], 1, "no agent is called 'nobody'"),
        (b"{}", ["codex"], 1, "name it behind the agent: python guard.py codex PreToolUse"),
    ],
)
def test_what_it_cannot_understand_is_said_in_one_sentence(raw, words, expected, told):
    """
    On stderr; what cannot be read is refused, and a mistake in a configuration refuses nothing.
    """
    code, out, err = run(raw, *words)

    assert (expected, "", 1) == (code, out, len(err.splitlines()))
    assert told in err


def test_a_person_who_starts_it_is_told_what_it_is():
    """
    A terminal is nobody who sends events.
    """
    main, other = os.openpty()
    with os.fdopen(main, "rb", buffering=0), os.fdopen(other, "rb", buffering=0) as line:
        done = subprocess.run([sys.executable, GUARD], stdin=line, capture_output=True, text=True, check=False)

    assert (64, "") == (done.returncode, done.stdout)
    assert "hookonce try guard.py" in done.stderr
    assert (0, "", True) == ((told := run(b"", "--help"))[0], told[1], "hookonce try guard.py" in told[2])


def test_what_it_prints_and_raises_is_not_its_answer(tmp_path):
    """
    stdout is for the answer; an error ends as errors of Python do, and nothing is said.
    """
    file = tmp_path / "guard.py"
    file.write_text("print('loaded')\nfrom hookonce import deny, hook\n@hook\ndef guard(event):\n    print('asked')\n    return deny('no')\n@hook\ndef other(event): return deny(str(1 / len(event.prompt)))\n", encoding="utf-8")
    canonical = dump(sample_event(agents.load("codex"), "before_tool_execute", "shell", {"command": "ls"}))

    code, said, err = run(canonical, file=file)
    file.write_text(file.read_text(encoding="utf-8").replace("1 / len(event.prompt)", "1"), encoding="utf-8")

    assert 1 == code
    assert "decision" not in said
    assert "ZeroDivisionError" in err
    assert '{"decision":"deny","reason":"no\\n1"}' == run(canonical, file=file)[1].splitlines()[-1]


@pytest.mark.slow
def test_an_agent_that_never_closes_its_stdin_is_answered():
    """
    A whole document, and then nothing for a while.
    """
    with subprocess.Popen([sys.executable, GUARD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(dump(sample_event(agents.load("codex"), "before_tool_execute", "shell", {"command": "rm -rf /"})))
        process.stdin.flush()
        assert b'"deny"' in process.stdout.readline()
