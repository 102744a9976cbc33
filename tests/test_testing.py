"""hookonce.testing: hooks of every kind, on every agent's payload."""

import json

import pytest

from hookonce import agents, allow, ask, context, deny, hook, rewrite
from hookonce.errors import HookonceError
from hookonce.testing import run, sample
from tests.shared import ROOT

HOOKS = ROOT / "examples" / "hooks"
RM = {"command": "rm -rf /"}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@hook("before_tool_execute", tool="shell")
def no_rm(event):
    """The five lines of the README."""
    return deny("not here") if "rm -rf" in event.command else None


@pytest.mark.part(4)
@pytest.mark.parametrize("agent", agents.AGENTS)
def test_a_function_is_run_as_every_agent_would(agent):
    """
    What comes out is what that agent reads, and that agent takes it for a refusal.
    """
    result = run(no_rm, agent, input=RM)
    who = agents.load(agent)
    native = agents.config_event_of(who, "before_tool_execute")

    assert result.denied
    assert "not here" == result.reason
    assert "deny" == who.read_reply(native, result.reply).outcome
    assert run(no_rm, agent, input={"command": "ls"}).silent


@pytest.mark.parametrize(
    "tried",
    [
        HOOKS / "guard.py",
        str(HOOKS / "guard.sh"),
        f"sh {HOOKS / 'guard.sh'}",
        HOOKS / "hooks.json",
        {"spec": "hooks/1.0", "hooks": [{"event": "before_tool_execute", "blocking": True, "handler": {"type": "function", "file": str(HOOKS / "guard.py")}}]},
    ],
    ids=["program", "script", "command", "manifest", "document"],
)
def test_whatever_a_hook_is_it_can_be_run(tried):
    """
    A program, a command, the file of a manifest or the document itself.
    """
    assert ("deny", "not here") == (run(tried, "codex", input=RM).decision.outcome, run(tried, "codex", input=RM).reason)
    assert run(tried, "codex").silent


def test_an_event_has_two_names_and_a_payload_may_be_given():
    """
    The agent's own name, or the canonical one; a payload is taken as it is.
    """
    payload = sample("gemini-cli", input=RM)

    assert "BeforeTool" == payload["hook_event_name"]
    for event in ("BeforeTool", "before_tool_execute"):
        assert run(no_rm, "gemini-cli", event, payload).denied
        assert run(no_rm, "gemini-cli", event, json.loads(json.dumps(payload).replace("rm -rf", "ls"))).silent
    assert "hello" == run(hook(lambda event: context(event.prompt)), "codex", "UserPromptSubmit", prompt="hello").context


def test_everything_that_can_be_said_is_seen():
    """
    Questions, permissions, context, other input; and what of it an agent cannot be told.
    """
    assert run(lambda _: ask("sure?")).asked
    assert run(lambda _: allow()).allowed
    assert "mind" == run(lambda _: context("mind")).context
    assert {"command": "true"} == run(lambda _: rewrite({"command": "true"})).decision.updated_input
    assert "allow" == run(lambda _: allow("fine")).answer["hookSpecificOutput"]["permissionDecision"]
    assert [] != run(lambda _: context("x"), "claude-code", "session_end").gaps


def test_what_a_function_raises_is_for_the_test_to_see():
    """
    With its own traceback; of a program it is a failure.
    """
    with pytest.raises(ZeroDivisionError):
        run(lambda event: 1 / len(event.prompt))

    failed = run("echo oh >&2; exit 3")
    assert ("exit code 3", "oh\n", False) == (failed.failure, failed.stderr, failed.silent)
    assert "exit code 3" in repr(failed)
    assert "timeout" == run("sleep 9", timeout=0.2).failure


@pytest.mark.parametrize(
    ("words", "told"),
    [(("nobody",), "no agent"), (("codex", "befor_tool_execute"), "did you mean before_tool_execute"), (("kiro", "worktree_create"), "has no event")],
)
def test_names_that_nobody_has_are_refused(words, told):
    """
    With what was probably meant.
    """
    with pytest.raises(HookonceError, match=told):
        run(no_rm, *words)
