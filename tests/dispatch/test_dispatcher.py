"""The whole walk: two doors, stops that are refused, and hooks that start agents whose hooks start them."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from hookonce import agents
from hookonce.agents import canonical_event_of, point_of
from hookonce.base import settings as configured
from hookonce.dispatch import dispatcher
from hookonce.dispatch.request import call_record
from hookonce.model import Reply
from hookonce.store.spool import files as spool_files
from hookonce.trust import approvals, consent
from tests.cli.command import environment
from tests.dispatch.pipeline_cases import PLAIN, asked, goldens
from tests.handlers.servers import answer, server
from tests.shared import ABSENT, captures

CLAUDE = {"session_id": "s1", "transcript_path": "/h/.claude/projects/p/s1.jsonl", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git push"}, "tool_use_id": "t1"}
# One call of Copilot CLI, as its own configuration and as Claude Code's tells it.
ARGUMENTS = {"command": "git push", "description": "to the server", "initial_wait": 10, "mode": "sync"}
CAMEL = {"sessionId": "s1", "timestamp": 1794706148273, "cwd": "/", "toolName": "bash", "toolArgs": ARGUMENTS}
PASCAL = {"hook_event_name": "PreToolUse", "session_id": "s1", "timestamp": "2026-11-15T01:29:08.273Z", "cwd": "/", "tool_name": "Bash", "tool_input": ARGUMENTS}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def manifest(home, command, event="before_tool_execute", **more):
    """The user's manifest: one hook that leaves a line each time that it runs."""
    folder = home / ".config/hookonce"
    folder.mkdir(parents=True, exist_ok=True)
    handler = {"type": "command", "command": f"echo run >> {home}/runs; {command}"}
    one = {"name": "guard", "event": event, "blocking": True, "handler": handler} | more
    (folder / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [one]}))


def runs(home):
    """How often the hook has run."""
    return len((home / "runs").read_text().splitlines()) if (home / "runs").exists() else 0


def told(payload, *words):
    """The agent's answer to a call, as whoever really called reads it."""
    said = dispatcher.answer_call(list(words), json.dumps(payload).encode(), PLAIN)
    one = asked(words[0], words[1], payload)
    return one.agent.read_reply(one.native, said)


def records():
    """What was kept, with the doors of each call."""
    return [(one, one.event.origin.via if one.event.origin else []) for one in spool_files.load_records()]


def test_user_and_project_install_together_are_one_call(home):
    """
    One run and one record with both doors, and the deny holds at both.
    """
    manifest(home, "echo no >&2; exit 2")

    answers = [told(CLAUDE, "claude-code", "PreToolUse", "--via", via) for via in ("claude-code/user", "claude-code/project")]

    assert [("deny", "no")] * 2 == [(one.outcome, one.reason) for one in answers]
    ((record, doors),) = records()
    assert (1, ["claude-code/user", "claude-code/project"]) == (runs(home), doors)
    assert ("deny", ["guard"]) == (record.decision.outcome, [run.hook for run in record.runs])


def test_the_same_door_twice_is_two_calls(home):
    """
    An agent that asks again is answered anew.
    """
    manifest(home, "echo no >&2; exit 2")

    answers = [told(CLAUDE, "claude-code", "PreToolUse", "--via", "claude-code/user") for _ in range(2)]

    assert ["deny", "deny"] == [one.outcome for one in answers]
    assert (2, [["claude-code/user"]] * 2) == (runs(home), [doors for _, doors in records()])


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_copilot_through_claude_code_s_entry_is_the_same_call(home, order):
    """
    Its three sources of hooks call us three times; by evidence it is Copilot each time, and hooks run once.
    """
    manifest(home, "echo no >&2; exit 2")
    doors = [
        (PASCAL, "claude-code", "PreToolUse", "--via", "claude-code/project"),
        (CAMEL, "copilot-cli", "preToolUse", "--via", "copilot-cli/user"),
        (CAMEL, "copilot-cli", "preToolUse", "--via", "copilot-cli/project"),
    ]

    answers = [told(*doors[index]) for index in order]

    assert [("deny", "no")] * 3 == [(one.outcome, one.reason) for one in answers]
    ((record, vias),) = records()
    assert ("copilot-cli", 1) == (record.event.agent, runs(home))
    assert [doors[index][-1] for index in order] == vias


