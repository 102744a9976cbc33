"""respond: the hooks of a call are asked in order, and the agent hears what they say together."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import point_of
from hookonce.base import process_info
from hookonce.base import settings as configured
from hookonce.dispatch.request.call_request import call_budget_s
from hookonce.dispatch.run import hook_timeout_s
from hookonce.model import Decision, Handler, Hook
from hookonce.vocabulary.decision_merge import APPROVAL_HINT, APPROVAL_PREFIX, weaken
from tests.dispatch.pipeline_cases import ask, asked, goldens, hook, said, shell_calls
from tests.handlers.test_verdict import TABLE
from tests.sample import EXHAUSTIVE

CALLS = {one.values[0]: one.values for one in reversed(list(shell_calls("before_tool_execute")))}
CLAUDE = {"session_id": "s1", "transcript_path": "/h/.claude/projects/p/s1.jsonl", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git push"}}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


# The rows of the table as shells: how a hook ends, and what it says.
ENDINGS = [
    ("printf ''", None, None),
    ("echo '{}'", None, None),
    ("echo '{\"reason\": \"r\"}'", None, None),
    ("echo '{\"decision\": \"allow\"}'", "allow", "allow"),
    ("echo '{\"decision\": \"deny\", \"reason\": \"r\"}'", "deny", "deny"),
    ("echo '{\"decision\": \"ask\", \"reason\": \"r\"}'", "ask", "ask"),
    ("echo nonsense", "error", "deny"),
    ("echo no >&2; exit 2", "two", "deny"),
    ("echo '{\"decision\": \"allow\"}'; exit 2", "two", "deny"),
    ("exit 1", "error", "deny"),
    ("echo '{\"decision\": \"deny\"}'; exit 1", "error", "deny"),
    ("exit 77", "error", "deny"),
    ("kill -9 $$", "error", "deny"),
    ("/there/is/no/such/thing", "error", "deny"),
]


@pytest.mark.part(2)
@pytest.mark.covers("HIF-17", "HIF-18", "HIF-19", "HIF-20", "HIF-21", "HIF-22", "HIF-80", "HIF-81", "HIF-82", "HIF-84", "HIF-85")
@pytest.mark.parametrize(("blocking", "on_failure"), [(True, None), (True, "open"), (True, "closed"), (False, None)])
@pytest.mark.parametrize(("command", "opened", "closed"), ENDINGS)
def test_a_hook_s_process_means_what_the_table_says(command, opened, closed, blocking, on_failure):
    """
    As Claude Code reads our answer; beside a second hook whose refusal is never hidden.
    """
    one = asked("claude-code", "PreToolUse", CLAUDE)
    first = hook(command, may_allow=True, blocking=blocking, on_failure=on_failure)
    expected = closed if on_failure == "closed" else opened
    if expected == "two":
        expected = "deny" if blocking else "error"

    heard, record = ask(one, [first])
    both, _ = ask(one, [first, hook("echo other >&2; exit 2")])

    assert (None if expected == "error" else expected) == heard.outcome == record.decision.outcome
    assert (record.runs[0].failure is not None) == (expected == "error" or (closed == "deny" and opened == "error"))
    assert "deny" == both.outcome
    assert both.reason.endswith("other")


@pytest.mark.covers("HIF-15", "HIF-75")
@pytest.mark.parametrize(
    ("blocking", "on_failure", "action", "expected"),
    [(True, None, None, None), (True, None, "warn", None), (True, None, "block", "deny"), (True, "closed", None, "deny"), (True, "closed", "warn", None), (False, None, "block", None)],
)
def test_a_hook_that_does_not_end_is_ended(blocking, on_failure, action, expected):
    """
    After its own timeout; what that means stands in its manifest, and the next hook is asked all the same.
    """
    one = asked("claude-code", "PreToolUse", CLAUDE)
    slow = hook("sleep 30", blocking=blocking, on_failure=on_failure, handler={"timeout": 0.05, "timeout_action": action})

    heard, record = ask(one, [slow, hook("echo '{\"context\": \"asked\"}'")])

    assert (expected, "timeout", "asked") == (heard.outcome, record.runs[0].failure, heard.context)


@pytest.mark.part(6)
@pytest.mark.parametrize("agent", sorted(agents.AGENTS))
@pytest.mark.parametrize(("blocking", "code", "stdout", "opened", "closed"), [*TABLE, ("any", "timeout", "", "error", "deny")])
def test_every_agent_hears_every_row_in_its_own_words(agent, blocking, code, stdout, opened, closed):
    """
    What the agent understands of our answer is what the table says, as far as the agent can hold it; open and closed.
    """
    one = asked(*CALLS[agent])
    point = point_of(one.agent, one.native)
    run = said(stdout, "", code) if type(code) is int else said(stdout, "", failure=code)
    for on_failure, expected in (("open", opened), ("closed", closed)):
        if on_failure == "closed" and blocking is False:
            continue
        asking = hook(may_allow=True, blocking=blocking is not False, on_failure=on_failure)

        heard, record = ask(one, [asking], lambda *_, run=run: run)

        wanted = None if expected == "error" else expected
        meant, _ = weaken(Decision(outcome=wanted, reason="r" if wanted else None), point, one.event.tool.input)
        assert meant.outcome == (heard or Decision()).outcome == record.decision.outcome


def test_nothing_that_happens_to_one_hook_hides_another_s_deny():
    """
    Not even a failure of ours in the middle of asking it.
    """
    one = asked("claude-code", "PreToolUse", CLAUDE)

    def runner(command, *_):
        if command == "broken":
            raise RuntimeError("a fault of ours")
        return said({"decision": "deny", "reason": command})

    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        hooks = [hook("broken"), hook("no"), hook(dialect="nobody")]
        heard, record = ask(one, [hooks[index] for index in order], runner)
        assert ("deny", "no") == (heard.outcome, heard.reason)
        assert 2 == sum(run.failure is not None for run in record.runs)
    closed, _ = ask(one, [hook("broken", on_failure="closed")], runner)
    assert "deny" == closed.outcome


SCOPES = ["project", "user", "organisation", "system"]
WORDS = [None, "allow", "ask", "deny"]


def member(bits):
    """A hook of a set: its scope, its word, how it rewrites, and whether it fails."""
    return SCOPES[bits % 4], WORDS[bits // 4 % 4], [None, None, "whole", "keeps"][bits // 16 % 4], bits // 64 == 0


chains = st.lists(st.integers(0, 447), max_size=7).map(lambda found: sorted(map(member, found), key=lambda one: SCOPES.index(one[0])))


@pytest.mark.covers("HIF-70", "HIF-25")
@settings(max_examples=1_000 if EXHAUSTIVE else 250)
@given(chains)
def test_each_hook_sees_what_those_before_it_have_made_of_the_input(chain):
    """
    For 1,000 sets of hooks: order, the chain of rewrites, texts in order, and the strictest word; a project's hooks
    come first, never allow, and what they write is judged by everybody above them.
    """
    one = asked("claude-code", "PreToolUse", CLAUDE)
    current, inputs, outcomes, answers, seen = CLAUDE["tool_input"], [], [], {}, []
    for number, (scope, word, rewrite, fails) in enumerate(chain):
        new = {"command": f"command {number}"} | ({"description": "kept"} if rewrite == "keeps" else {})
        answer = {"decision": word, "context": f"context {number}", "updated_input": new if rewrite else None}
        answers[str(number)] = said("nonsense") if fails else said(answer)
        inputs.append(current)
        if not fails and rewrite and word != "deny":
            current = new
        outcomes.append(None if fails or (word == "allow" and scope == "project") else word)

    def runner(command, stdin, *_):
        told = json.loads(stdin)
        assert told["tool"]["input"] == told["tool"]["native_input"] == told["native"]["tool_input"]
        seen.append(told["tool"]["input"])
        return answers[command]

    hooks = [hook(str(n), name=str(n), scope=scope, may_allow=scope != "project") for n, (scope, *_) in enumerate(chain)]
    heard, record = ask(one, hooks, runner)

    strictest = max(outcomes, key=WORDS.index, default=None)
    spoken = [f"context {n}" for n, (*_, fails) in enumerate(chain) if not fails]
    assert inputs == seen
    assert list(answers) == [run.hook for run in record.runs]
    assert (strictest, "\n".join(spoken) or None) == (heard.outcome, heard.context)
    assert (None if strictest == "deny" or current == CLAUDE["tool_input"] else current) == heard.updated_input


@pytest.mark.parametrize("dialect", ["claude-code", "canonical", "codex", "gemini-cli"])
def test_the_chain_holds_in_every_dialect(dialect):
    """
    Also the agent's own: its payload says what is new.
    """
    one = asked("claude-code", "PreToolUse", CLAUDE)
    seen = []

    def runner(command, stdin, *_):
        if command == "first":
            return said({"updated_input": {"command": "ls"}})
        seen.append(stdin)
        return said()

    ask(one, [hook("first"), hook("second", dialect=dialect)], runner)

    assert b"git push" not in seen[0]
    assert b'"ls"' in seen[0]


@pytest.mark.covers("HIF-X11")
def test_a_hook_that_may_not_block_blocks_by_its_word_unless_the_user_is_strict(home):
    """
    deny with exit 0 counts as the specification's table has it. With strict_nonblocking it only looks on; but what a
    managed hook says is not the user's to weaken.
    """
    one = asked("claude-code", "PreToolUse", CLAUDE)

    def outcome(scope):
        heard, record = ask(one, [hook(blocking=False, scope=scope)], lambda *_: said({"decision": "deny", "reason": "r"}))
        return heard.outcome, [gap.capability for gap in record.gaps]

    assert ("deny", []) == outcome("user")
    folder = home / ".config/hookonce"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("strict_nonblocking = true\n")
    assert (None, ["blocking"]) == outcome("user") == outcome("project")
    assert ("deny", []) == outcome("system") == outcome("organisation")


@pytest.mark.covers("HIF-83")
@pytest.mark.parametrize("agent", sorted(agents.AGENTS))
@pytest.mark.parametrize("seated", [True, False])
def test_a_question_goes_out_only_to_somebody(monkeypatch, agent, seated):
    """
    Where the agent puts it to its user; on Gemini CLI, which a question ends without one, only at a terminal.
    """
    monkeypatch.setattr(process_info, "has_terminal", lambda *_: seated)
    one = asked(*CALLS[agent])
    ways = point_of(one.agent, one.native).ask

    heard, record = ask(one, [hook()], lambda *_: said({"decision": "ask", "reason": "sure?"}))

    if ways in {"native", "denies_headless"} or (ways == "fatal" and seated):
        assert ("ask", "sure?") == (heard.outcome, heard.reason)
    else:
        assert ("deny", f"{APPROVAL_PREFIX}sure?{APPROVAL_HINT}") == (heard.outcome, heard.reason)
        assert "ask" in {gap.capability for gap in record.gaps}
    assert (ways == "fatal") == (agent == "gemini-cli")


@pytest.mark.covers("AMP-X7", "HIF-24")
def test_context_is_cut_at_its_limit_and_told(home):
    """
    10,240 characters unless the user's configuration says otherwise.
    """
    one = asked("claude-code", "PreToolUse", CLAUDE)

    def length():
        heard, record = ask(one, [hook()], lambda *_: said({"context": "x" * 20_000}))
        return len(heard.context), [gap.capability for gap in record.gaps]

    assert (10_240, ["context"]) == length()
    folder = home / ".config/hookonce"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("context_limit = 15000\n")
    assert (15_000, ["context"]) == length()
    assert 15_000 == configured.load().context_limit


@pytest.mark.covers("HIF-15", "HIF-74")
def test_time_is_what_the_agent_waits_less_a_margin():
    """
    The native timeout or the agent's cap, the smaller one, less half a second or a tenth of it, the larger one.
    """
    claude, copilot, cline = (agents.load(name) for name in ("claude-code", "copilot-cli", "cline"))

    assert 54 == call_budget_s(claude, "PreToolUse", None)
    assert 4.5 == call_budget_s(claude, "PreToolUse", 5)
    assert 9 == call_budget_s(claude, "PreToolUse", 10)
    assert 0.5 == call_budget_s(claude, "PreToolUse", 1)
    assert 0 == call_budget_s(claude, "PreToolUse", 0.2)
    assert 4.5 == call_budget_s(claude, "Notification", None)
    assert 54 == call_budget_s(claude, "SessionEnd", 600)  # its cap is 60
    assert 0.5 == call_budget_s(copilot, "sessionEnd", 60)
    assert 108 == call_budget_s(cline, "PreToolUse", 600)
    for odd in (0, -1, float("nan"), float("inf")):
        assert 54 == call_budget_s(claude, "PreToolUse", odd)
    for agent in map(agents.load, agents.AGENTS):
        default = agent.config.timeout
        for native in agents.config_events(agent):
            known = [limit for limit in (default or call_budget_s(agent, native, None), point_of(agent, native).hard_timeout_s, agent.config.longest) if limit]
            if default:
                assert pytest.approx(min(known) - max(0.5, min(known) / 10)) == call_budget_s(agent, native, None, is_wrapper=True)


@pytest.mark.covers("HIF-15", "HIF-74")
def test_hooks_share_the_time_in_order():
    """
    Each gets its own or what is left; 0 and nothing mean 30 seconds; with nothing left a hook was late.
    """

    def timed(seconds):
        return Hook(event="x", handler=Handler(type="command", timeout=seconds))

    assert [30, 30, 7, 2] == [hook_timeout_s(timed(seconds), 100 if seconds != 9 else 2) for seconds in (None, 0, 7, 9)]
    one, given_time = asked("claude-code", "PreToolUse", CLAUDE), []

    def runner(command, stdin, world, seconds):
        given_time.append(round(seconds, 1))
        return said()

    ask(one, [hook(handler={"timeout": 1}), hook(handler={"timeout": 600})], runner, seconds=20)
    assert 1.0 == given_time[0]
    assert 15 < given_time[1] <= 20
    late, record = ask(one, [hook(on_failure="closed"), hook()], runner, seconds=-1)
    assert (["timeout", "timeout"], "deny", 2) == ([run.failure for run in record.runs], late.outcome, len(given_time))


def test_a_slow_hook_leaves_nothing_for_the_next():
    """
    The agent is answered in time all the same.
    """
    one = asked("claude-code", "PreToolUse", CLAUDE)

    heard, record = ask(one, [hook("sleep 5"), hook("echo never >&2; exit 2", on_failure="closed")], seconds=0.1)

    assert ["timeout", "timeout"] == [run.failure for run in record.runs]
    assert "deny" == heard.outcome


@pytest.mark.parametrize("kind", ["telepathy", ""])
def test_what_cannot_be_run_has_not_been_started(kind):
    """
    A closed hook of such a kind refuses, and nobody is told that all is well.
    """
    one = asked("claude-code", "PreToolUse", CLAUDE)

    heard, record = ask(one, [hook(handler={"type": kind}, on_failure="closed")])

    assert ("deny", None) == (heard.outcome, record.runs[0].exit)
    assert f"handlers of type {kind} cannot be run" in record.runs[0].failure


@pytest.mark.covers("HIF-13", "HIF-14", "HIF-77")
def test_a_hook_runs_in_the_caller_s_world(home, monkeypatch):
    """
    Its directory and environment, without words of ours but three; a script is found where the hook lies, a directory
    that the hook names from the project's root.
    """
    (home / "hooks").mkdir()
    script = home / "hooks/tell.sh"
    script.write_text('#!/bin/sh\nprintf \'{"context": "%s %s %s %s"}\' "$PWD" "$HOOKONCE_DEPTH" "$MORE" "$(env | grep -c HOOKONCE_)"\n')
    script.chmod(0o755)
    (home / "project/.git").mkdir(parents=True)
    (home / "project/.git/HEAD").write_text("")
    (home / "project/inner").mkdir()
    (home / "project/hooks").mkdir()
    (home / "project/hooks/tell.sh").write_text("#!/bin/sh\nexit 2\n")
    monkeypatch.chdir(home / "project/inner")
    one = asked("claude-code", "PreToolUse", CLAUDE | {"cwd": str(home / "project/inner")})

    plain = replace(hook("hooks/tell.sh", handler={"env": {"MORE": "more", "HOOKONCE_DEPTH": "9"}}), folder=str(home))
    placed = replace(hook("./hooks/tell.sh", handler={"cwd": "hooks"}), folder=str(home))

    assert f"{home}/project/inner 1 more 3" == ask(one, [plain])[0].context
    assert f"{home}/project/hooks 1  3" == ask(one, [placed])[0].context


@pytest.mark.parametrize("event", ["agent_stop", "subagent_stop"])
@pytest.mark.parametrize("words", [("deny", None), (None, False), ("deny", False)])
def test_on_a_stop_deny_means_go_on_and_continue_false_means_stop(event, words):
    """
    Whoever ends the turn is heard before whoever wants it to go on.
    """
    native = {"agent_stop": "Stop", "subagent_stop": "SubagentStop"}[event]
    one = asked("claude-code", native, CLAUDE | {"hook_event_name": native, "tool_name": None, "stop_hook_active": False})
    outcome, goes_on = words

    heard, _ = ask(one, [hook(event=event)], lambda *_: said({"decision": outcome, "reason": "r", "continue": goes_on}))

    assert (None if goes_on is False else "deny", goes_on, "r") == (heard.outcome, heard.proceed, heard.reason)


@pytest.mark.part(3)
@pytest.mark.parametrize(("agent", "native", "payload", "name"), [pytest.param(*one, id=one[-1]) for one in goldens()])
def test_who_calls_is_known_by_what_they_say(agent, native, payload, name):
    """
    Every agent's payload is its own through its own entry; argv is a claim that it agrees with.
    """
    one = asked(agent, native, payload, via=f"{agent}/user")

    assert (agent, [f"{agent}/user"]) == (one.agent.name, one.event.origin.via)


@pytest.mark.parametrize("agent", ["codex", "gemini-cli", "copilot-cli", "cursor", "factory-droid", "qwen-code", "cline"])
def test_evidence_is_stronger_than_the_entry_that_was_used(agent):
    """
    Called through Claude Code's entry, the real agent is answered in its own words, and the record says how it came.
    """
    _, native, payload = CALLS[agent]

    one = asked("claude-code", "PreToolUse", payload)
    heard, _ = ask(one, [hook()], lambda *_: said({"decision": "deny", "reason": "no"}))

    assert (agent, "claude-code PreToolUse") == (one.agent.name, one.event.data["called_through"])
    assert ("deny", "no") == (heard.outcome, heard.reason)
    assert agents.canonical_event_of(one.agent, native) == agents.canonical_event_of(one.agent, one.native)


LIKENESSES = [
    pytest.param("amp", "tool.call", {"hook": "tool.call", "input": {"toolUseID": "t1", "tool": "Bash", "input": {"command": "ls"}}, "output": {"input": {}}}, id="without its thread Amp's plugin looks like OpenCode's"),
    pytest.param("amp", "session.start", {"hook": "session.start", "input": {}, "output": None, "directory": "/"}, id="before there is a thread"),
    pytest.param("qwen-code", "PreToolUse", {"hook_event_name": "PreToolUse", "session_id": "s", "timestamp": "2026-11-15T00:00:00Z", "tool_name": "run_shell_command", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}, id="without its transcript Qwen Code looks like VS Code"),
]


@pytest.mark.parametrize(("agent", "native", "payload"), LIKENESSES)
def test_a_mere_likeness_is_weaker_than_the_entry_that_was_used(agent, native, payload):
    """
    Whose events these are not, or who does not read that entry, is not taken for the caller.
    """
    one = asked(agent, native, payload)

    assert (agent, native) == (one.agent.name, one.native)
    assert not one.event.type.startswith("vendor.")
    assert "called_through" not in one.event.data


def test_who_reads_an_entry_of_others_is_known_by_a_likeness():
    """
    The same payload through Claude Code's entry, which VS Code reads as well.
    """
    _, native, payload = LIKENESSES[-1].values

    assert "vs-code-copilot" == asked("claude-code", native, payload).agent.name


@pytest.mark.parametrize(("agent", "told", "native"), [("cline", "tool_call", "PreToolUse"), ("kiro", "stop", "stop"), ("kiro", None, "stop"), ("claude-code", None, "Stop")])
def test_the_name_of_an_event_is_the_one_that_answers_are_written_for(agent, told, native):
    """
    What argv says, else the payload, if it is configured under that name; else the agent's usual one.
    """
    payloads = {"cline": CALLS["cline"][2], "kiro": {"hook_event_name": "stop", "cwd": "/", "session_id": "s"}, "claude-code": CLAUDE | {"hook_event_name": "Stop", "tool_name": None}}

    assert native == asked(agent, told, payloads[agent]).native
