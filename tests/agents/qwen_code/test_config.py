"""Qwen Code's settings: two units of time, aliases of tools, handlers that ask a server or a model.

The examples are made up after qwen-code 0.24.4 (hook registry, timeout reader, matcher) and the lab's cases.
"""

import pytest

from hookonce import agents
from hookonce.agents import point_of
from hookonce.configure.entries import build_entries
from hookonce.convert.conversion import convert
from tests.agents._config.node import plain_wording

QWEN = agents.load("qwen-code")
COMMAND = {"type": "command", "command": "./check.sh"}
HTTP = {"type": "http", "url": "http://127.0.0.1:4000/x"}


def round_trip(document):
    """A configuration that was read and written, and whatever was said about it."""
    hooks, gaps = QWEN.config.parse(QWEN, document)
    made, lost = QWEN.config.render(QWEN, list(enumerate(hooks)), plain_wording)
    return made, gaps + lost


def settings(*entries, event="PreToolUse", **group):
    """Settings with one group."""
    return {"hooks": {event: [group | {"hooks": list(entries)}]}}


def seconds(entry):
    """The timeout of an entry as a hook has it."""
    (hook,), _ = QWEN.config.parse(QWEN, settings(entry))
    return hook.handler.timeout


@pytest.mark.parametrize(
    "document",
    [
        settings({"name": "guard", "description": "d", "timeout": 5000, "env": {"A": "1"}, "shell": "bash", "async": True, "statusMessage": "s"} | COMMAND, matcher="^run_shell_command$", sequential=False),
        settings(HTTP | {"headers": {"X": "$T"}, "allowedEnvVars": ["T"], "timeout": 1800, "once": True, "if": "x", "name": "n"}, COMMAND, sequential=True),
        settings({"type": "prompt", "prompt": "fine? $ARGUMENTS", "model": "m", "timeout": 30, "statusMessage": "s"}, event="Stop"),
        settings({"type": "function", "id": "f"}, event="SessionStart", matcher="startup"),
        settings(COMMAND, event="SessionDelete"),
        {"hooks": {"PreToolUse": [{"matcher": text, "hooks": [COMMAND]} for text in ("Bash", "Shell", "run_shell", "WriteFile|Edit", "mcp__github__.*", "*", "(")]}},
    ],
)
def test_what_qwen_accepts_comes_back_as_it_was(document):
    """
    Every type of handler, every matcher and every field survive.
    """
    assert (document, []) == round_trip(document)


def test_less_than_a_thousand_is_seconds_for_a_command():
    """
    The lab saw both units; a command's timeout is only ever written in the one that cannot be mistaken.
    """
    assert (30, 5, 0.5) == (seconds(COMMAND | {"timeout": 30}), seconds(COMMAND | {"timeout": 5000}), seconds(COMMAND | {"timeout": 0.5}))
    assert settings(COMMAND | {"timeout": 30_000}) == round_trip(settings(COMMAND | {"timeout": 30}))[0]


@pytest.mark.parametrize("entry", [HTTP, {"type": "prompt", "prompt": "fine?"}])
@pytest.mark.parametrize("timeout", [0.5, 1, 30, 999, 1000, 1800])
def test_a_server_or_a_model_is_given_seconds_always(entry, timeout):
    """
    Thirty are thirty, and eighteen hundred are half an hour.
    """
    assert timeout == seconds(entry | {"timeout": timeout})
    assert settings(entry | {"timeout": max(timeout, 1)}) == round_trip(settings(entry | {"timeout": timeout}))[0]


def test_a_handler_of_a_manifest_gets_seconds_too():
    """
    A request of ten seconds is no request of three hours.
    """
    hook = {"event": "before_prompt", "blocking": True, "handler": {"type": "http", "url": "https://hooks.example/x", "timeout": 10}}

    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, QWEN)

    assert (10, []) == (made.document["hooks"]["UserPromptSubmit"][0]["hooks"][0]["timeout"], made.gaps)


@pytest.mark.parametrize(
    ("text", "natives"),
    [("Bash", "Bash"), ("Shell|WriteFile", "Bash|Write"), ("run_shell", "Bash"), ("search_file_content", "Grep"), ("Task", "Agent")],
)
def test_names_that_only_matchers_use_are_understood(text, natives):
    """
    The lab saw Bash and Shell fire for run_shell_command; elsewhere they are that tool.
    """
    made = convert(settings(COMMAND, matcher=text), QWEN, agents.load("claude-code")).document

    assert natives == made["hooks"]["PreToolUse"][0]["matcher"]


def test_old_names_are_not_written():
    """
    A matcher names the tools that there are.
    """
    hook = {"event": "before_tool_execute", "blocking": True, "matcher": ["file_edit", "agent"], "handler": {"type": "command", "command": "x"}}

    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, QWEN).document

    assert "edit|notebook_edit|agent" == made["hooks"]["PreToolUse"][0]["matcher"]


def test_settings_among_the_events_are_no_events():
    """
    What Gemini CLI had under hooks is skipped; nothing there turns a single hook off.
    """
    document = settings(COMMAND)

    assert (document, []) == round_trip({"hooks": document["hooks"] | {"enabled": True, "disabled": ["./check.sh"]}})


def test_our_doors_stay_within_the_agents_own_patience():
    """
    A batch of tools is waited for fifteen seconds, the end of a session two; what is shown comes on request.
    """
    taken = {hook.provider_data["qwen-code"]["hookonce"]["event"]: hook.handler.timeout for hook in build_entries(QWEN, "user", "/opt/hookonce-on")}

    assert (60, 15, 2) == (taken["PreToolUse"], taken["PostToolBatch"], taken["SessionEnd"])
    assert "MessageDisplay" not in taken
    assert 60 == point_of(QWEN, "PreToolUse").hard_timeout_s


def test_the_order_of_consent_is_a_known_trap():
    """
    In default mode the user has agreed before a PreToolUse hook is asked.
    """
    assert any("PreToolUse comes only after the user has said yes" in quirk for quirk in QWEN.quirks)


@pytest.mark.parametrize("own", [{}, {"timeout": 5}, {"type": "agent", "prompt": "x"}])
def test_a_sub_agent_that_judges_is_lost_by_name(own):
    """
    Qwen Code asks models, but no agents; data for such an entry does not make one.
    """
    hook = {"event": "agent_stop", "blocking": True, "handler": {"type": "agent", "prompt": "fine?"}, "provider_data": {"qwen-code": own}}

    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, QWEN)

    assert ({}, ["lost"], ["$.hooks[0]"]) == (made.document["hooks"], [gap.effect for gap in made.gaps], [gap.where for gap in made.gaps])
