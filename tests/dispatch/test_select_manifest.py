"""What a manifest says of a hook is what happens when an agent calls: order, system, matcher and version."""

import json

import pytest

from hookonce import agents
from hookonce.agents import point_of
from hookonce.dispatch import prepare
from hookonce.dispatch.dispatcher import answer_call
from hookonce.dispatch.select import select_hooks
from hookonce.model import Decision
from tests.dispatch.event_factory import event
from tests.dispatch.pipeline_cases import ask, asked, hook, said, shell_calls
from tests.manifest.projects import command, house, put

CLAUDE = {"session_id": "s1", "transcript_path": "/h/.claude/projects/p/s1.jsonl", "cwd": "/"}
TOOL = CLAUDE | {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git push"}}
WITHOUT_TOOL = {
    "SessionStart": ("session_start", {"source": "startup"}),
    "UserPromptSubmit": ("before_prompt", {"prompt": "hello"}),
    "Stop": ("agent_stop", {"stop_hook_active": False}),
    "SubagentStop": ("subagent_stop", {"stop_hook_active": False, "agent_id": "a1"}),
    "PreCompact": ("before_compact", {"trigger": "auto"}),
    "Notification": ("notification", {"message": "m", "notification_type": "idle_prompt"}),
}
CALLS = {one.values[0]: one.values for one in reversed(list(shell_calls("before_tool_execute")))}


@pytest.fixture
def user(monkeypatch, tmp_path):
    """The user's manifest, to be written."""
    home = house(monkeypatch, tmp_path)
    return lambda *hooks, spec="hooks/1.0": put(
        home / ".config/hookonce/hooks.json", {"spec": spec, "hooks": list(hooks)}
    )


def call(payload):
    """What Claude Code is answered."""
    return answer_call(
        ["claude-code", payload["hook_event_name"]], json.dumps(payload).encode(), {"PATH": "/usr/bin:/bin"}
    )


def refusing(name, **more):
    """A hook that refuses in its own name."""
    return command(f"echo {name} >&2; exit 2", blocking=True, **more)


@pytest.mark.part(3)
@pytest.mark.covers("HIF-12", "HIF-73")
@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("linux", "for-linux"),
        ("darwin", "for-macs"),
        ("win32", "for-windows"),
        ("freebsd14", "fallback"),
        ("beos", "fallback"),
    ],
)
@pytest.mark.parametrize("mac", ["osx", "darwin", "macos"])
def test_the_command_of_this_system_runs(user, monkeypatch, system, name, mac):
    """
    Each system has its own, and one that has none runs the command itself; a system of nobody's is not looked at.
    """
    texts = {"linux": "for-linux", mac: "for-macs", "windows": "for-windows", "beos": "for-nobody"}
    user(refusing("fallback", handler={"platform": {key: f"echo {text} >&2; exit 2" for key, text in texts.items()}}))
    monkeypatch.setattr(prepare, "system", system)

    assert name in call(TOOL).stdout
    assert 1 == sum(text in call(TOOL).stdout for text in (*texts.values(), "fallback"))


@pytest.mark.part(2)
@pytest.mark.covers("HIF-86")
@pytest.mark.parametrize("matcher", ["file_read", {"pattern": "^Never$"}, {"mcp": {"server": "s"}}, []])
@pytest.mark.parametrize("native", WITHOUT_TOOL)
def test_a_matcher_keeps_no_hook_of_another_event_from_running(user, tmp_path, native, matcher):
    """
    There is no tool that it could be about, and so the hook runs; on a tool it does not.
    """
    kind, fields = WITHOUT_TOOL[native]
    trace = tmp_path / "ran"
    user(command(f"echo x >> {trace}", kind, matcher=matcher), command(f"echo tool >> {trace}", matcher=matcher))

    call(CLAUDE | {"hook_event_name": native} | fields)
    call(TOOL)

    assert "x\n" == trace.read_text()


