"""Qwen Code's answers, row by row as it was seen to take them.

The last column is the case of `facts/lab-results/qwen.json`; "part C" and "part D" are runs by another protocol and in
a terminal, told of in the findings; "documented" was read in its code and not seen.
"""

import json

import pytest
from msgspec.structs import replace

from hookonce import agents
from hookonce.model import Decision
from tests.agents._reply.lab_cases import DENY, NEW, NOTE, STOP, is_case, own, ran, requests, said, told

QWEN = agents.load("qwen-code")
PRE = "PreToolUse"
STREAM = "part C: PermissionRequest by stream-json"
BLOCKED = {"decision": "block", "reason": "not today"}


def permits(word, reason="not today"):
    """A decision before a tool."""
    return own(PRE, permissionDecision=word, permissionDecisionReason=reason)


def asked(**decision):
    """A decision on a permission."""
    return own("PermissionRequest", decision=decision)


SAYS = [
    (PRE, DENY, {"decision": "deny", "reason": "not today"} | permits("deny"), "pre-permissionDecision-deny"),
    (PRE, Decision(outcome="deny"), {"decision": "deny"} | own(PRE, permissionDecision="deny"), "documented"),
    (PRE, replace(DENY, outcome="ask"), permits("ask"), "pre-permissionDecision-ask"),
    ("PermissionRequest", DENY, asked(behavior="deny", message="not today"), STREAM),
    ("PermissionRequest", Decision(outcome="allow"), asked(behavior="allow"), STREAM),
    ("PostToolUse", NOTE, own("PostToolUse", additionalContext="by the way"), "post-context"),
    ("PostToolUseFailure", NOTE, own("PostToolUseFailure", additionalContext="by the way"), "documented"),
    ("PostToolBatch", DENY, BLOCKED, "documented"),
    ("UserPromptSubmit", DENY, BLOCKED, "prompt-block"),
    ("UserPromptSubmit", NOTE, own("UserPromptSubmit", additionalContext="by the way"), "prompt-context"),
    ("UserPromptSubmit", STOP, {"continue": False, "stopReason": "enough"}, "prompt-continue-false"),
    ("UserPromptExpansion", DENY, BLOCKED, "documented"),
    ("SessionStart", NOTE, own("SessionStart", additionalContext="by the way"), "start-context"),
    ("Stop", DENY, BLOCKED, "stop-block-once"),
    ("SubagentStop", DENY, BLOCKED, "documented"),
    ("PreCompact", NOTE, own("PreCompact", additionalContext="by the way"), "documented"),
    ("TodoCreated", DENY, BLOCKED, "documented"),
]


@pytest.mark.parametrize(("event", "decision", "expected", "case"), SAYS)
def test_a_decision_is_said_as_qwen_honours_it(event, decision, expected, case):
    """
    One object and exit code 0, for code 2 throws it away; before a tool a refusal stands in both of its places.
    """
    answer = QWEN.reply(event, decision, decision.updated_input)

    assert (expected, "", 0) == (json.loads(answer.stdout), answer.stderr, answer.code)
    assert is_case("qwen", case)


def refused(text):
    """A refusal with this reason."""
    return Decision(outcome="deny", reason=text)


# What scripts answered before a tool, and what it came to; whether the tool ran is looked up in the record.
READ_BEFORE_A_TOOL = [
    ({"code": 2, "stderr": "MARKX why"}, refused("MARKX why"), "pre-exit2"),
    ({"code": 2}, None, "pre-exit2-nostderr"),
    ({"code": 2, "stdout": "MARKX on stdout"}, None, "pre-exit2-stdouttext"),
    ({"code": 2, "stderr": "MARKX", "stdout": {"decision": "allow"}}, refused("MARKX"), "pre-exit2-with-json-allow"),
    ({"code": 1, "stderr": "MARKX crash"}, None, "pre-exit1"),
    ({"code": 3, "stderr": "MARKX odd"}, None, "pre-exit3"),
    ({"code": 1, "stdout": {"decision": "deny", "reason": "MARKX"}}, refused("MARKX"), "pre-exit1-json-deny"),
    ({"stdout": {"decision": "deny", "reason": "MARKX denied"}}, refused("MARKX denied"), "pre-decision-deny"),
    ({"stdout": {"decision": "block", "reason": "MARKX blocked"}}, refused("MARKX blocked"), "pre-decision-block"),
    ({"stdout": {"decision": "ask", "reason": "MARKX ask"}}, Decision(outcome="ask", reason="MARKX ask"), "pre-decision-ask"),
    ({"stdout": {"decision": "approve", "reason": "MARKX"}}, Decision(), "pre-decision-approve"),
    ({"stdout": permits("deny", "MARKX deny")}, refused("MARKX deny"), "pre-permissionDecision-deny"),
    ({"stdout": permits("ask", "MARKX ask")}, Decision(outcome="ask", reason="MARKX ask"), "pre-permissionDecision-ask"),
    ({"stdout": permits("allow", "MARKX allow")}, Decision(), "pre-permissionDecision-allow"),
    ({"stdout": permits("defer", "MARKX defer")}, Decision(), "pre-permissionDecision-defer"),
    ({"stdout": own(PRE, updatedInput=NEW)}, Decision(), "pre-rewrite"),
    ({"stdout": own(PRE, permissionDecision="allow", updatedInput=NEW)}, Decision(), "pre-rewrite-allow"),
    ({"stdout": own(PRE, permissionDecision="allow", tool_input=NEW)}, Decision(), "pre-rewrite-tool_input"),
    ({"stdout": own(PRE, additionalContext="MARKX ctx")}, Decision(), "pre-context"),
    ({"stdout": {"continue": False, "stopReason": "MARKX stop"}}, refused("MARKX stop"), "pre-continue-false"),
    ({"stdout": 'MARKX not json {"decision":'}, Decision(), "pre-malformed"),
    ({"stdout": '{"decision": "deny", "reason": "MARKX'}, Decision(), "pre-malformed-brace"),
    ({"stdout": '["MARKX"]'}, None, "pre-json-array"),
    ({"stdout": {"bogus": "MARKX"}}, Decision(), "pre-unknown-field"),
    ({"stdout": own("Nope", permissionDecision="deny", permissionDecisionReason="MARKX")}, refused("MARKX"), "pre-wrong-eventname"),
    ({"stdout": 'noise line\n{"decision": "deny", "reason": "MARKX"}'}, Decision(), "pre-noise-then-json-deny"),
    ({"stderr": {"decision": "deny", "reason": "MARKX"}}, refused("MARKX"), "pre-json-on-stderr-deny"),
    ({"code": 127, "stderr": "not found"}, None, "pre-command-missing"),
    ({"code": -9}, None, "pre-command-killed"),
]


