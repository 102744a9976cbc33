"""Claude Code's answers, row by row as it was seen to take them.

The last column is the case of `facts/lab-results/claude.json`; "part D" are the runs in a terminal, told of in the
findings; "documented" was read in its reference, types and code, and not seen.
"""

import json

import pytest
from msgspec.structs import replace

from hookonce import agents
from hookonce.model import Decision, Reply
from tests.agents._reply.lab_cases import DENY, NEW, NOTE, SHOW, STOP, is_case, own, ran, requests, said, told

CLAUDE = agents.load("claude-code")
PRE = "PreToolUse"


def permits(word, reason="not today", **more):
    """A decision before a tool."""
    return own(PRE, permissionDecision=word, permissionDecisionReason=reason, **more)


def asked(**decision):
    """A decision on a permission."""
    return own("PermissionRequest", decision=decision)


BLOCKED = {"decision": "block", "reason": "not today"}
ENDED = {"continue": False, "stopReason": "enough"}
SAYS = [
    (PRE, DENY, permits("deny"), "pre-deny"),
    (PRE, Decision(outcome="deny"), own(PRE, permissionDecision="deny"), "pre-deny-noreason"),
    (PRE, replace(DENY, context="by the way"), permits("deny", additionalContext="by the way"), "pre-deny-context"),
    (PRE, replace(DENY, outcome="ask"), permits("ask"), "pre-ask"),
    (PRE, replace(DENY, outcome="allow"), permits("allow"), "pre-allow-default-mode"),
    (PRE, Decision(outcome="allow", updated_input=NEW), own(PRE, permissionDecision="allow", updatedInput=NEW), "pre-update-allow"),
    (PRE, Decision(updated_input=NEW), own(PRE, updatedInput=NEW), "pre-update-nodecision"),
    (PRE, replace(DENY, outcome="ask", updated_input=NEW), permits("ask", updatedInput=NEW), "documented"),
    (PRE, NOTE, own(PRE, additionalContext="by the way"), "pre-context"),
    (PRE, replace(NOTE, outcome="allow"), own(PRE, permissionDecision="allow", additionalContext="by the way"), "pre-allow-context"),
    (PRE, SHOW, {"systemMessage": "look"}, "part D"),
    (PRE, replace(DENY, suppress_output=True), permits("deny") | {"suppressOutput": True}, "documented"),
    ("PermissionRequest", DENY, asked(behavior="deny", message="not today"), "perm-deny"),
    ("PermissionRequest", Decision(outcome="allow"), asked(behavior="allow"), "perm-allow"),
    ("PostToolUse", NOTE, own("PostToolUse", additionalContext="by the way"), "post-context"),
    ("PostToolUse", STOP, ENDED, "post-continue-false"),
    ("PostToolUseFailure", NOTE, own("PostToolUseFailure", additionalContext="by the way"), "postfail-context"),
    ("PostToolBatch", DENY, BLOCKED, "batch-block"),
    ("PostToolBatch", NOTE, own("PostToolBatch", additionalContext="by the way"), "batch-context"),
    ("UserPromptSubmit", DENY, BLOCKED, "prompt-block"),
    ("UserPromptSubmit", NOTE, own("UserPromptSubmit", additionalContext="by the way"), "prompt-context"),
    ("UserPromptSubmit", STOP, ENDED, "prompt-continue-false"),
    ("UserPromptExpansion", DENY, BLOCKED, "documented"),
    ("SessionStart", NOTE, own("SessionStart", additionalContext="by the way"), "session-context"),
    ("Stop", DENY, BLOCKED, "stop-block-once"),
    ("Stop", NOTE, own("Stop", additionalContext="by the way"), "stop-context"),
    ("Stop", STOP, ENDED, "stop-continue-false"),
    ("SubagentStart", NOTE, own("SubagentStart", additionalContext="by the way"), "substart-context"),
    ("SubagentStop", DENY, BLOCKED, "substop-block-once"),
    ("PreCompact", DENY, BLOCKED, "documented"),
    ("ConfigChange", DENY, BLOCKED, "documented"),
    ("PreModelSwitch", replace(DENY, outcome="ask"), own("PreModelSwitch", permissionDecision="ask", permissionDecisionReason="not today"), "documented"),
    ("TeammateIdle", STOP, ENDED, "documented"),
]


@pytest.mark.parametrize(("event", "decision", "expected", "case"), SAYS)
def test_a_decision_is_said_as_claude_code_honours_it(event, decision, expected, case):
    """
    One object with the event's own name in it, exit code 0 and nothing on stderr.
    """
    answer = CLAUDE.reply(event, decision, decision.updated_input)

    assert (expected, "", 0) == (json.loads(answer.stdout), answer.stderr, answer.code)
    assert is_case("claude", case)


@pytest.mark.parametrize("event", ["TaskCreated", "TaskCompleted", "TeammateIdle", "Elicitation", "ElicitationResult", "WorktreeCreate"])
def test_where_no_field_refuses_the_code_does(event):
    """
    The reference knows only exit code 2 there, with the reason on stderr; nothing on stdout is taken for an answer.
    """
    assert Reply(stderr="not today", code=2) == CLAUDE.reply(event, DENY, None)
    assert CLAUDE.reply(event, Decision(outcome="deny"), None).stderr


