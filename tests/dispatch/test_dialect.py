"""Dialects: a hook written for one agent is asked, and heard, on every other."""

import contextlib
import io
import json
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator
from msgspec.json import decode, encode

from hookonce import agents, formats
from hookonce.agents import config_event_of, point_of
from hookonce.agents import decode as understood
from hookonce.dispatch.context import oneshot_context
from hookonce.dispatch.dialect import CANONICAL_DIALECT, HookInput, decode_output, encode_input
from hookonce.dispatch.pipeline import process_request
from hookonce.dispatch.request.call_request import CallArguments, parse_request
from hookonce.handlers.operation import run_blocking
from hookonce.model import Decision, Handler, Hook
from tests.cli.command import environment
from tests.dispatch.pipeline_cases import PLAIN, ask, asked, goldens, hook, said, shell_calls
from tests.shared import ROOT

BEFORE = list(shell_calls("before_tool_execute"))
FIRST = list({(one.values[0], one.values[1]): one for one in reversed(BEFORE)}.values())
REQUESTS = list(shell_calls("permission_request"))

# Such scripts are written every day: they know nothing but Claude Code's own words.
GUARD = """
import json, sys
call = json.load(sys.stdin)
assert {"session_id", "transcript_path", "cwd", "hook_event_name", "tool_name", "tool_use_id"} <= call.keys()
if call["tool_name"] == "Bash" and call["tool_input"]["command"] == sys.argv[1]:
    answer = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "not this one"}
    print(json.dumps({"hookSpecificOutput": answer}))
"""
JUDGE = """
import json, sys
call = json.load(sys.stdin)
if call["hook_event_name"] == "PermissionRequest" and call["tool_input"]["command"] == sys.argv[1]:
    answer = {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "not this one"}}
    print(json.dumps({"hookSpecificOutput": answer}))
"""
REWRITE = """
import json, sys
call = json.load(sys.stdin)
new = dict(call["tool_input"], command="ls -l")
print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": new}}))
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def in_process(script, *words):
    """The script, run without the price of an interpreter."""

    def runner(command, stdin, world, timeout):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", io.StringIO(stdin.decode()))
            patch.setattr(sys, "argv", ["guard.py", *words])
            exec(compile(script, "guard.py", "exec"), {})  # noqa: S102  it is written above
        return said(out.getvalue())

    return runner


@pytest.mark.parametrize(("agent", "native", "payload"), BEFORE)
def test_a_script_for_claude_code_refuses_the_same_command_everywhere(agent, native, payload):
    """
    It reads tool_input.command and answers with permissionDecision; the agent at hand hears its own refusal.
    """
    one = asked(agent, native, payload)
    script = in_process(GUARD, one.event.tool.input["command"])

    heard_of, record = ask(one, [hook(dialect="claude-code")], script)
    assert record.runs[0].failure is None
    assert ("deny", "not this one") == (heard_of.outcome, heard_of.reason)

    other, _ = ask(one, [hook(dialect="claude-code")], in_process(GUARD, "another command"))
    assert other == Decision()


@pytest.mark.parametrize(("agent", "native", "payload"), REQUESTS)
def test_a_script_for_claude_code_judges_requests_for_permission_where_they_can_be_refused(agent, native, payload):
    """
    Where an agent only tells of its question, the refusal is a gap.
    """
    one = asked(agent, native, payload)

    heard_of, record = ask(one, [hook(dialect="claude-code", event="permission_request")], in_process(JUDGE, one.event.tool.input["command"]))

    assert record.runs[0].outcome == "deny"
    if "prevent" in point_of(one.agent, one.native).capabilities:
        assert ("deny", "not this one") == (heard_of.outcome, heard_of.reason)
    else:
        assert "blocking" in {gap.capability for gap in record.gaps}


@pytest.mark.parametrize(("agent", "native", "payload"), FIRST)
def test_the_script_runs_as_a_process_too(home, agent, native, payload):
    """
    Through a wrapper, as it stands in an agent's configuration; unmodified.
    """
    script = home / "guard.py"
    script.write_text(GUARD, encoding="utf-8")
    raw = json.dumps(payload).encode()
    command = asked(agent, native, payload).event.tool.input["command"]
    call = CallArguments(agent=agent, event=native, dialect="claude-code", run=f'exec {sys.executable} -I -S guard.py "$SECRET"', scope="user")
    one = parse_request(call, raw)

    with contextlib.chdir(home):
        made = run_blocking(process_request(one, oneshot_context(PLAIN | {"SECRET": command})))

    found = one.agent.read_reply(one.native, made.reply)
    assert ("deny", "not this one") == (found.outcome, found.reason)


@pytest.mark.parametrize("agent", ["codex", "gemini-cli"])
def test_the_whole_command_line_does_it(home, agent):
    """
    hookonce on AGENT EVENT --dialect claude-code --run SCRIPT, with the payload on stdin.
    """
    _, native, payload = next(one.values for one in BEFORE if one.values[0] == agent)
    one = asked(agent, native, payload)
    script = home / "guard.py"
    script.write_text(GUARD, encoding="utf-8")
    command = f"{sys.executable} -I -S guard.py {one.event.tool.input['command']!r}"
    words = [agent, native, "--dialect", "claude-code", "--run", command, "--scope", "project", "--timeout", "20"]

    done = subprocess.run([sys.executable, "-m", "hookonce", "on", *words], input=json.dumps(payload).encode(), capture_output=True, check=False, env=environment(HOME=str(home)), cwd=home)

    assert b"" == done.stderr
    assert b"not this one" in done.stdout
    assert done.returncode == 0


@pytest.mark.parametrize(("agent", "native", "payload"), FIRST)
def test_what_claude_code_has_and_the_agent_lacks_is_made_up_and_listed(agent, native, payload):
    """
    A script may rely on the transcript's path and the call's id; where they are not real, the record says so.
    """
    one = asked(agent, native, payload)
    stdin, gaps = encode_input("claude-code", one.event, hook().hook)
    told = json.loads(stdin)

    assert {"session_id", "transcript_path", "cwd", "hook_event_name", "tool_name", "tool_input", "tool_use_id"} <= told.keys()
    made_up = {gap.where.removeprefix("$.") for gap in gaps}
    own = agent == "claude-code"
    assert ("transcript_path" in made_up) == (not own and "transcript_path" not in one.event.data)
    assert ("tool_use_id" in made_up) == (not own and one.event.tool.call_id is None)
    assert all(gap.strategy == "synthesised" and gap.capability == "dialect" for gap in gaps)


@pytest.mark.part(2)
@pytest.mark.parametrize(("agent", "native", "payload"), BEFORE)
def test_new_input_said_in_claude_code_s_words_arrives_in_the_agent_s_own_or_is_refused(agent, native, payload):
    """
    The command that runs is the one that the script wrote, all else is as it was; else nothing runs.
    """
    one = asked(agent, native, payload)

    heard_of, record = ask(one, [hook(dialect="claude-code")], in_process(REWRITE))

    assert record.runs[0].failure is None
    again = agents.rewrite_input(one.agent, one.event.tool, one.event.tool.input | {"command": "ls -l"})
    if heard_of.outcome == "deny":
        assert "input_rewrite" in {gap.capability for gap in record.gaps}
        assert point_of(one.agent, one.native).rewrite is None or again is None
        return
    new = heard_of.updated_input
    if point_of(one.agent, one.native).rewrite == "merge":
        new = one.event.tool.native_input | new
    assert new.keys() == one.event.tool.native_input.keys()
    assert again.native_input == new
    assert again.input["command"] == "ls -l"


@pytest.mark.parametrize("dialect", sorted(agents.AGENTS))
@pytest.mark.parametrize(("agent", "native", "payload"), [one for one in FIRST if one.values[0] in {"claude-code", "cline", "copilot-cli", "opencode", "windsurf"}])
def test_every_agent_s_words_are_a_dialect(agent, native, payload, dialect):
    """
    A hook is given what that agent would send, and its refusal and rewrite in that agent's form are heard.
    """
    one, spoken_to = asked(agent, native, payload), agents.load(dialect)
    name = config_event_of(spoken_to, "before_tool_execute")
    stdin, _ = encode_input(dialect, one.event, hook().hook)
    shown = understood(spoken_to, json.loads(stdin), name)

    assert ("before_tool_execute", "shell", one.event.tool.input["command"]) == (shown.type, shown.tool.name, shown.tool.input["command"])
    deny = spoken_to.reply(name, Decision(outcome="deny", reason="not this one"), None)
    found = decode_output(dialect, one.event, said(deny.stdout, deny.stderr, deny.code))
    assert ("deny", "not this one") == (found.outcome, found.reason)

    new = agents.rewrite_input(spoken_to, shown.tool, shown.tool.input | {"command": "ls -l"})
    if point_of(spoken_to, name).rewrite is None or new is None:
        return
    other = spoken_to.reply(name, Decision(updated_input=new.input), new.native_input)
    found = decode_output(dialect, one.event, said(other.stdout, other.stderr, other.code))
    assert found.updated_input == one.event.tool.input | {"command": "ls -l"} or agent == "cline"
    settled = agents.rewrite_input(one.agent, one.event.tool, found.updated_input)
    assert settled is None or settled.input["command"] == "ls -l"


@pytest.mark.parametrize(
    ("dialect", "said_in_it", "expected"),
    [
        ("factory-droid", {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "ls"}}}, {"command": "ls", "description": "d", "more": 1}),
        ("gemini-cli", {"hookSpecificOutput": {"tool_input": {"command": "ls"}}}, {"command": "ls", "description": "d", "more": 1}),
        ("cursor", {"updated_input": {"command": "ls"}}, {"command": "ls", "description": "d", "more": 1}),
        ("claude-code", {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "ls"}}}, {"command": "ls"}),
        ("cline", {"overrideInput": {"commands": ["ls"]}}, {"command": "ls", "description": "d", "more": 1}),
        (CANONICAL_DIALECT, {"updated_input": {"command": "ls"}}, {"command": "ls"}),
    ],
)
def test_what_a_merging_agent_s_hook_leaves_out_stays(dialect, said_in_it, expected):
    """
    New input is the whole of it where that agent replaces the old, and only what is named where it merges; what the
    hook was not shown stays in any case.
    """
    payload = {"session_id": "s", "transcript_path": "/h/.claude/x", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm", "description": "d", "more": 1}}

    found = decode_output(dialect, asked("claude-code", "PreToolUse", payload).event, said(said_in_it))

    assert expected == found.updated_input


def test_an_agent_s_own_hook_gets_the_payload_as_it_came():
    """
    Nothing that an agent says is lost on the way to a hook that is written for it.
    """
    for one in FIRST:
        agent, native, payload = one.values
        stdin, gaps = encode_input(agent, asked(agent, native, payload).event, hook().hook)
        assert (payload, []) == (json.loads(stdin), gaps)


@pytest.mark.parametrize(("agent", "native", "payload"), FIRST)
def test_a_canonical_hook_gets_the_event_and_its_own_name(agent, native, payload):
    """
    As the published schema says, absent fields left out.
    """
    one = asked(agent, native, payload)
    schema = json.loads((ROOT / "schemas" / "hook-input.json").read_text(encoding="utf-8"))

    stdin, gaps = encode_input(CANONICAL_DIALECT, one.event, Hook(event="before_tool_execute", name="guard", handler=Handler(type="command")))
    told = json.loads(stdin)

    assert [] == gaps
    assert [] == list(Draft202012Validator(schema).iter_errors(told))
    assert {"name": "guard", "event": "before_tool_execute"} == told["hook"]
    assert one.event.tool == decode(stdin, type=HookInput).tool
    assert None not in told.values()


@pytest.mark.parametrize("decision", [None, Decision(), Decision(outcome="deny", reason="no")])
def test_the_input_of_a_canonical_hook_is_one_object_in_the_order_of_its_schema(decision):
    """
    However it was put together.
    """
    for one in FIRST:
        event = asked(*one.values).event
        stdin, _ = encode_input(CANONICAL_DIALECT, event, hook().hook, decision=decision)
        assert encode(decode(stdin, type=HookInput)) == stdin
        assert ("decision" in json.loads(stdin)) == (decision is not None)


@pytest.mark.parametrize("text", ["0", "true", '"x"', "[1]", "null", "OK"])
@pytest.mark.parametrize(
    ("agent", "native", "reads_stdout"),
    [("factory-droid", "PreToolUse", False), ("windsurf", "pre_read_code", False), ("claude-code", "TaskCreated", False), ("claude-code", "PreToolUse", True)],
)
def test_what_nobody_reads_is_no_wrong_answer(agent, native, reads_stdout, text):
    """
    Where an agent's refusal is an exit code, a closed hook may print what it likes: the 0 of `grep -c`, for one.
    """
    event = asked(agent, native, next(payload for one, name, payload, _ in goldens() if (one, name) == (agent, native))).event

    assert (None if reads_stdout else Decision()) == decode_output(agent, event, said(text), must_answer=True)


@pytest.mark.covers("OH-39")
@pytest.mark.parametrize("name", ["openhook", "agent-hooks"])
@pytest.mark.parametrize(("agent", "native", "payload"), FIRST[:6])
def test_a_hook_may_be_told_in_an_open_format(agent, native, payload, name):
    """
    One document as the format has it; its answer decides nothing.
    """
    one = asked(agent, native, payload)

    stdin, _ = encode_input(name, one.event, hook().hook)

    assert name in formats.recognise(json.loads(stdin))
    assert Decision() == decode_output(name, one.event, said({"decision": "deny"}))


def test_a_hook_whose_dialect_has_no_word_for_an_event_has_failed_or_is_left_out():
    """
    A script that cannot be asked is one that was not started; who only looks on in a format misses nothing.
    """
    one = asked("claude-code", "TeammateIdle", {"session_id": "s", "transcript_path": "/h/.claude/x", "cwd": "/", "hook_event_name": "TeammateIdle"})
    kinds = {"event": "teammate_idle"}

    heard_of, record = ask(one, [hook(dialect="windsurf", on_failure="closed", **kinds), hook(dialect="windsurf", **kinds), hook(dialect="openhook", **kinds)])

    assert ("deny", ["deny", None, None]) == (heard_of.outcome, [run.outcome for run in record.runs])
    assert [True, True, False] == [bool(run.failure) for run in record.runs]
    assert "no event for teammate_idle" in " ".join(gap.note or "" for gap in record.gaps)