def test_a_rewrite_reaches_both_doors_in_their_own_words(home):
    """
    Copilot reads modifiedArgs at one of them and updatedInput at the other.
    """
    manifest(home, 'echo \'{"updated_input": {"command": "ls"}}\'')

    first = told(CAMEL, "copilot-cli", "preToolUse", "--via", "copilot-cli/user")
    second = told(PASCAL, "claude-code", "PreToolUse", "--via", "claude-code/project")

    assert ({"command": "ls"}, {"command": "ls"}, 1) == (first.updated_input, second.updated_input, runs(home))


def test_processes_at_the_same_time_are_one_call_too(home):
    """
    Whoever is first runs the hook; the others wait for it and say the same.
    """
    manifest(home, "sleep 0.4; echo no >&2; exit 2")
    bare = environment(HOME=str(home))

    def process(via):
        words = ["claude-code", "PreToolUse", "--via", via]
        return subprocess.run([sys.executable, "-m", "hookonce", "on", *words], input=json.dumps(CLAUDE).encode(), capture_output=True, check=False, env=bare)

    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(process, ["claude-code/user", "claude-code/project", "claude-code/local"]))

    said = [Reply(stdout=one.stdout.decode(), stderr=one.stderr.decode(), code=one.returncode) for one in done]
    heard = [agents.load("claude-code").read_reply("PreToolUse", one) for one in said]
    assert [("deny", "no")] * 3 == [(one.outcome, one.reason) for one in heard]
    ((record, doors),) = records()
    assert (1, 1, 3) == (runs(home), len(record.runs), len(doors))


def test_a_first_door_that_is_killed_leaves_the_call_to_the_second(home):
    """
    Nobody waits for who is gone.
    """
    manifest(home, f"test -e {home}/again || {{ touch {home}/again; sleep 30; }}; echo no >&2; exit 2")
    words = [sys.executable, "-m", "hookonce", "on", "claude-code", "PreToolUse", "--via", "claude-code/user"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment(HOME=str(home))) as first:
        first.stdin.write(json.dumps(CLAUDE).encode())
        first.stdin.close()
        while not (home / "again").exists():
            pass
        first.kill()

    assert "deny" == told(CLAUDE, "claude-code", "PreToolUse", "--via", "claude-code/project").outcome


def test_a_first_door_that_fails_leaves_the_call_to_the_second(home, monkeypatch):
    """
    A fault of ours at one door is answered by the fail mode there; the other one asks the hooks.
    """
    manifest(home, "echo no >&2; exit 2")
    with monkeypatch.context() as patch:
        patch.setattr("hookonce.dispatch.pipeline.hooks_task", lambda *_: 1 / 0)
        assert told(CLAUDE, "claude-code", "PreToolUse", "--via", "claude-code/user").outcome is None

    assert "deny" == told(CLAUDE, "claude-code", "PreToolUse", "--via", "claude-code/project").outcome


STOPS = {
    (agent, native): payload
    for agent, native, payload, _ in goldens()
    if canonical_event_of(agents.load(agent), native) in {"agent_stop", "subagent_stop"} and "retry" in point_of(agents.load(agent), native).capabilities
}


@pytest.mark.part(4)
@pytest.mark.parametrize(("agent", "native"), STOPS)
def test_a_stop_hook_that_always_refuses_ends_after_five(home, agent, native):
    """
    On every agent that can be kept from stopping: five times it goes on, then it may stop, and the record says why.
    """
    kind = canonical_event_of(agents.load(agent), native)
    manifest(home, "echo finish the tests >&2; exit 2", event=kind)

    heard = [told(STOPS[agent, native], agent, native, "--via", f"{agent}/user") for _ in range(7)]

    assert ["deny"] * 5 + [None] * 2 == [one.outcome for one in heard]
    assert "finish the tests" in heard[0].reason
    last = [*spool_files.load_records()][-1]
    assert "stop" in {gap.capability for gap in last.gaps}