REASON = permits("deny", "REASON-x")
REFUSED = Decision(outcome="deny", reason="REASON-x")
CODE_TWO = {"code": 2, "stderr": "STDERR-x"}
BY_CODE = Decision(outcome="deny", reason="STDERR-x")
# What scripts answered before a tool, and what it came to; whether the tool ran is looked up in the record.
READ_BEFORE_A_TOOL = [
    (CODE_TWO, BY_CODE, "pre-exit2-stderr"),
    ({"code": 2, "stdout": "PLAINOUT"}, Decision(outcome="deny"), "pre-exit2-stdout-only"),
    (CODE_TWO | {"stdout": permits("allow", "REASON-x")}, BY_CODE, "pre-exit2-with-json-allow"),
    (CODE_TWO | {"stdout": REASON}, REFUSED, "pre-exit2-with-json-deny"),
    ({"stdout": REASON}, REFUSED, "pre-deny"),
    ({"stdout": own(PRE, permissionDecision="deny")}, Decision(outcome="deny"), "pre-deny-noreason"),
    ({"stdout": permits("ask", "REASON-x")}, replace(REFUSED, outcome="ask"), "pre-ask"),
    ({"stdout": permits("allow", "REASON-x")}, replace(REFUSED, outcome="allow"), "pre-allow-default-mode"),
    ({"stdout": permits("defer", "REASON-x")}, replace(REFUSED, outcome="ask"), "pre-defer"),
    ({"stdout": own(PRE, updatedInput=NEW)}, Decision(updated_input=NEW), "pre-update-nodecision"),
    ({"stdout": own(PRE, permissionDecision="allow", modifiedArgs=NEW)}, Decision(outcome="allow"), "pre-update-other-key(modifiedArgs)"),
    ({"stdout": own(PRE, additionalContext="CTX-pre")}, Decision(context="CTX-pre"), "pre-context"),
    ({"stdout": {"decision": "block", "reason": "REASON-x"}}, REFUSED, "pre-legacy-block"),
    ({"stdout": {"decision": "approve", "reason": "REASON-x"}}, replace(REFUSED, outcome="allow"), "pre-legacy-approve-default-mode"),
    ({"stdout": REASON["hookSpecificOutput"]}, Decision(), "pre-toplevel-deny"),
    ({"stdout": {"continue": False, "stopReason": "STOPREASON-x"}}, Decision(proceed=False, reason="STOPREASON-x"), "pre-continue-false"),
    ({"stdout": {"systemMessage": "SYSMSG-x"}}, Decision(system_message="SYSMSG-x"), "pre-systemMessage"),
    ({"code": 1, "stderr": "STDERR-x"}, None, "pre-exit1"),
    ({"code": 1, "stderr": "STDERR-x", "stdout": REASON}, REFUSED, "pre-exit1-with-json-deny"),
    ({"code": 3, "stderr": "STDERR-x"}, None, "pre-exit3"),
    ({"code": -9}, None, "pre-sigkill"),
    ({"code": 127}, None, "pre-cmd-not-found"),
    ({"stdout": '{"hookSpecificOutput": {"permissionDecision": "deny" PLAINOUT'}, Decision(), "pre-malformed-json"),
    ({"stdout": "PLAINOUT hello\n"}, Decision(), "pre-plain-text"),
    ({"stdout": "PLAINOUT log line\n" + json.dumps(REASON)}, Decision(), "pre-text-then-json-deny"),
    ({"stdout": json.dumps(REASON) + "\nPLAINOUT trailing\n"}, Decision(), "pre-json-then-text"),
    ({"stdout": "[1,2]"}, Decision(), "pre-json-array"),
    ({"stdout": permits("DENY", "REASON-x")}, None, "pre-bad-enum"),
    ({"stdout": REASON | {"zzz": 1}}, REFUSED, "pre-unknown-fields"),
    ({"stdout": own("PostToolUse", permissionDecision="deny")}, None, "pre-wrong-eventname"),
    ({"stdout": {"hookSpecificOutput": {"permissionDecision": "deny"}}}, None, "pre-no-eventname"),
    ({"stdout": REASON}, REFUSED, "pre-deny-bypass-mode"),
    ({}, Decision(), "baseline-allow"),
]


@pytest.mark.parametrize(("answer", "expected", "case"), READ_BEFORE_A_TOOL)
def test_an_answer_before_a_tool_is_read_as_the_run_came_out(answer, expected, case):
    """
    Whoever refuses or asks kept the tool from running in the lab; everybody else did not.
    """
    read = CLAUDE.read_reply(PRE, said(answer))

    assert expected == read
    assert ran("claude", case) is not (read is not None and read.outcome in {"deny", "ask"})