@pytest.mark.parametrize(("answer", "expected", "case"), READ_BEFORE_A_TOOL)
def test_an_answer_before_a_tool_is_read_as_the_run_came_out(answer, expected, case):
    """
    Whoever refuses or asks kept the tool from running in the lab; everybody else did not.
    """
    read = QWEN.read_reply(PRE, said(answer))

    assert expected == read
    assert ran("qwen", case) is not (read is not None and read.outcome in {"deny", "ask"})


# What the model got is looked up in the record.
READ_BY_THE_MODEL = [
    ("PostToolUse", {"code": 2, "stderr": "MARKX post"}, None, "post-exit2"),
    ("PostToolUse", {"code": 1, "stderr": "MARKX post"}, None, "post-exit1"),
    ("PostToolUse", {"stdout": {"decision": "block", "reason": "MARKX post"}}, Decision(), "post-block"),
    ("PostToolUse", {"stdout": {"decision": "deny", "reason": "MARKX post"}}, Decision(), "post-deny"),
    ("PostToolUse", {"stdout": {"continue": False, "stopReason": "MARKX post"}}, refused("MARKX post"), "post-continue-false"),
    ("PostToolUse", {"stdout": "MARKX plain"}, Decision(), "post-plain"),
    ("UserPromptSubmit", {"stdout": "MARKX plain"}, Decision(context="MARKX plain"), "prompt-plain"),
    ("UserPromptSubmit", {"code": 1, "stderr": "MARKX"}, None, "prompt-exit1"),
    ("SessionStart", {"stdout": "MARKX plain"}, Decision(context="MARKX plain"), "start-plain"),
    ("SessionStart", {"code": 2, "stderr": "MARKX"}, None, "start-exit2"),
    ("SessionStart", {"stdout": {"continue": False, "stopReason": "MARKX"}}, Decision(), "start-continue-false"),
    ("Stop", {"code": 2, "stderr": "MARKX stop"}, refused("MARKX stop"), "stop-exit2-once"),
    ("Stop", {"stdout": {"decision": "deny", "reason": "MARKX stop"}}, refused("MARKX stop"), "stop-deny-once"),
    ("Stop", {"stdout": {"continue": False, "stopReason": "MARKX stop"}}, refused("MARKX stop"), "stop-continue-false"),
    ("Stop", {"code": 1, "stderr": "MARKX"}, None, "stop-exit1"),
]


@pytest.mark.parametrize(("event", "answer", "expected", "case"), READ_BY_THE_MODEL)
def test_what_is_read_is_what_the_model_was_told(event, answer, expected, case):
    """
    A reason or a context that is read is one that the model got, and no other.
    """
    read = QWEN.read_reply(event, said(answer))

    assert expected == read
    assert (read is not None and read != Decision()) is told("qwen", case, "MARKX")


@pytest.mark.parametrize(
    ("answer", "expected", "case"),
    [
        ({"code": 2, "stderr": "MARKX"}, refused("MARKX"), "prompt-exit2"),
        ({"stdout": {"decision": "block", "reason": "MARKX"}}, refused("MARKX"), "prompt-block"),
        ({"stdout": {"decision": "deny", "reason": "MARKX"}}, refused("MARKX"), "prompt-deny"),
        ({"stdout": {"continue": False, "stopReason": "MARKX"}}, Decision(proceed=False, reason="MARKX"), "prompt-continue-false"),
    ],
)
def test_a_refused_prompt_reached_no_model(answer, expected, case):
    """
    The model was not called at all.
    """
    assert expected == QWEN.read_reply("UserPromptSubmit", said(answer))
    assert 0 == requests("qwen", case)


READ_ELSEWHERE = [
    ("PermissionRequest", {"stdout": asked(behavior="deny", message="no")}, refused("no"), STREAM),
    ("PermissionRequest", {"stdout": asked(behavior="allow", updatedInput=NEW)}, Decision(outcome="allow", updated_input=NEW), "documented"),
    (PRE, {"code": 2, "stderr": {"systemMessage": "x"}}, Decision(system_message="x"), "documented"),
    (PRE, {"stderr": "a log line"}, Decision(), "part D: nothing is shown"),
    (PRE, {"stdout": {"decision": 5}}, Decision(), "documented"),
]


@pytest.mark.parametrize(("event", "answer", "expected", "case"), READ_ELSEWHERE)
def test_an_answer_is_read_as_qwen_understood_it(event, answer, expected, case):
    """
    After code 2 an object on stderr is the answer, even one that refuses nothing.
    """
    assert expected == QWEN.read_reply(event, said(answer))
    assert is_case("qwen", case)
