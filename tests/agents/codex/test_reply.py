"""Codex's answers, row by row as it was seen to take them.

The last column is the case of `facts/lab-results/codex.json`; "part B", "part C" and "part D" are runs through its
server, of MCP tools and in a terminal, told of in the findings; "documented" was read in its source and schemas.
"""

import json

import pytest
from msgspec.structs import replace

from hookonce import agents
from hookonce.model import Decision
from tests.agents._reply.lab_cases import DENY, NEW, NOTE, SHOW, STOP, is_case, own, ran, requests, said, told

CODEX = agents.load("codex")
PRE = "PreToolUse"
SERVER = "part B: PermissionRequest through the app server"


def permits(word, reason="not today", **more):
    """A decision before a tool."""
    return own(PRE, permissionDecision=word, permissionDecisionReason=reason, **more)


def asked(**decision):
    """A decision on a permission."""
    return own("PermissionRequest", decision=decision)


BLOCKED = {"decision": "block", "reason": "not today"}
ENDED = {"continue": False, "stopReason": "enough"}
REFUSED_BY_END = {"continue": False, "stopReason": "not today"}
SAYS = [
    (PRE, DENY, permits("deny"), "pre-permissionDecision-deny"),
    (PRE, Decision(outcome="deny"), permits("deny", "a hook refuses this and gives no reason"), "documented"),
    (PRE, Decision(outcome="deny", reason=" "), permits("deny", "a hook refuses this and gives no reason"), "documented"),
    (PRE, replace(DENY, context="by the way"), permits("deny", additionalContext="by the way"), "documented"),
    (PRE, Decision(updated_input=NEW), own(PRE, permissionDecision="allow", updatedInput=NEW), "pre-rewrite-allow"),
    (PRE, Decision(updated_input={"command": "*** Begin Patch"}), own(PRE, permissionDecision="allow", updatedInput={"command": "*** Begin Patch"}), "patch-rewrite"),
    (PRE, NOTE, own(PRE, additionalContext="by the way"), "pre-context"),
    (PRE, SHOW, {"systemMessage": "look"}, "part D"),
    ("PermissionRequest", DENY, asked(behavior="deny", message="not today"), SERVER),
    ("PermissionRequest", Decision(outcome="allow"), asked(behavior="allow"), SERVER),
    ("PostToolUse", DENY, BLOCKED, "post-block"),
    ("PostToolUse", NOTE, own("PostToolUse", additionalContext="by the way"), "post-context"),
    ("UserPromptSubmit", DENY, BLOCKED, "prompt-block"),
    ("UserPromptSubmit", NOTE, own("UserPromptSubmit", additionalContext="by the way"), "prompt-context"),
    ("UserPromptSubmit", STOP, ENDED, "prompt-continue-false"),
    ("SessionStart", DENY, REFUSED_BY_END, "start-continue-false"),
    ("SessionStart", NOTE, own("SessionStart", additionalContext="by the way"), "start-context"),
    ("SubagentStart", NOTE, own("SubagentStart", additionalContext="by the way"), "documented"),
    ("Stop", DENY, BLOCKED, "stop-block-once"),
    ("Stop", STOP, ENDED, "stop-continue-false"),
    ("SubagentStop", DENY, BLOCKED, "documented"),
    ("PreCompact", DENY, REFUSED_BY_END, "documented"),
    ("Interrupt", SHOW, {"systemMessage": "look"}, "documented"),
]


@pytest.mark.parametrize(("event", "decision", "expected", "case"), SAYS)
def test_a_decision_is_said_as_codex_honours_it(event, decision, expected, case):
    """
    One object with no field too many; the word allow stands beside new input and nowhere else before a tool.
    """
    answer = CODEX.reply(event, decision, decision.updated_input)

    assert (expected, "", 0) == (json.loads(answer.stdout), answer.stderr, answer.code)
    assert is_case("codex", case)