def test_a_fault_of_ours_keeps_nobody_from_stopping_for_ever(home, monkeypatch):
    """
    Where a closed hook cannot be asked a stop is refused as often as a hook could.
    """
    manifest(home, "true", event="agent_stop", on_failure="closed")
    monkeypatch.setattr("hookonce.dispatch.pipeline.hooks_task", lambda *_: 1 / 0)
    stop = {key: value for key, value in CLAUDE.items() if not key.startswith("tool")} | {"hook_event_name": "Stop", "stop_hook_active": True}

    assert ["deny"] * 5 + [None] * 2 == [told(stop, "claude-code", "Stop").outcome for _ in range(7)]


def test_a_record_that_cannot_be_written_is_counted_and_costs_nobody_the_answer(home, monkeypatch):
    """
    A disk may be full.
    """
    manifest(home, "echo no >&2; exit 2")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(call_record, "redact_record", refuse)

    assert ("deny", 1) == (told(CLAUDE, "claude-code", "PreToolUse").outcome, spool_files.lost_record_count())


def test_the_count_begins_anew_when_somebody_speaks(home):
    """
    Not when our own reason comes back as a prompt, nor with an empty one; and each session has its own.
    """
    manifest(home, "echo finish the tests >&2; exit 2", event="agent_stop")
    stop = CLAUDE | {"hook_event_name": "Stop", "stop_hook_active": True}
    prompt = CLAUDE | {"hook_event_name": "UserPromptSubmit"}
    for key in ("tool_name", "tool_input", "tool_use_id"):
        del stop[key], prompt[key]

    def stops(times, **more):
        return [told(stop | more, "claude-code", "Stop", "--via", "claude-code/user").outcome for _ in range(times)]

    assert ["deny"] * 5 + [None] == stops(6)
    for text in ("", "finish the tests", " finish the\ntests"):
        told(prompt | {"prompt": text}, "claude-code", "UserPromptSubmit")
        assert [None] == stops(1)
    assert ["deny"] == stops(1, session_id="s2")
    told(prompt | {"prompt": "go on please"}, "claude-code", "UserPromptSubmit")
    assert ["deny"] * 5 + [None] == stops(6)


def test_a_stop_that_is_let_go_is_not_counted(home):
    """
    Whoever ends the turn keeps nobody from stopping, whatever else it says.
    """
    stop = {key: value for key, value in CLAUDE.items() if not key.startswith("tool")} | {"hook_event_name": "Stop"}
    manifest(home, 'echo \'{"decision": "deny", "continue": false}\'', event="agent_stop")
    for _ in range(6):
        assert told(stop, "claude-code", "Stop", "--via", "claude-code/user").proceed is False

    manifest(home, "exit 2", event="agent_stop")
    assert "deny" == told(stop, "claude-code", "Stop", "--via", "claude-code/user").outcome


@pytest.mark.parametrize(("on_failure", "innermost"), [("open", b""), ("closed", b"deny")])
def test_a_hook_that_starts_an_agent_whose_hooks_start_it_again_ends(home, on_failure, innermost):
    """
    Three hooks run inside each other; the call below them is answered by its fail mode.
    """
    (home / "payload").write_text(json.dumps(CLAUDE))
    again = f"{sys.executable} -m hookonce on claude-code PreToolUse < {home}/payload > {home}/answer.$HOOKONCE_DEPTH"
    manifest(home, f"{again}; echo $HOOKONCE_DEPTH >> {home}/depths", on_failure=on_failure)

    done = subprocess.run([sys.executable, "-m", "hookonce", "on", "claude-code", "PreToolUse"], input=json.dumps(CLAUDE).encode(), capture_output=True, check=False, env=environment(HOME=str(home)), timeout=60)

    assert (0, b"", 3) == (done.returncode, done.stdout, runs(home))
    assert ["3", "2", "1"] == (home / "depths").read_text().split()
    said = (home / "answer.3").read_bytes()
    assert (innermost in said) if innermost else (b"" == said)


