"""The shape of an answer that several agents share, and what holds for all who have it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import config_events, point_of
from hookonce.agents._reply.hook_output import (
    BLOCK,
    CONTEXT_PATH,
    CONTINUE,
    INPUT_PATH,
    PERMISSION,
    ReplySchema,
    build_fields,
    parse_fields,
)
from hookonce.model import Decision, Reply
from hookonce.vocabulary.decision_merge import weaken
from tests.laws.strategies import json_values

NAMES = ["claude-code", "codex", "qwen-code", "gemini-cli", "devin", "vs-code-copilot"]
FULL = ReplySchema((PERMISSION, BLOCK), CONTEXT_PATH, INPUT_PATH, ("hookSpecificOutput", "output"))
KEYS = ["continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"]
INNER = ["hookEventName", "permissionDecision", "permissionDecisionReason", "additionalContext", "updatedInput", "decision", "tool_input", "llm_response", "updatedToolOutput"]
VALUES = st.sampled_from(["deny", "allow", "ask", "block", "PreToolUse", "Stop", True, False, "x", ["deny"], {"behavior": "deny"}]) | json_values

texts = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1)
decisions = st.builds(
    Decision,
    outcome=st.sampled_from(["allow", "ask", "deny", None]),
    reason=st.none() | texts,
    context=st.none() | texts,
    updated_input=st.none() | st.just({"command": "git status"}),
    updated_output=st.none() | texts,
    proceed=st.sampled_from([None, False]),
    system_message=st.none() | texts,
    suppress_output=st.sampled_from([None, True]),
).map(lambda one: one if one.outcome or one.proceed is False else replace(one, reason=None))


@given(decision=decisions)
def test_what_is_written_is_understood(decision):
    """
    A shape with a place for everything carries everything.
    """
    assert decision == parse_fields(FULL, "PreToolUse", build_fields(FULL, "PreToolUse", decision, decision.updated_input))


@pytest.mark.parametrize("name", NAMES)
@given(decision=decisions)
def test_an_answer_is_read_as_it_was_meant(name, decision):
    """
    With or without a reason, new output and what is not to be shown included; at every event.
    """
    agent = agents.load(name)
    for native in config_events(agent):
        meant, _ = weaken(decision, point_of(agent, native), {"command": "git push"})
        if meant != Decision():
            understood = agent.read_reply(native, agent.reply(native, meant, meant.updated_input))
            assert replace(meant, by=None) == understood, native


@pytest.mark.part(2)
@pytest.mark.parametrize("name", NAMES)
@given(
    found=json_values | st.dictionaries(st.sampled_from(KEYS), VALUES | st.dictionaries(st.sampled_from(INNER), VALUES)),
    code=st.sampled_from([0, 1, 2, 3, -9, 127]),
    on_stderr=st.booleans(),
)
def test_no_answer_is_too_strange_to_be_read(name, found, code, on_stderr):
    """
    Whatever a script prints at any event, it is a decision or no answer, never an exception.
    """
    agent = agents.load(name)
    text = json.dumps(found)
    said = Reply(stdout="" if on_stderr else text, stderr=text if on_stderr else "", code=code)

    for native in config_events(agent):
        assert type(agent.read_reply(native, said)) in (Decision, type(None)), native


@pytest.mark.parametrize(
    ("shape", "found", "expected"),
    [
        (FULL, {"hookSpecificOutput": {"hookEventName": "Stop"}}, None),
        (replace(FULL, requires_event_name=False), {"hookSpecificOutput": {"additionalContext": "x"}}, Decision(context="x")),
        (FULL, {"systemMessage": 5, "decision": "block"}, None),
        (replace(FULL, strict=False), {"systemMessage": 5, "decision": "block"}, Decision(outcome="deny")),
        (FULL, {"decision": "deny"}, None),
        (ReplySchema((CONTINUE, BLOCK), proceed=None), {"continue": True, "decision": "block"}, Decision(outcome="deny")),
        (ReplySchema((CONTINUE,), proceed=None), {"continue": False, "stopReason": "x"}, Decision(outcome="deny", reason="x")),
        (ReplySchema(proceed=None), {"continue": False, "stopReason": "x", "zzz": 1}, Decision()),
    ],
)
def test_a_shape_says_what_spoils_an_answer(shape, found, expected):
    """
    A wrong name, kind or word spoils it where the agent looks; elsewhere it is passed over.
    """
    assert expected == parse_fields(shape, "PreToolUse", found)