BY_CODE = Decision(outcome="deny", reason="MARKX why")
# What scripts answered before a tool, and what it came to; whether the tool ran is looked up in the record.
READ_BEFORE_A_TOOL = [
    ({"code": 2, "stderr": "MARKX why"}, BY_CODE, "pre-exit2"),
    ({"code": 2}, None, "pre-exit2-nostderr"),
    ({"code": 2, "stdout": "MARKX on stdout"}, None, "pre-exit2-stdouttext"),
    ({"code": 2, "stderr": "MARKX", "stdout": {"decision": "allow"}}, Decision(outcome="deny", reason="MARKX"), "pre-exit2-with-json-allow"),
    ({"code": 1, "stderr": "MARKX crash"}, None, "pre-exit1"),
    ({"code": 3, "stderr": "MARKX odd"}, None, "pre-exit3"),
    ({"code": 1, "stdout": {"decision": "deny", "reason": "MARKX"}}, None, "pre-exit1-json-deny"),
    ({"stdout": {"decision": "deny", "reason": "MARKX denied"}}, None, "pre-decision-deny"),
    ({"stdout": {"decision": "block", "reason": "MARKX blocked"}}, Decision(outcome="deny", reason="MARKX blocked"), "pre-decision-block"),
    ({"stdout": {"decision": "ask", "reason": "MARKX ask"}}, None, "pre-decision-ask"),
    ({"stdout": {"decision": "approve", "reason": "MARKX"}}, None, "pre-decision-approve"),
    ({"stdout": permits("deny", "MARKX deny")}, Decision(outcome="deny", reason="MARKX deny"), "pre-permissionDecision-deny"),
    ({"stdout": permits("ask", "MARKX ask")}, None, "pre-permissionDecision-ask"),
    ({"stdout": permits("allow", "MARKX allow")}, None, "pre-permissionDecision-allow"),
    ({"stdout": permits("defer", "MARKX defer")}, None, "pre-permissionDecision-defer"),
    ({"stdout": own(PRE, updatedInput=NEW)}, None, "pre-rewrite"),
    ({"stdout": own(PRE, permissionDecision="allow", updatedInput=NEW)}, Decision(updated_input=NEW), "pre-rewrite-allow"),
    ({"stdout": own(PRE, permissionDecision="allow", tool_input=NEW)}, None, "pre-rewrite-tool_input"),
    ({"stdout": own(PRE, additionalContext="MARKX ctx")}, Decision(context="MARKX ctx"), "pre-context"),
    ({"stdout": {"continue": False, "stopReason": "MARKX stop"}}, None, "pre-continue-false"),
    ({"stdout": {"systemMessage": "MARKX sys"}}, Decision(system_message="MARKX sys"), "pre-systemMessage"),
    ({"stdout": 'MARKX not json {"decision":'}, Decision(), "pre-malformed"),
    ({"stdout": '{"decision": "deny", "reason": "MARKX'}, None, "pre-malformed-brace"),
    ({"stdout": '["MARKX"]'}, None, "pre-json-array"),
    ({"stdout": {"bogus": "MARKX"}}, None, "pre-unknown-field"),
    ({"stdout": own("Nope", permissionDecision="deny", permissionDecisionReason="MARKX")}, None, "pre-wrong-eventname"),
    ({"stdout": 'noise line\n{"decision": "block", "reason": "MARKX"}'}, Decision(), "pre-noise-then-json-deny"),
    ({"stderr": '{"decision": "block", "reason": "MARKX"}'}, Decision(), "pre-json-on-stderr-deny"),
    ({"code": 127, "stderr": "not found"}, None, "pre-command-missing"),
    ({"code": -9}, None, "pre-command-killed"),
]


@pytest.mark.parametrize(("answer", "expected", "case"), READ_BEFORE_A_TOOL)
def test_an_answer_before_a_tool_is_read_as_the_run_came_out(answer, expected, case):
    """
    Whoever refuses kept the tool from running in the lab; everybody else did not, whatever they wanted.
    """
    read = CODEX.read_reply(PRE, said(answer))

    assert expected == read
    assert ran("codex", case) is not (read is not None and read.outcome == "deny")


# What the model got is looked up in the record.
READ_BY_THE_MODEL = [
    ("PostToolUse", {"code": 2, "stderr": "MARKX post"}, Decision(outcome="deny", reason="MARKX post"), "post-exit2"),
    ("PostToolUse", {"code": 1, "stderr": "MARKX post"}, None, "post-exit1"),
    ("PostToolUse", {"stdout": {"decision": "deny", "reason": "MARKX post"}}, None, "post-deny"),
    ("PostToolUse", {"stdout": {"continue": False, "stopReason": "MARKX post"}}, Decision(outcome="deny", reason="MARKX post"), "post-continue-false"),
    ("PostToolUse", {"stdout": "MARKX plain"}, Decision(), "post-plain"),
    ("UserPromptSubmit", {"stdout": "MARKX plain"}, Decision(context="MARKX plain"), "prompt-plain"),
    ("UserPromptSubmit", {"code": 1, "stderr": "MARKX"}, None, "prompt-exit1"),
    ("SessionStart", {"stdout": "MARKX plain"}, Decision(context="MARKX plain"), "start-plain"),
    ("SessionStart", {"code": 2, "stderr": "MARKX"}, None, "start-exit2"),
    ("Stop", {"code": 2, "stderr": "MARKX stop"}, Decision(outcome="deny", reason="MARKX stop"), "stop-exit2-once"),
    ("Stop", {"stdout": {"decision": "deny", "reason": "MARKX stop"}}, None, "stop-deny-once"),
    ("Stop", {"code": 1, "stderr": "MARKX"}, None, "stop-exit1"),
]