def test_a_depth_that_a_repository_sets_counts_for_nothing(home):
    """
    Hooks run, and are told the truth.
    """
    manifest(home, "echo $HOOKONCE_DEPTH >&2; exit 2")
    fake = PLAIN | {"HOOKONCE_DEPTH": "7", "HOOKONCE_PARENT": "0123456789abcdef", "HOOKONCE_OTHER": "x"}

    said = dispatcher.answer_call(["claude-code", "PreToolUse"], json.dumps(CLAUDE).encode(), fake)

    assert "1" == agents.load("claude-code").read_reply("PreToolUse", said).reason


@pytest.mark.parametrize(("mode", "outcome"), [("open", None), ("closed", "deny")])
def test_what_asks_a_model_does_not_run_below_a_hook(home, monkeypatch, mode, outcome):
    """
    It is left out there, by name; which is no failure, unless it must be asked.
    """
    manifest(home, "", handler={"type": "prompt", "prompt": "is this fine?"}, on_failure=mode)
    monkeypatch.setattr("hookonce.base.process_info.nesting_depth", lambda *_: 1)

    heard = told(CLAUDE, "claude-code", "PreToolUse")

    assert outcome == heard.outcome
    assert "does not run inside another hook" in " ".join(gap.note or "" for gap in next(spool_files.load_records()).gaps)


def test_hooks_of_an_ending_session_hold_nobody_up(home):
    """
    The agent does not wait for them: they are started and left alone.
    """
    manifest(home, f"sleep 0.3; echo done >> {home}/done", event="session_end")
    payload = {"session_id": "s1", "transcript_path": "/h/.claude/x", "cwd": "/", "hook_event_name": "SessionEnd", "reason": "other"}

    said = dispatcher.answer_call(["claude-code", "SessionEnd"], json.dumps(payload).encode(), PLAIN)

    assert (Reply(), False) == (said, (home / "done").exists())
    assert ["guard"] == [run.hook for run in next(spool_files.load_records()).runs]
    for _ in range(100):
        if (home / "done").exists():
            return
        subprocess.run(["sleep", "0.05"], check=True)
    pytest.fail("the hook never ran")


def test_a_question_is_about_what_would_happen(home):
    """
    A person who says yes says it to the input as hooks have left it, and to no other.
    """
    target = home / "target"
    target.write_text("ls")
    folder = home / ".config/hookonce"
    folder.mkdir(parents=True)
    commands = [f'printf \'{{"updated_input": {{"command": "%s"}}}}\' $(cat {target})', 'echo \'{"decision": "ask"}\'']
    hooks = [{"event": "before_tool_execute", "handler": {"type": "command", "command": command}} for command in commands]
    (folder / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": hooks}))
    codex = {"hook_event_name": "PreToolUse", "turn_id": "t", "model": "m", "session_id": "s", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "rm"}}

    def answered():
        heard = told(codex, "codex", "PreToolUse")
        return heard.outcome, heard.updated_input

    assert ("deny", None) == answered()
    assert approvals.approve(approvals.find_code(next(spool_files.load_records()).event.id))
    target.write_text("pwd")
    assert ("deny", None) == answered()
    target.write_text("ls")
    assert (None, {"command": "ls"}) == answered()
    assert ("deny", None) == answered()