@pytest.mark.covers("HIF-88")
@pytest.mark.parametrize(
    ("pattern", "by_native_name"), [("^Bash$", True), ("^shell$", False), ("^(?i)BASH", True), ("shel+", False)]
)
def test_a_pattern_looks_at_the_names_that_its_version_says(user, pattern, by_native_name):
    """
    hooks/0.1 tries it on the agent's own names alone, hooks/1.0 on the canonical ones as well.
    """
    user(refusing("no", matcher={"pattern": pattern}))
    assert "no" in call(TOOL).stdout

    user(refusing("no", matcher=["file_read", {"pattern": pattern}]), spec="hooks/0.1")
    assert by_native_name == ("no" in call(TOOL).stdout)


@pytest.mark.covers("HIF-70")
def test_hooks_run_in_the_order_in_which_they_are_written(user, tmp_path):
    """
    Those of one event, whatever stands between them and however they are called.
    """
    trace, names = tmp_path / "ran", ["c", "a", "d", "b", "e"]
    others = [command("true", "agent_stop"), command("true", matcher="file_read")]
    user(*(one for name in names for one in (command(f"echo {name} >> {trace}", name=name), *others)))

    call(TOOL)

    assert names == trace.read_text().split()


@pytest.mark.covers("HIF-X2")
def test_a_hook_on_changed_files_hears_of_saved_ones(user):
    """
    They are two names of one event; what was created or deleted is another matter.
    """
    user(command("true", "file_changed", name="changed"), command("true", "file_saved", name="saved"))

    heard = {
        kind: [one.hook.name for one in select_hooks(event(kind), None).hooks]
        for kind in ("file_saved", "file_changed", "file_created")
    }

    assert {"file_saved": ["changed", "saved"], "file_changed": ["changed"], "file_created": []} == heard


@pytest.mark.covers("HIF-26")
@pytest.mark.parametrize("name", sorted(CALLS))
def test_output_that_is_to_be_hidden_is_hidden_or_told(name):
    """
    Where an agent can hide it the answer says so, and elsewhere a gap names what is lost.
    """
    one = asked(*CALLS[name])
    can = "suppress" in point_of(one.agent, one.native).capabilities

    _, record = ask(one, [hook("x")], lambda *_: said({"suppress_output": True}))

    assert ([] if can else ["suppress_output"]) == [gap.capability for gap in record.gaps]
    assert can == (record.decision.suppress_output is True)


@pytest.mark.covers("HIF-26")
@pytest.mark.parametrize(
    ("answer", "expected", "lost"),
    [
        ({}, Decision(suppress_output=True), []),
        ({"system_message": "look"}, Decision(system_message="look"), ["suppress_output"]),
        ({"decision": "deny", "reason": "no"}, Decision(outcome="deny", reason="no"), ["suppress_output"]),
    ],
)
def test_gemini_hides_what_is_not_for_its_user(answer, expected, lost):
    """
    It hides messages, and so it is told to only where none is for the user; elsewhere a gap says so.
    """
    decision, record = ask(asked(*CALLS["gemini-cli"]), [hook("x")], lambda *_: said(answer | {"suppress_output": True}))

    assert expected == decision
    assert lost == [gap.capability for gap in record.gaps]


@pytest.mark.covers("HIF-102", "HIF-25")
@pytest.mark.parametrize(
    "name", sorted(name for name in CALLS if point_of(agents.load(name), CALLS[name][1]).rewrite is None)
)
def test_new_input_that_an_agent_does_not_take_is_a_refusal(name):
    """
    When a hook runs as when it is converted: the old input must not go on.
    """
    one = asked(*CALLS[name])

    heard, record = ask(one, [hook("x", blocking=False)], lambda *_: said({"updated_input": {"command": "true"}}))

    assert "deny" == heard.outcome
    assert ["input_rewrite"] == [gap.capability for gap in record.gaps]