@pytest.mark.parametrize(("event", "answer", "expected", "case"), READ_BY_THE_MODEL)
def test_what_is_read_is_what_the_model_was_told(event, answer, expected, case):
    """
    A reason or a context that is read is one that the model got, and no other.
    """
    read = CODEX.read_reply(event, said(answer))

    assert expected == read
    assert (read is not None and read != Decision()) is told("codex", case, "MARKX")


# How often the model was called: never where the prompt, or the whole session, was refused.
READ_BEFORE_THE_MODEL = [
    ("UserPromptSubmit", {"code": 2, "stderr": "MARKX prompt"}, Decision(outcome="deny", reason="MARKX prompt"), "prompt-exit2"),
    ("UserPromptSubmit", {"stdout": {"decision": "block", "reason": "MARKX"}}, Decision(outcome="deny", reason="MARKX"), "prompt-block"),
    ("UserPromptSubmit", {"stdout": {"decision": "deny", "reason": "MARKX"}}, None, "prompt-deny"),
    ("UserPromptSubmit", {"stdout": {"continue": False, "stopReason": "MARKX"}}, Decision(proceed=False, reason="MARKX"), "prompt-continue-false"),
    ("SessionStart", {"stdout": {"continue": False, "stopReason": "MARKX"}}, Decision(outcome="deny", reason="MARKX"), "start-continue-false"),
]


@pytest.mark.parametrize(("event", "answer", "expected", "case"), READ_BEFORE_THE_MODEL)
def test_a_refused_prompt_reached_no_model(event, answer, expected, case):
    """
    Only what is read as a refusal, or as the turn's end, kept the model from being called.
    """
    assert expected == CODEX.read_reply(event, said(answer))
    assert (expected is not None) is (requests("codex", case) == 0)


READ_ELSEWHERE = [
    (PRE, permits("deny", ""), None, "documented"),
    (PRE, own(PRE, permissionDecisionReason="MARKX"), None, "documented"),
    (PRE, own(PRE, permissionDecision=["deny"]), None, "documented"),
    (PRE, {"continue": True, "systemMessage": "x"}, Decision(system_message="x"), "documented"),
    (PRE, permits("deny") | {"suppressOutput": True}, None, "documented"),
    ("PermissionRequest", asked(behavior="allow"), Decision(outcome="allow"), SERVER),
    ("PermissionRequest", asked(behavior="deny", message="MARKX no"), Decision(outcome="deny", reason="MARKX no"), SERVER),
    ("PermissionRequest", asked(behavior="allow", updatedInput=NEW), None, "documented"),
    ("PermissionRequest", asked(behavior="deny", interrupt=True), None, "documented"),
    ("PermissionRequest", asked(behavior="deny", interrupt=False), Decision(outcome="deny"), "documented"),
    ("PostToolUse", own("PostToolUse", updatedMCPToolOutput={}), None, "part C: no effect"),
    ("Stop", own("Stop", additionalContext="x"), None, "documented"),
    ("Stop", "MARKX", None, "documented"),
    ("Stop", {"decision": "block"}, None, "documented"),
    ("Stop", {"continue": False, "stopReason": "MARKX stop"}, Decision(proceed=False, reason="MARKX stop"), "stop-continue-false"),
    ("PreCompact", {"decision": "block", "reason": "MARKX"}, None, "documented"),
    ("SubagentStart", {"continue": False}, Decision(), "documented"),
    ("SessionEnd", {"bogus": 1}, Decision(), "documented"),
]


@pytest.mark.parametrize(("event", "stdout", "expected", "case"), READ_ELSEWHERE)
def test_one_field_too_many_costs_the_whole_answer(event, stdout, expected, case):
    """
    Fields that Codex does not know here, or knows and cannot do, make it go on as if nothing had been said.
    """
    assert expected == CODEX.read_reply(event, said({"stdout": stdout}))
    assert is_case("codex", case)


def test_a_compaction_is_not_stopped_by_a_code():
    """
    Code 2 is an error of the hook there.
    """
    assert CODEX.read_reply("PreCompact", said({"code": 2, "stderr": "no"})) is None