def test_higher_scopes_judge_what_a_project_has_rewritten(home, monkeypatch):
    """
    The project's hooks are asked first and never allow; the user's, the organisation's and the system's see what
    became of the input, each in turn.
    """
    project, system = home / "project", home / "etc"
    for folder in (project / ".hookonce", project / ".git", home / ".config/hookonce", system / "org"):
        folder.mkdir(parents=True)
    (project / ".git/HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.setattr(configured, "SYSTEM", system)
    monkeypatch.setattr(configured, "OWNER", os.getuid())
    files = {"project": project / ".hookonce", "user": home / ".config/hookonce", "organisation": system / "org", "system": system}
    for scope, folder in files.items():
        answer = {"decision": "allow", "updated_input": {"command": scope}}
        told_of = f"cat >> {home}/{scope}.seen; echo '{json.dumps(answer)}'"
        hook = {"name": scope, "event": "before_tool_execute", "may_allow": scope != "user", "handler": {"type": "command", "command": told_of}}
        (folder / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}))
    consent.trust_proposals(project, consent.list_proposals(project))

    def asked_of(*scopes):
        for scope, folder in files.items():
            if scope not in scopes:
                (folder / "hooks.json").unlink(missing_ok=True)
        return told(CLAUDE | {"cwd": str(project)}, "claude-code", "PreToolUse")

    heard = asked_of(*files)
    assert ("allow", {"command": "system"}) == (heard.outcome, heard.updated_input)
    seen = [json.loads((home / f"{scope}.seen").read_text())["tool"]["input"]["command"] for scope in files]
    assert ["git push", "project", "user", "organisation"] == seen
    assert list(files) == [run.scope for run in next(spool_files.load_records()).runs]
    heard = asked_of("project", "user")
    assert (None, {"command": "user"}) == (heard.outcome, heard.updated_input)
    assert (None, {"command": "project"}) == ((heard := asked_of("project")).outcome, heard.updated_input)


@pytest.mark.parametrize(("scope", "outcome"), [("user", "allow"), ("project", None), (None, None)])
def test_a_user_s_wrapper_passes_its_script_s_allow_and_a_project_s_does_not(scope, outcome):
    """
    Whoever writes the project's files could write the script.
    """
    allow = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}})
    more = ["--scope", scope] if scope else []

    heard = told(CLAUDE, "claude-code", "PreToolUse", "--dialect", "claude-code", "--run", f"echo '{allow}'", *more)

    assert outcome == heard.outcome


def test_a_wrapper_posts_in_place_of_an_agent_that_cannot():
    """
    In the dialect of its author, and the answer is heard as that of a script.
    """
    refusal = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "not here"}}
    with server({"/judge": answer(refusal)}) as one:
        handler = json.dumps({"type": "http", "url": one.url("/judge")}, separators=(",", ":"))
        heard = told(CLAUDE, "claude-code", "PreToolUse", "--dialect", "claude-code", "--run", handler, "--scope", "project")

    assert ("deny", "not here") == (heard.outcome, heard.reason)


@pytest.mark.parametrize(("agent", "native"), [("claude-code", "PostToolUse"), ("codex", "PostToolUse"), ("qwen-code", "PostToolUse"), ("gemini-cli", "AfterTool")])
def test_a_script_that_complains_after_a_tool_is_heard_as_on_its_own_agent(agent, native):
    """
    Exit code 2 with a text is how scripts for Claude Code tell the model what is wrong with what it has written.
    """
    payload = next(found for name, event, found, _ in goldens() if (name, event) == (agent, native) and found["tool_name"])

    heard = told(payload, agent, native, "--dialect", "claude-code", "--run", "echo tidy it up >&2; exit 2", "--scope", "user")

    assert "tidy it up" in f"{heard.reason} {heard.context}"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_the_recorded_calls_of_copilot_s_three_sources_are_one(home, order):
    """
    As they were recorded, one call each in .claude, .github/copilot and .github/hooks.
    """
    files = [file for _, _, file in captures() if file.stem.startswith("repo-")]
    if len(files) != 3:
        pytest.skip(ABSENT)
    manifest(home, "echo no >&2; exit 2")
    entries = {"repo-claude-settings-1": ("claude-code", "PreToolUse"), "repo-copilot-settings-1": ("copilot-cli", "preToolUse")}
    doors = [(json.loads(file.read_text()), *entries.get(file.stem, ("copilot-cli", "preToolUse")), "--via", file.stem) for file in files]

    answers = [told(*doors[index]) for index in order]

    assert [("deny", "no")] * 3 == [(one.outcome, one.reason) for one in answers]
    ((record, vias),) = records()
    assert (1, "copilot-cli", [doors[index][-1] for index in order]) == (runs(home), record.event.agent, vias)


