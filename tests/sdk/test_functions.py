"""Functions that are hooks: what they are shown, what they may say, and when they are asked."""

import pytest
from msgspec import to_builtins

from hookonce import agents, allow, ask, context, decode, deny, hook, rewrite
from hookonce.dispatch.hook_faults.manifest_words import event_problem
from hookonce.errors import HookonceError
from hookonce.model import Decision
from hookonce.sdk.answers import encode_decision, parse_answer
from hookonce.sdk.event import HookEvent
from hookonce.sdk.functions import run_functions
from hookonce.sdk.script import parse_event
from hookonce.testing import samples
from tests.dispatch.pipeline_cases import goldens

CLAUDE = {"session_id": "s1", "cwd": "/w", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git push"}}


def seen(**more):
    """An event of Claude Code."""
    return decode(agents.load("claude-code"), CLAUDE | more)


def test_an_event_tells_the_same_for_every_agent():
    """
    Names are the canon's; what is not there is empty, so that a hook may look without asking.
    """
    event = HookEvent(seen())
    file = HookEvent(seen(tool_name="Write", tool_input={"file_path": "/w/a", "content": "x"}))
    prompt = HookEvent(seen(hook_event_name="UserPromptSubmit", prompt="hi", tool_name=None, tool_input=None))

    assert ("before_tool_execute", "claude-code", "s1", "/w", "shell", "git push") == (event.type, event.agent, event.session, event.cwd, event.tool.name, event.command)
    assert ("", [], "", "", None) == (event.path, event.paths, event.content, event.prompt, event.result.ok)
    assert ("/w/a", ["/w/a"], "x", "") == (file.path, file.paths, file.content, file.command)
    assert ("hi", "", {}, "") == (prompt.prompt, prompt.tool.name, prompt.input, prompt.command)
    assert CLAUDE == event.native
    assert "git push" not in repr(event)


def test_every_event_can_be_looked_at():
    """
    No property fails on any payload that we have.
    """
    names = [name for name in dir(HookEvent) if not name.startswith("_")]
    for agent, native, payload, _ in goldens():
        event = HookEvent(decode(agents.load(agent), payload, native))
        assert all(type(getattr(event, name)) is str for name in ("command", "path", "prompt", "session", "cwd", "model", "mode", "content"))
        assert names == [name for name in names if hasattr(event, name)]


@pytest.mark.parametrize(
    ("value", "document"),
    [
        (None, b""),
        ([], b""),
        (deny("no"), b'{"decision":"deny","reason":"no"}'),
        (ask("may it?"), b'{"decision":"ask","reason":"may it?"}'),
        (allow(), b'{"decision":"allow"}'),
        (context("mind"), b'{"context":"mind"}'),
        (rewrite({"command": "true"}), b'{"updated_input":{"command":"true"}}'),
        ((context("mind"), None, deny("no")), b'{"decision":"deny","reason":"no","context":"mind"}'),
        (Decision(proceed=False, system_message="x"), b'{"continue":false,"system_message":"x"}'),
    ],
)
def test_what_is_returned_is_what_is_said(value, document):
    """
    In the words of the Hook Interchange Format; nothing is no opinion.
    """
    assert document == encode_decision(parse_answer(value, "guard"))


@pytest.mark.parametrize("value", ["deny", True, 3, {"decision": "deny"}, [deny("x"), "y"]])
def test_anything_else_is_a_mistake(value):
    """
    Which is told, and never taken for silence.
    """
    with pytest.raises(TypeError, match=r"guard has returned .*; return nothing, or deny"):
        parse_answer(value, "guard")


def test_functions_are_asked_about_what_they_want():
    """
    By event and tool, as a manifest would say it; several answer together.
    """
    told = []

    def noting(name, *words, **more):
        @hook(*words, **more)
        def note(event):
            told.append(name)
            return context(name)

        return note

    functions = [
        noting("all"),
        noting("shell", "before_tool_execute", tool="shell"),
        noting("files", "before_tool_execute", tool=("file_write", "file_edit")),
        noting("pattern", tool={"pattern": "^Ba"}),
        noting("prompts", "before_prompt"),
        noting("ends", "after_tool_execute"),
    ]

    both = run_functions(functions, seen())
    failed = run_functions(functions, seen(hook_event_name="PostToolUseFailure", error="x"))

    assert ["all", "shell", "pattern", "all", "pattern", "ends"] == told
    assert ("all\nshell\npattern", "all\npattern\nends") == (both.context, failed.context)


def test_a_coroutine_is_waited_for():
    """
    A hook may be async.
    """

    @hook
    async def slow(event):
        return deny(event.command)

    assert deny("git push") == run_functions([slow], seen())


@pytest.mark.parametrize(("words", "more"), [(["before_tool"], {}), ([], {"tool": {"pattern": "("}}), ([], {"tool": 3})])
def test_a_decorator_that_makes_no_sense_is_refused(words, more):
    """
    When the file is loaded, and not when it is too late.
    """
    with pytest.raises(HookonceError):
        hook(*words, **more)


NATIVE = {"PreToolUse": "before_tool_execute", "pretooluse": "before_tool_execute", "BeforeTool": "before_tool_execute", "tool.execute.before": "before_tool_execute", "userPromptSubmitted": "before_prompt", "sesion_start": "session_start"}


@pytest.mark.parametrize("name", NATIVE)
def test_an_agents_own_name_of_an_event_is_answered_with_ours(name):
    """
    As `check` does it for a manifest.
    """
    with pytest.raises(HookonceError, match=rf"no event is called '{name}'; did you mean {NATIVE[name]}\?"):
        hook(name)
    assert any(words in event_problem(name) for words in (f"(did you mean {NATIVE[name]}?)", f"here it is called {NATIVE[name]}"))


def test_there_is_a_sample_for_every_event_of_every_agent():
    """
    Made by our own tables, and understood by them.
    """
    found = list(samples())

    assert set(agents.AGENTS) == {one.agent for one in found}
    for one in found:
        assert one.type == decode(agents.load(one.agent), one.payload, one.event).type


def test_a_function_sees_which_decision_a_derived_event_is_about():
    """
    Of others it sees none.
    """
    document = to_builtins(seen(), str_keys=True) | {"type": "policy_blocked", "decision": {"outcome": "deny", "reason": "no"}}

    assert Decision(outcome="deny", reason="no") == HookEvent(parse_event(document)).decision
    assert HookEvent(seen()).decision is None