# Where the model, or the user, was told something else or not at all: what the model got is looked up in the record.
READ_BY_THE_MODEL = [
    ("PostToolUse", {"stdout": {"decision": "block", "reason": "REASON-x"}}, REFUSED, "post-block"),
    ("PostToolUse", CODE_TWO, BY_CODE, "post-exit2"),
    ("PostToolUse", {"stdout": own("PostToolUse", additionalContext="CTX-post")}, Decision(context="CTX-post"), "post-context"),
    ("PostToolUse", {"stdout": "PLAINOUT"}, Decision(), "post-plain-text"),
    ("PostToolUse", {"code": 1, "stderr": "STDERR-x"}, None, "post-exit1"),
    ("PostToolUseFailure", CODE_TWO, BY_CODE, "postfail-exit2"),
    ("UserPromptSubmit", {"stdout": "PLAINOUT\n"}, Decision(context="PLAINOUT"), "prompt-plain"),
    ("UserPromptSubmit", {"code": 1, "stderr": "STDERR-x", "stdout": "PLAINOUT"}, None, "prompt-exit1"),
    ("SessionStart", {"stdout": "PLAINOUT\n"}, Decision(context="PLAINOUT"), "session-plain"),
    ("SessionStart", CODE_TWO, None, "session-exit2"),
    ("Stop", CODE_TWO, BY_CODE, "stop-exit2-once"),
    ("Stop", {"code": 1, "stderr": "STDERR-x"}, None, "stop-exit1"),
    ("SubagentStop", {"stdout": {"decision": "block", "reason": "REASON-x"}}, REFUSED, "substop-block-once"),
]


@pytest.mark.parametrize(("event", "answer", "expected", "case"), READ_BY_THE_MODEL)
def test_what_is_read_is_what_the_model_was_told(event, answer, expected, case):
    """
    A reason or a context that is read is one that the model got, and no other.
    """
    read = CLAUDE.read_reply(event, said(answer))
    text = (read.reason or read.context) if read is not None else None

    assert expected == read
    assert (text is not None) is any(told("claude", case, word) for word in ("REASON-x", "STDERR-x", "CTX-", "PLAINOUT"))


READ_BEFORE_A_PROMPT = [
    (CODE_TWO, BY_CODE, "prompt-exit2"),
    ({"stdout": {"decision": "block", "reason": "REASON-x"}}, REFUSED, "prompt-block"),
    ({"stdout": {"continue": False, "stopReason": "STOPREASON-x"}}, Decision(proceed=False, reason="STOPREASON-x"), "prompt-continue-false"),
]


@pytest.mark.parametrize(("answer", "expected", "case"), READ_BEFORE_A_PROMPT)
def test_a_refused_prompt_reached_no_model(answer, expected, case):
    """
    A prompt is refused, or the turn ended, where the model was not called at all.
    """
    assert expected == CLAUDE.read_reply("UserPromptSubmit", said(answer))
    assert 0 == requests("claude", case)


SHELL = {"stdout": "NEWOUT", "stderr": "", "interrupted": False, "isImage": False}
READ_ELSEWHERE = [
    ("PermissionRequest", asked(behavior="deny", message="REASON-x"), REFUSED, "perm-deny"),
    ("PermissionRequest", asked(behavior="deny", message="REASON-x", interrupt=True), replace(REFUSED, proceed=False), "perm-deny-interrupt"),
    ("PermissionRequest", asked(behavior="allow", updatedInput=NEW), Decision(outcome="allow", updated_input=NEW), "perm-allow-update"),
    ("PostToolUse", own("PostToolUse", updatedToolOutput=SHELL), Decision(updated_output=SHELL), "post-updatedToolOutput"),
    ("PostToolUse", own("PostToolUse", updatedToolOutput="NEWOUT"), Decision(), "post-updatedToolOutput-str"),
    ("PostToolUse", own("PostToolUse", updatedMCPToolOutput=[{"type": "text", "text": "NEWOUT"}]), Decision(updated_output=[{"type": "text", "text": "NEWOUT"}]), "post-updatedMCPToolOutput"),
    ("PostToolUse", {"continue": False, "stopReason": "STOPREASON-x"}, Decision(proceed=False, reason="STOPREASON-x"), "post-continue-false"),
    (PRE, {"decision": "deny", "reason": "no"}, None, "documented"),
    (PRE, own(PRE, permissionDecision="allow") | {"decision": "block", "reason": "no"}, Decision(outcome="allow"), "documented"),
    (PRE, own(PRE, additionalContext=5), None, "documented"),
    (PRE, {"async": True}, Decision(), "documented"),
    (PRE, '{"a": oops}', None, "documented"),
    (PRE, "\ufeff " + json.dumps(REASON), REFUSED, "part A: white space and a BOM"),
    ("UserPromptSubmit", '{"a": 1}\n{"b": 2}', Decision(context='{"a": 1}\n{"b": 2}'), "documented"),
    ("SessionEnd", {"decision": "block", "reason": "no"}, Decision(), "documented"),
]


@pytest.mark.parametrize(("event", "stdout", "expected", "case"), READ_ELSEWHERE)
def test_an_answer_is_read_as_claude_code_understood_it(event, stdout, expected, case):
    """
    What is of a wrong kind, or for another event, is no answer.
    """
    assert expected == CLAUDE.read_reply(event, said({"stdout": stdout}))
    assert is_case("claude", case)