@pytest.mark.covers("HIF-80", "HIF-84")
@pytest.mark.parametrize(("command", "kept"), [("echo out; echo err >&2; exit 1", "| out\n    | err"), ("echo nonsense; echo err >&2", "| nonsense\n    | err"), ("echo err >&2; exit 2", None)])
def test_what_a_failed_hook_has_said_is_in_the_log(home, command, kept):
    """
    Both of its streams; what explains a refusal is told to the agent instead.
    """
    manifest(home, command)

    told(CLAUDE, "claude-code", "PreToolUse")

    log = home / ".local/share/hookonce/hookonce.log"
    assert (kept in log.read_text()) if kept else not log.exists()


def test_the_log_quotes_nothing_that_is_not_kept(home):
    """
    A failed hook that repeats a prompt has its line left out; what it says itself stays.
    """
    manifest(home, "cat; echo; echo mine; exit 1", event="before_prompt")

    told(CLAUDE | {"hook_event_name": "UserPromptSubmit", "prompt": "a rather private sentence"}, "claude-code", "UserPromptSubmit")

    log = (home / ".local/share/hookonce/hookonce.log").read_text()
    assert ("| (a line that repeats what is not kept)" in log, "| mine" in log, "private" in log) == (True, True, False)


def test_texts_that_are_no_unicode_hold_nothing_up(home):
    """
    JavaScript writes halves of characters; so may a hook's reason.
    """
    manifest(home, 'echo \'{"decision": "deny", "reason": "no \\ud800"}\'')
    odd = CLAUDE | {"session_id": "s\ud800", "tool_input": {"command": "echo \udfff"}, "tool_use_id": None}
    stop = {key: value for key, value in odd.items() if not key.startswith("tool")} | {"hook_event_name": "Stop"}

    answers = [told(odd, "claude-code", "PreToolUse", "--via", via) for via in ("a/user", "a/project")]
    assert ["deny", "deny"] == [one.outcome for one in answers]
    assert 1 == runs(home)

    manifest(home, 'echo \'{"decision": "deny", "reason": "no \\ud800"}\'', event="agent_stop")
    heard = [told(stop, "claude-code", "Stop", "--via", "a/user").outcome for _ in range(6)]
    assert ["deny"] * 5 + [None] == heard


def test_a_call_without_arguments_is_judged_by_what_its_payload_says(home):
    """
    As an older Claude Code calls an entry in the exec form: its hooks run, once, whatever other entries there are.
    """
    manifest(home, "echo no >&2; exit 2")
    raw = json.dumps(CLAUDE).encode()

    replies = [dispatcher.answer_call(words, raw, PLAIN) for words in ([], ["claude-code", "PreToolUse", "--via", "claude-code/project"])]

    assert replies[0] == replies[1]
    assert "deny" in replies[0].stdout
    ((record, _),) = records()
    assert (1, "claude-code", "deny") == (runs(home), record.event.agent, record.decision.outcome)


UNKNOWN = [b"", b"{", b"[]", b'{"hook_event_name": "PreToolUse"}', b'{"x": 1}', b"\xff"]


@pytest.mark.parametrize("raw", UNKNOWN)
def test_a_call_without_arguments_or_a_known_agent_is_refused_where_a_hook_must_be_asked(home, raw):
    """
    By exit code, with what to do; where no hook must be asked it is silence.
    """
    manifest(home, "true")
    silence = dispatcher.answer_call([], raw, PLAIN)
    manifest(home, "true", on_failure="closed")
    refusal = dispatcher.answer_call([], raw, PLAIN)

    assert Reply() == silence
    assert (2, "") == (refusal.code, refusal.stdout)
    assert "hookonce doctor" in refusal.stderr
    assert 0 == runs(home)


def test_a_call_without_arguments_fails_as_its_agent_does(home, monkeypatch):
    """
    In the agent's own words, once the payload has told whose they are.
    """
    manifest(home, "true", on_failure="closed")
    monkeypatch.setattr(dispatcher, "parse_request", lambda *_: 1 / 0)
    raw = json.dumps(CLAUDE).encode()

    assert dispatcher.answer_call(["claude-code", "PreToolUse"], raw, PLAIN) == dispatcher.answer_call([], raw, PLAIN) != Reply()
