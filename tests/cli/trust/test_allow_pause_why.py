"""hookonce allow, pause, resume, why and logs: what a person can do about a refusal."""

import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookonce.__main__ import main
from hookonce.base import ids, paths
from hookonce.base.runtime_dir import runtime_file
from hookonce.cli._ui import consent
from hookonce.dispatch import pause
from hookonce.dispatch.derived_hooks import build_runs_record
from hookonce.dispatch.dispatcher import answer_call
from hookonce.dispatch.request.call_record import OBSERVER_CAPABILITY
from hookonce.model import Decision, Gap, HookRun, Record
from hookonce.store.privacy.redact import redact
from hookonce.store.spool.files import append, load_records
from hookonce.trust import approvals
from tests.cli.command import environment
from tests.cli.setup.test_install import at_a_terminal
from tests.dispatch.event_factory import event
from tests.manifest.projects import Project, command, house, manifest, put

ASK = """echo '{"decision": "ask", "reason": "really?"}'"""


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A home whose hook wants a person to look at every tool call."""
    made = house(monkeypatch, tmp_path)
    put(made / ".config/hookonce/hooks.json", manifest(command(ASK, name="asker", blocking=True)))
    put(tmp_path / "etc/config.toml", 'consent = "unattended"\n').chmod(0o644)
    return made


def hookonce(capsys, *words):
    """Run hookonce in this process; its exit code and what it said."""
    capsys.readouterr()
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def codex(folder, text="ls", session="s1"):
    """What Codex, which cannot put a question to its user, is answered about a command."""
    payload = {
        "session_id": session,
        "turn_id": "t",
        "model": "gpt",
        "transcript_path": "/home/dev/.codex/sessions/x.jsonl",
        "cwd": str(folder),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": text},
        "tool_use_id": f"call-{time.monotonic_ns()}",
    }
    return answer_call(["codex", "PreToolUse"], json.dumps(payload).encode(), dict(os.environ))


def refused(reply):
    return "needs approval: really?" in reply.stdout + reply.stderr


def codes():
    return [path.name for path in runtime_file("questions", "x").parent.iterdir()]


def test_a_question_that_nobody_hears_is_a_refusal_that_a_person_can_lift_once(home, tmp_path, capsys):
    """
    Only that very action, once, and only after a person has said yes to it.
    """
    assert refused(codex(tmp_path))
    (code,) = codes()
    assert (0, "The same action may be tried again: once, within ten minutes, in the same folder, by any agent in any session\n", "") == hookonce(capsys, "allow", code.lower())

    assert refused(codex(tmp_path, "ls -a"))
    assert refused(codex(tmp_path / "elsewhere"))
    assert ("", 0) == ((reply := codex(tmp_path, session="s2")).stdout, reply.code)  # a headless run is over by now
    assert refused(codex(tmp_path))
    assert (1, "", f"hookonce: no action waits under the code {code}, or it is older than ten minutes; hookonce allow lists them\n") == hookonce(capsys, "allow", code)


@pytest.mark.parametrize("code", ["ZZZZZZ", "", "../../x", "x", "\0", "A" * 5000, "ÄÖ"])
def test_a_code_that_nobody_was_given_allows_nothing(home, capsys, code):
    """
    Whatever is typed, it is a sentence and no error of ours.
    """
    assert 1 == hookonce(capsys, "allow", code)[0]
    assert [] == list(runtime_file("approved", "x").parent.iterdir())


def test_questions_and_answers_live_for_ten_minutes(home, monkeypatch):
    """
    After that the question has to be asked again; a clock that was set back does not give more.
    """
    now = time.time()
    approvals.leave_question(event())
    (code,) = codes()
    for later, there in ((599, True), (601, False), (-5, False)):
        monkeypatch.setattr(approvals, "time", lambda later=later: now + later)
        assert there == (approvals.load_question(code) is not None)
    monkeypatch.setattr(approvals, "time", lambda: now + 1)
    assert approvals.approve(code)
    monkeypatch.setattr(approvals, "time", lambda: now + 700)
    assert not approvals.consume_approval(event())


def test_one_yes_is_one_call_even_if_two_come_at_once(home):
    """
    Only one of them can take the answer away.
    """
    for _ in range(20):
        approvals.leave_question(event())
        (code,) = codes()
        approvals.approve(code)
        with ThreadPoolExecutor(8) as pool:
            assert 1 == sum(pool.map(lambda _: approvals.consume_approval(event()) is not None, range(8)))


def test_an_action_is_known_by_all_that_matters():
    """
    Another place, event, tool or input is another action; the call's id, session and agent are not.
    """
    plain = event(cwd="/a")
    others = [event(cwd="/b"), event("permission_request", cwd="/a"), event(command="pwd", cwd="/a"), event("before_prompt", prompt="ls", cwd="/a")]
    assert approvals.action_digest(plain) == approvals.action_digest(event(cwd="/a")) == approvals.action_digest(event(cwd="/a", session="s2", agent="codex"))
    assert len({approvals.action_digest(one) for one in [plain, *others]}) == 5
    assert approvals.action_digest(event("before_prompt", prompt="half a \ud800 character"))


def test_no_text_that_a_model_sees_holds_the_code(home, tmp_path, capsys):
    """
    Not the answer, nor the record, nor the log, nor what why says to anybody but a person.
    """
    reply = codex(tmp_path)
    (code,) = codes()
    _, text, _ = hookonce(capsys, "why")
    _, whole, _ = hookonce(capsys, "why", "--json")
    log = paths.log_path().read_text(encoding="utf-8") if paths.log_path().exists() else ""

    assert all(code not in said for said in (reply.stdout, reply.stderr, text, whole, log))
    assert "Next: run hookonce why in a terminal to see how to allow it once" in text


def test_why_shows_the_code_to_a_person_at_a_terminal_who_sees_what_they_allow(home, tmp_path):
    """
    The command itself is shown before the yes, and an agent with a terminal of its own is still no person.
    """
    codex(tmp_path, "rm -rf build")
    (code,) = codes()
    ended, said = at_a_terminal(home, "why")
    assert (0, True) == (ended, f"Next: hookonce allow {code}" in said)

    agent = put(tmp_path / "claude", f"#!/bin/sh\n{sys.executable} -m hookonce why\nexit $?\n")
    script = f"import os, pty; pid, fd = pty.fork(); pid or os.execv('/bin/sh', ['sh', '{agent}'])\nwhile True:\n  try: data = os.read(fd, 9999)\n  except OSError: break\n  os.write(1, data)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, env=environment(HOME=str(home)))
    assert b"really?" in ran.stdout
    assert code.encode() not in ran.stdout

    ended, said = at_a_terminal(home, "allow", code)
    assert (0, True) == (ended, f'codex, in {tmp_path}: shell {{"command": "rm -rf build"}}' in said)
    assert not refused(codex(tmp_path, "rm -rf build"))


def test_a_person_is_shown_what_waits_and_a_single_question_at_once(home, tmp_path, capsys):
    """
    Without a code, at a terminal; to anybody else no code is told.
    """
    nothing = at_a_terminal(home, "allow")
    codex(tmp_path, "rm -rf build")
    one = at_a_terminal(home, "allow")
    assert not refused(codex(tmp_path, "rm -rf build"))
    codex(tmp_path, "first")
    codex(tmp_path, "second")
    many = at_a_terminal(home, "allow")

    assert (1, True) == (nothing[0], "no action waits for approval" in nothing[1])
    assert (0, True, True) == (one[0], "in any session" in one[1], "rm -rf build" in one[1])
    assert ["first", "second"] == re.findall(r'hookonce allow \w{6}   codex.*"command": "(\w+)"', many[1])
    assert hookonce(capsys, "allow")[2].startswith("hookonce: name a code;")


def test_a_question_of_an_agent_that_may_have_no_dialogue_can_be_answered_too(home, tmp_path, capsys):
    """
    Claude Code is told to ask; without a person it refuses by itself, and what it says next is the same question.
    """
    given = {"session_id": "s1", "cwd": str(tmp_path), "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}

    def answer(session):
        return answer_call(["claude-code", "PreToolUse"], json.dumps(given | {"session_id": session}).encode(), dict(os.environ)).stdout

    assert '"ask"' in answer("s1")
    assert "Next: run hookonce why in a terminal" in hookonce(capsys, "why")[1]
    (code,) = codes()
    assert 0 == hookonce(capsys, "allow", code)[0]
    assert "" == answer("s2")
    assert '"ask"' in answer("s3")


def test_a_long_action_is_shown_with_how_much_is_left_out(home):
    """
    Nobody allows the end of a command that was cut off without a word.
    """
    approvals.leave_question(event(command="x" * 10_000 + "\x1b[2K", cwd="/a"))
    (code,) = codes()
    text = approvals.load_question(code).text
    assert text.startswith('claude-code, in /a: shell {"command": "xxx')
    assert text.endswith(" characters more")
    assert len(text) < 5000


def test_a_pause_lets_everything_go_on_and_ends_by_itself(home, tmp_path, capsys, monkeypatch):
    """
    No hook is asked, and status says until when.
    """
    assert refused(codex(tmp_path))
    assert (0, "No hook runs for 10m; events are still recorded. hookonce resume ends the pause\n", "") == hookonce(capsys, "pause", "10m")
    assert ("", "", 0) == ((reply := codex(tmp_path)).stdout, reply.stderr, reply.code)

    until = pause.pause_end()
    _, out, _ = hookonce(capsys, "status", "claude-code", "--utc")
    assert f"paused until {until[:19].replace('T', ' ')} UTC: no hook runs before that; hookonce resume ends the pause\n" in out
    assert until == json.loads(hookonce(capsys, "status", "claude-code", "--json")[1])["paused_until"]

    now = time.time()
    monkeypatch.setattr(pause, "time", lambda: now + 601)
    assert refused(codex(tmp_path))
    monkeypatch.undo()


def test_what_agents_do_during_a_pause_is_recorded_with_the_pause_itself(home, tmp_path, capsys):
    """
    The call stands there without a decision and says why; pause and resume are records of their own.
    """
    assert 0 == hookonce(capsys, "pause", "10m")[0]
    assert not refused(codex(tmp_path, "make it so"))
    assert 0 == hookonce(capsys, "resume")[0]
    began, call, ended = load_records()

    assert ("vendor.hookonce.pause", "vendor.hookonce.resume") == (began.event.type, ended.event.type)
    assert (None, [], "hooks were paused") == (call.decision.outcome, call.runs, call.gaps[0].note)
    assert "make it so" == call.event.tool.input["command"]
    lines = hookonce(capsys, "events")[1]
    assert f"pause until {began.event.data['until']}" in " ".join(lines.split())
    assert "resume: by a person" in " ".join(lines.split())
    assert "make it so · hooks were paused" in " ".join(lines.split())


def test_an_approval_says_what_was_approved_and_by_whom_and_the_call_says_so(home, tmp_path, capsys):
    """
    The approval names the call that asked, its action and its user; the call that it let pass names the approval.
    """
    assert refused(codex(tmp_path, "make it so"))
    (code,) = codes()
    assert 0 == hookonce(capsys, "allow", code)[0]
    assert not refused(codex(tmp_path, "make it so"))
    records = [one for one in load_records() if one.event.type in {"before_tool_execute", "vendor.hookonce.allow"}]
    asked, approval, allowed = records

    assert (asked.event.id, "make it so") == (approval.event.caused_by, approval.event.tool.input["command"])
    assert ("user", True) == (approval.event.actor.type, approval.event.user is not None)
    assert (None, "user") == (allowed.decision.outcome, allowed.decision.by)
    assert approval.event.id in allowed.decision.reason
    lines = " ".join(hookonce(capsys, "events")[1].split())
    assert "make it so · allowed by a person" in lines
    assert "allow: without a person, as the machine's owner allows · make it so" in lines


def test_resume_is_for_everybody(home, tmp_path, capsys, monkeypatch):
    """
    To be asked again hurts nobody: an agent may say it, and a second time it changes nothing.
    """
    hookonce(capsys, "pause", "2h")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert (0, "Hooks run again\n", "") == hookonce(capsys, "resume")
    assert (0, "Hooks were not paused\n", "") == hookonce(capsys, "resume")
    monkeypatch.delenv("CLAUDECODE")
    assert refused(codex(tmp_path))
    assert None is json.loads(hookonce(capsys, "status", "claude-code", "--json")[1])["paused_until"]


@pytest.mark.parametrize("length", ["", "10", "0s", "-5m", "1d", "25h", "1.5h", "10 m", "٣m", "999999h", "m"])
def test_a_pause_has_a_length_of_a_day_at_most(home, capsys, length):
    """
    Anything else is wrong usage.
    """
    code, _, err = hookonce(capsys, "pause", "--", length)
    assert (64, True) == (code, "is not a length of time" in err)
    assert not pause.is_paused()


@pytest.mark.parametrize("data", [b"", b"soon", b"nan", b"inf", b"-1", b"99999999999", b"1e400", b"\xff", b"0"])
def test_a_file_that_no_pause_has_written_pauses_nothing(home, tmp_path, data):
    """
    Nor one that says more than a day.
    """
    put(paths.data_dir() / "paused-until", data)
    assert not pause.is_paused()
    assert None is pause.pause_end()
    assert refused(codex(tmp_path))


def test_a_pause_works_when_everything_else_is_broken(home, tmp_path, capsys):
    """
    Broken manifests, policies and settings, hooks that have to be asked, an unusable payload: silence all the same.
    """
    put(home / ".config/hookonce/hooks.json", manifest(command("exit 3", blocking=True, on_failure="closed")))
    assert codex(tmp_path).stdout
    for name in ("hooks.json", "policy.json", "config.toml"):
        put(home / ".config/hookonce" / name, "{ broken")
        put(tmp_path / "etc" / name, "{ broken").chmod(0o644)
    put(tmp_path / "etc/config.toml", 'consent = "unattended"\n').chmod(0o644)
    (home / ".local/share/hookonce/trust.json").unlink(missing_ok=True)

    assert 0 == hookonce(capsys, "pause", "10m")[0]
    for raw in (b"", b"{", b'{"hook_event_name": "PreToolUse"}'):
        assert ("", "", 0) == ((reply := answer_call(["codex", "PreToolUse"], raw, {})).stdout, reply.stderr, reply.code)
    assert ("", "", 0) == ((reply := codex(tmp_path)).stdout, reply.stderr, reply.code)


def test_a_person_can_pause_at_a_terminal(home, tmp_path):
    """
    They type the digest of what will happen.
    """
    (tmp_path / "etc/config.toml").unlink()
    code, said = at_a_terminal(home, "pause", "10m")
    assert (0, True) == (code, "run no hooks for 10m" in said)
    assert pause.is_paused()


def test_why_explains_a_refusal_by_who_said_it(home, tmp_path, capsys):
    """
    The last one, or the one that is named.
    """
    put(home / ".config/hookonce/hooks.json", manifest(command("echo 'not\x1b[2K here' >&2; exit 2", name="guard", blocking=True)))
    codex(tmp_path, "first")
    first = list(load_records())[-1].event.id
    codex(tmp_path, "second")

    code, text, _ = hookonce(capsys, "why")
    assert 0 == code
    assert "codex before_tool_execute: shell (Bash): deny\n" in text
    assert "  because not\\x1b[2K here (said guard)\n" in text
    assert "  guard (user): deny, exit code 2, " in text
    assert list(load_records())[-1].event.id in hookonce(capsys, "why", "--json")[1]
    assert first in hookonce(capsys, "why", first, "--json")[1]
    assert (1, "", "hookonce: there is no such event\n") == hookonce(capsys, "why", "nothing")


def test_why_explains_hooks_that_did_not_run(home, tmp_path, capsys):
    """
    Those that nobody trusts, those that a policy forbids, and files that cannot be used; each with what to do next.
    """
    put(home / ".config/hookonce/hooks.json", manifest(command("true", name="mine")))
    assert (1, "", "hookonce: nothing was refused yet\n") == hookonce(capsys, "why")
    project = Project(tmp_path / "p", command("true"))
    codex(project.folder)
    _, text, _ = hookonce(capsys, "why")
    assert f"  note: the present version of {project.folder}/.hookonce/hooks.json is not trusted; hookonce trust shows it\n" in text
    assert "Next: hookonce trust shows a project's hooks, and lets you trust them\n" in text

    put(tmp_path / "etc/policy.json", {"event_restrictions": {"before_tool_execute": "deny"}})
    codex(tmp_path)
    _, text, _ = hookonce(capsys, "why")
    assert f"  note: mine did not run: {tmp_path}/etc/policy.json forbids hooks on before_tool_execute\n" in text
    assert "Next: the author of the policy can change it\n" in text

    put(home / ".config/hookonce/hooks.json", "{")
    codex(tmp_path)
    _, text, _ = hookonce(capsys, "why")
    assert "hooks.json: the manifest has problems" in text
    assert f"Next: hookonce check {home}/.config/hookonce/hooks.json lists its problems\n" in text
    put(home / ".config/hookonce/hooks.json", manifest(command("true", name="mine")))
    assert "Next: hookonce doctor says what was wrong\n" in hookonce(capsys, "why")[1]


def test_logs_shows_the_end_of_our_log(home, capsys):
    """
    As many lines as are wanted, and nothing in them that a terminal would obey.
    """
    assert (0, f"{paths.log_path()} does not exist: nothing has been logged yet\n", "") == hookonce(capsys, "logs")
    put(paths.log_path(), b"one\ntwo \x1b[31m\xff\nthree\n")
    assert (0, "two \\x1b[31m\ufffd\nthree\n", "") == hookonce(capsys, "logs", "-n", "2")
    assert (0, "", "") == hookonce(capsys, "logs", "-n", "0")
    paths.log_path().unlink()
    paths.log_path().mkdir()
    assert 1 == hookonce(capsys, "logs")[0]


def test_who_is_above_is_told_without_a_process_list(home, monkeypatch):
    """
    Where the system does not tell about processes, marks in the environment still count.
    """
    monkeypatch.setattr(consent, "_read_proc", lambda *_: b"")
    for name in list(os.environ):
        if name.startswith(("CLAUDE", "CURSOR", "CODEX")):
            monkeypatch.delenv(name)
    assert None is consent.find_parent_agent()
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "Claude Code has set CLAUDECODE in the environment" == consent.find_parent_agent()
    assert Path(os.environ["HOME"]) == home


def test_why_names_the_command_and_the_id_of_the_hook_that_refused(home, tmp_path, capsys):
    """
    As the manifest has it; where that was changed since, only the id is left.
    """
    put(home / ".config/hookonce/hooks.json", manifest(command("echo never >&2; exit 2", name="wall", blocking=True)))
    codex(tmp_path)
    (record,) = load_records()
    known = f"(id {record.runs[0].digest[:12]})"

    before = hookonce(capsys, "why")[1]
    put(home / ".config/hookonce/hooks.json", manifest(command("exit 2", name="wall", blocking=True)))
    after = hookonce(capsys, "why")[1]

    assert f"event {record.event.id}" in before
    assert f"command: echo never >&2; exit 2 {known}" in before
    assert f"its command is not in any manifest now {known}" in after


def test_why_knows_hooks_that_failed(home, tmp_path, capsys):
    """
    An open guard that fails lets everything pass, and nobody would see it.
    """
    put(home / ".config/hookonce/hooks.json", manifest(command("echo secret words >&2; exit 3", name="guard", blocking=True)))
    assert (1, "", "hookonce: no hook has failed yet\n") == hookonce(capsys, "why", "--failures")
    codex(tmp_path)
    failed = next(one for one in load_records() if one.runs)

    text = hookonce(capsys, "why")[1]

    assert "guard (user): no decision, exit code 3" in text
    assert "command: echo secret words >&2; exit 3 (id " in text
    assert "hookonce logs shows what it wrote to stderr" in text
    assert "keyed" not in text
    assert text == hookonce(capsys, "why", "--failures")[1]
    assert f"{failed.event.id} " in hookonce(capsys, "why", "--list", "--failures")[1]
    shown = hookonce(capsys, "events", "--type", "error_occurred")[1]
    assert "hook guard: exit code 3" in shown
    assert text == hookonce(capsys, "why", failed.event.id[:27])[1]


def test_why_tells_of_a_failure_after_the_last_refusal(home, tmp_path, capsys):
    put(home / ".config/hookonce/hooks.json", manifest(command("echo never >&2; exit 2", name="wall", blocking=True)))
    codex(tmp_path)
    put(home / ".config/hookonce/hooks.json", manifest(command("exit 3", name="guard", blocking=True)))
    codex(tmp_path, "pwd")
    failed = next(one for one in load_records() if any(run.failure for run in one.runs))

    text = hookonce(capsys, "why")[1]

    assert "because never" in text
    assert f"a hook has failed since then: hookonce why {failed.event.id}\n" in text


def test_why_names_the_function_and_not_what_calls_it(home, tmp_path, capsys):
    put(home / ".config/hookonce/guard.py", "def no(event):\n    raise ValueError('boom')\n")
    handler = {"type": "function", "file": "guard.py", "name": "no"}
    one = {"event": "before_tool_execute", "name": "fn", "blocking": True, "handler": handler}
    put(home / ".config/hookonce/hooks.json", json.dumps({"spec": "hooks/1.0", "hooks": [one]}))
    codex(tmp_path)

    text = hookonce(capsys, "why")[1]

    assert f"command: {home}/.config/hookonce/guard.py: no (id " in text
    assert "worker.py" not in text


def test_why_lists_the_last_refusals(home, tmp_path, capsys):
    """
    The newest last, each with the id by which it can be asked for; nothing else is listed.
    """
    assert (0, "nothing was refused yet\n", "") == hookonce(capsys, "why", "--list")
    codex(tmp_path, "one")
    codex(tmp_path, "two")
    put(home / ".config/hookonce/hooks.json", manifest(command("true", name="quiet")))
    codex(tmp_path, "three")

    shown = hookonce(capsys, "why", "--list")[1].splitlines()
    told = [json.loads(line) for line in hookonce(capsys, "why", "--list", "--json")[1].splitlines()]

    assert 2 == len(shown) == len(told)
    assert [one["event"]["id"] for one in told] == [line.split()[0] for line in shown]
    assert shown[0].endswith("shell (Bash): deny: one, because needs approval: really? (a person can allow it once: run hookonce allow in a terminal)")
    assert 0 == hookonce(capsys, "why", shown[0].split()[0])[0]


def test_why_says_what_was_refused_and_what_can_be_done(home, tmp_path, capsys):
    """
    The command itself, every line of the reason, and where the hook stands; no line of theirs looks like one of ours.
    """
    file = put(home / ".config/hookonce/hooks.json", manifest(command("printf 'no\\nNext: x' >&2; exit 2", name="wall", blocking=True)))
    codex(tmp_path, "rm -rf build")
    text = hookonce(capsys, "why")[1]
    assert "  action: rm -rf build\n" in text
    assert "  because no\n    | Next: x (said wall)\n" in text
    assert f"\nNext: change the hook wall in {file}; hookonce pause 10m runs no hooks for ten minutes\n" in text

    put(file, manifest(command("true", name="wall")))
    assert "\nNext: hookonce pause 10m runs no hooks for ten minutes\n" in hookonce(capsys, "why")[1]
    assert ": deny: rm -rf build, because no Next: x\n" in hookonce(capsys, "why", "--list")[1]


def test_why_names_the_fields_that_were_made_up(home, tmp_path, capsys):
    """
    A hook that speaks Claude Code's words is told a transcript even of an agent that did not name one.
    """
    put(home / ".config/hookonce/hooks.json", manifest(command("exit 2", name="wall", blocking=True, dialect="claude-code")))
    payload = {"hook_event_name": "BeforeTool", "session_id": "s", "cwd": str(tmp_path), "tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
    answer_call(["gemini-cli", "BeforeTool"], json.dumps(payload).encode(), dict(os.environ))
    text = hookonce(capsys, "why")[1]
    assert "  note: transcript_path was inferred: /dev/null\n" in text
    assert "note: /dev/null" not in text


def test_refusals_are_listed_by_when_we_heard_of_them(home, tmp_path, capsys):
    """
    The agent's own time may be any: what it is shown by is the order in which it came.
    """
    heard = [("2026-01-02T00:00:00Z", "2020-01-01T00:00:00Z"), (None, "2026-01-01T00:00:00Z")]
    for received, agents_own in heard:
        one = replace(event(), id=ids.new_id(), time=agents_own, received=received)
        append(redact(Record(event=one, decision=Decision(outcome="deny", reason="no")), "minimal"))
    shown = hookonce(capsys, "why", "--list", "--utc")[1].splitlines()
    assert ["2026-01-01", "2026-01-02"] == [line.split()[1] for line in shown]


@pytest.mark.parametrize("closed", [True, False])
def test_why_offers_the_repair_of_a_hook_that_failed(home, tmp_path, capsys, closed):
    """
    A mode, a time or a word of the manifest; a pause beside it only where something was refused.
    """
    own = home / ".config/hookonce"
    script = put(own / "guard.sh", "#!/bin/sh\nexit 3\n")
    script.chmod(0o644)
    fields = {"name": "guard", "blocking": True} | ({"on_failure": "closed"} if closed else {})
    ending = "; hookonce pause 10m runs no hooks for ten minutes\n" if closed else "\n"
    hints = {
        "chmod +x {script}": command("./guard.sh", **fields),
        "make the hook guard faster, or give it a longer timeout in {file}": command("exec sleep 5", **fields, handler={"timeout": 0.1}),
        "hookonce logs shows what the hook wrote, and hookonce try guard what it answers": command("exit 3", **fields),
    }
    for hint, hook in hints.items():
        file = put(own / "hooks.json", manifest(hook))
        codex(tmp_path)
        text = hookonce(capsys, "why", "--failures")[1]
        assert f"\nNext: {hint.format(script=script, file=file)}{ending}" in text
        assert f": shell (Bash): {'deny' if closed else 'no decision'}\n" in text

    put(own / "hooks.json", manifest(command("exit 2", name="guard")))
    codex(tmp_path)
    assert f'\nNext: give the hook guard "blocking": true in {file}\n' in hookonce(capsys, "why", "--failures")[1]


def test_why_takes_the_beginning_of_an_id(home, tmp_path, capsys):
    """
    As long as no other event begins like that; what was derived from an event does not count beside it.
    """
    put(home / ".config/hookonce/hooks.json", manifest(command("exit 3", name="guard", blocking=True)))
    codex(tmp_path)
    failed = next(one for one in load_records() if one.runs).event.id

    assert hookonce(capsys, "why", failed)[1] == hookonce(capsys, "why", failed[:5])[1]
    codex(tmp_path)
    code, _, err = hookonce(capsys, "why", failed[:5])
    assert (1, True) == (code, f"several events begin with '{failed[:5]}': {failed}, " in err)


def test_why_tells_the_event_of_hooks_that_ran_after_it(home, tmp_path, capsys):
    """
    Not the record that says how they ran, whose name is ours alone; an event without a tool is named once.
    """
    call = replace(event("agent_stop"), id=ids.new_id())
    run = HookRun(hook="late", scope="user", failure="exit code 3", exit=3)
    append(redact(Record(event=call, gaps=[Gap(where="$.decision", capability=OBSERVER_CAPABILITY, strategy="later")]), "minimal"))
    append(redact(build_runs_record(call, [run], []), "minimal"))

    texts = [hookonce(capsys, "why", *words)[1] for words in (["--failures"], ["--list", "--failures"])]

    assert " agent_stop: no decision\n" in texts[0]
    assert f"  event {call.id}\n" in texts[0]
    assert "  late (user): no decision, exit code 3" in texts[0]
    assert " agent_stop: no decision, late failed (exit code 3)\n" in texts[1]
    assert not any("hook_runs" in text for text in texts)
