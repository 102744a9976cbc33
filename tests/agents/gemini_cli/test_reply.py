"""Gemini CLI's answers, row by row as it was seen to take them.

The last column is the case of `facts/lab-results/gemini.json`; "part D" are the runs in a terminal, told of in the
findings; "documented" was read in its code and not seen.
"""

import json

import pytest
from msgspec.structs import replace

from hookonce import agents
from hookonce.model import Decision
from tests.agents._reply.lab_cases import DENY, NEW, NOTE, SHOW, STOP, is_case, own, ran, requests, said, told

GEMINI = agents.load("gemini-cli")
PRE, POST, PROMPT, END = "BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent"
NO = {"decision": "deny", "reason": "not today", "systemMessage": "not today"}
ENDED = {"continue": False, "stopReason": "enough"}
REPLACED = {"candidates": [{"content": {"role": "model", "parts": ["MARKX replaced"]}, "finishReason": "STOP"}]}
MESSAGES = {"messages": [{"role": "user", "content": "MARKX replaced"}]}
SAYS = [
    (PRE, DENY, NO, "pre-decision-deny"),
    (PRE, replace(DENY, system_message="look"), NO | {"systemMessage": "not today\nlook"}, "part D"),
    (PRE, replace(DENY, outcome="ask"), NO | {"decision": "ask"}, "part D"),
    (PRE, Decision(updated_input=NEW), own(PRE, tool_input=NEW), "pre-rewrite"),
    (PRE, STOP, ENDED, "pre-continue-false"),
    (PRE, SHOW, {"systemMessage": "look"}, "pre-systemMessage"),
    (POST, DENY, NO, "post-deny"),
    (POST, NOTE, own(POST, additionalContext="by the way"), "post-context"),
    (POST, STOP, ENDED, "post-continue-false"),
    (PROMPT, DENY, NO, "prompt-deny"),
    (PROMPT, NOTE, own(PROMPT, additionalContext="by the way"), "prompt-context"),
    (PROMPT, STOP, ENDED, "prompt-continue-false"),
    (END, DENY, NO, "stop-deny-once"),
    (END, STOP, ENDED, "stop-continue-false"),
    (END, replace(DENY, proceed=False), NO | {"continue": False, "stopReason": "not today"}, "documented"),
    ("BeforeModel", DENY, NO, "model-deny"),
    ("BeforeModel", Decision(updated_input=MESSAGES), own("BeforeModel", llm_request=MESSAGES), "model-request-override"),
    ("BeforeToolSelection", Decision(updated_input={"mode": "NONE"}), own("BeforeToolSelection", toolConfig={"mode": "NONE"}), "toolsel-none"),
    ("AfterModel", DENY, NO, "aftermodel-deny"),
    ("AfterModel", Decision(updated_output="MARKX replaced"), own("AfterModel", llm_response=REPLACED), "aftermodel-replace"),
    ("SessionStart", NOTE, own("SessionStart", additionalContext="by the way"), "start-context"),
]


@pytest.mark.parametrize(("event", "decision", "expected", "case"), SAYS)
def test_a_decision_is_said_as_gemini_honours_it(event, decision, expected, case):
    """
    One object and exit code 0, for the object wins over the code; what is refused shows its reason to the user too.
    """
    answer = GEMINI.reply(event, decision, decision.updated_input)

    assert (expected, "", 0) == (json.loads(answer.stdout), answer.stderr, answer.code)
    assert is_case("gemini", case)


def refused(text):
    """A refusal with this reason."""
    return Decision(outcome="deny", reason=text)


# What scripts answered before a tool, and what it came to; whether the tool ran is looked up in the record.
READ_BEFORE_A_TOOL = [
    ({"code": 2, "stderr": "MARKX why"}, refused("MARKX why"), "pre-exit2"),
    ({"code": 2}, None, "pre-exit2-nostderr"),
    ({"code": 2, "stdout": "MARKX on stdout"}, refused("MARKX on stdout"), "pre-exit2-stdouttext"),
    ({"code": 2, "stderr": "MARKX", "stdout": {"decision": "allow"}}, Decision(), "pre-exit2-with-json-allow"),
    ({"code": 1, "stderr": "MARKX crash"}, None, "pre-exit1"),
    ({"code": 1}, None, "pre-exit1-nostderr"),
    ({"code": 3, "stderr": "MARKX odd"}, refused("MARKX odd"), "pre-exit3"),
    ({"code": 1, "stdout": {"decision": "deny", "reason": "MARKX"}}, refused("MARKX"), "pre-exit1-json-deny"),
    ({"stdout": {"decision": "deny", "reason": "MARKX denied"}}, refused("MARKX denied"), "pre-decision-deny"),
    ({"stdout": {"decision": "block", "reason": "MARKX blocked"}}, refused("MARKX blocked"), "pre-decision-block"),
    ({"stdout": {"decision": "ask", "reason": "MARKX ask"}}, Decision(outcome="ask", reason="MARKX ask"), "pre-decision-ask"),
    ({"stdout": {"decision": "approve", "reason": "MARKX"}}, Decision(), "pre-decision-approve"),
    ({"stdout": own(PRE, permissionDecision="deny", permissionDecisionReason="MARKX")}, Decision(), "pre-permissionDecision-deny"),
    ({"stdout": own(PRE, permissionDecision="ask", permissionDecisionReason="MARKX")}, Decision(), "pre-permissionDecision-ask"),
    ({"stdout": own(PRE, tool_input=NEW)}, Decision(updated_input=NEW), "pre-rewrite"),
    ({"stdout": own(PRE, permissionDecision="allow", updatedInput=NEW)}, Decision(), "pre-rewrite-updatedInput"),
    ({"stdout": own(PRE, additionalContext="MARKX ctx")}, Decision(), "pre-context"),
    ({"stdout": {"continue": False, "stopReason": "MARKX stop"}}, Decision(proceed=False, reason="MARKX stop"), "pre-continue-false"),
    ({"stdout": {"systemMessage": "MARKX sys"}}, Decision(system_message="MARKX sys"), "pre-systemMessage"),
    ({"stdout": 'MARKX not json {"decision":'}, Decision(system_message='MARKX not json {"decision":'), "pre-malformed"),
    ({"stdout": '{"decision": "deny", "reason": "MARKX'}, Decision(system_message='{"decision": "deny", "reason": "MARKX'), "pre-malformed-brace"),
    ({"stdout": '["MARKX"]'}, None, "pre-json-array"),
    ({"stdout": {"bogus": "MARKX"}}, Decision(), "pre-unknown-field"),
    ({"stdout": own("Nope", permissionDecision="deny")}, Decision(), "pre-wrong-eventname"),
    ({"stdout": 'noise\n{"decision": "deny"}'}, Decision(system_message='noise\n{"decision": "deny"}'), "pre-noise-then-json-deny"),
    ({"stderr": {"decision": "deny", "reason": "MARKX"}}, refused("MARKX"), "pre-json-on-stderr-deny"),
    ({"code": 127, "stderr": "bash: no such file"}, refused("bash: no such file"), "pre-command-missing"),
    ({"code": -9}, None, "pre-command-killed"),
]


@pytest.mark.parametrize(("answer", "expected", "case"), READ_BEFORE_A_TOOL)
def test_an_answer_before_a_tool_is_read_as_the_run_came_out(answer, expected, case):
    """
    Whoever refuses, asks or ends the turn kept the tool from running in the lab; everybody else did not.
    """
    read = GEMINI.read_reply(PRE, said(answer))

    assert expected == read
    assert ran("gemini", case) is not (read is not None and (read.outcome or read.proceed) in {"deny", "ask", False})


# What the model got is looked up in the record.
READ_BY_THE_MODEL = [
    (POST, {"code": 2, "stderr": "MARKX post"}, refused("MARKX post"), "post-exit2"),
    (POST, {"code": 1, "stderr": "MARKX post"}, None, "post-exit1"),
    (POST, {"stdout": {"decision": "block", "reason": "MARKX post"}}, refused("MARKX post"), "post-block"),
    (POST, {"stdout": own(POST, additionalContext="MARKX post")}, Decision(context="MARKX post"), "post-context"),
    (POST, {"stdout": "MARKX plain"}, Decision(system_message="MARKX plain"), "post-plain"),
    (PROMPT, {"stdout": own(PROMPT, additionalContext="MARKX prompt")}, Decision(context="MARKX prompt"), "prompt-context"),
    (PROMPT, {"stdout": "MARKX plain"}, Decision(system_message="MARKX plain"), "prompt-plain"),
    (PROMPT, {"code": 1, "stderr": "MARKX"}, None, "prompt-exit1"),
    ("SessionStart", {"stdout": own("SessionStart", additionalContext="MARKX start")}, Decision(context="MARKX start"), "start-context"),
    ("SessionStart", {"stdout": "MARKX plain"}, Decision(system_message="MARKX plain"), "start-plain"),
    ("SessionStart", {"code": 2, "stderr": "MARKX"}, None, "start-exit2"),
    ("SessionStart", {"stdout": {"continue": False, "stopReason": "MARKX"}}, Decision(), "start-continue-false"),
    (END, {"code": 2, "stderr": "MARKX stop"}, refused("MARKX stop"), "stop-exit2-once"),
    (END, {"stdout": {"decision": "block", "reason": "MARKX stop"}}, refused("MARKX stop"), "stop-block-once"),
    (END, {"stdout": {"continue": False, "stopReason": "MARKX stop"}}, Decision(proceed=False, reason="MARKX stop"), "stop-continue-false"),
    ("BeforeModel", {"stdout": own("BeforeModel", llm_request=MESSAGES)}, Decision(updated_input=MESSAGES), "model-request-override"),
]


@pytest.mark.parametrize(("event", "answer", "expected", "case"), READ_BY_THE_MODEL)
def test_what_is_read_is_what_the_model_was_told(event, answer, expected, case):
    """
    A refusal, a context or new input that is read is one that the model got, and no other.
    """
    read = GEMINI.read_reply(event, said(answer))
    heard = read is not None and bool(read.outcome or read.context or read.updated_input)

    assert expected == read
    assert heard is told("gemini", case, "MARKX")


@pytest.mark.parametrize(
    ("event", "answer", "expected", "case"),
    [
        (PROMPT, {"code": 2, "stderr": "MARKX"}, refused("MARKX"), "prompt-exit2"),
        (PROMPT, {"stdout": {"decision": "block", "reason": "MARKX"}}, refused("MARKX"), "prompt-block"),
        (PROMPT, {"stdout": {"decision": "deny", "reason": "MARKX"}}, refused("MARKX"), "prompt-deny"),
        (PROMPT, {"stdout": {"continue": False, "stopReason": "MARKX"}}, Decision(proceed=False, reason="MARKX"), "prompt-continue-false"),
        ("BeforeModel", {"stdout": {"decision": "deny", "reason": "MARKX"}}, refused("MARKX"), "model-deny"),
    ],
)
def test_a_refused_prompt_reached_no_model(event, answer, expected, case):
    """
    The model was not called at all.
    """
    assert expected == GEMINI.read_reply(event, said(answer))
    assert 0 == requests("gemini", case)


READ_ELSEWHERE = [
    (PRE, json.dumps({"decision": "deny", "reason": "no"}), refused("no")),
    (PRE, {"decision": "deny", "reason": "no", "systemMessage": "no"}, refused("no")),
    (PRE, {"decision": "deny", "reason": "no", "systemMessage": "no\nand look"}, replace(refused("no"), system_message="and look")),
    (PRE, {"decision": "deny", "reason": "no", "systemMessage": "nothing"}, replace(refused("no"), system_message="nothing")),
    (PRE, {"decision": "deny", "reason": 5}, Decision(outcome="deny")),
    (PRE, {"decision": ["deny"]}, Decision()),
    (POST, {"decision": "ask", "reason": "no"}, Decision()),
    ("AfterModel", own("AfterModel", llm_response=REPLACED), Decision(updated_output="MARKX replaced")),
    ("AfterModel", own("AfterModel", llm_response={"candidates": []}), Decision(updated_output={"candidates": []})),
    ("PreCompress", {"decision": "deny", "reason": "no"}, Decision()),
]


@pytest.mark.parametrize(("event", "stdout", "expected"), READ_ELSEWHERE)
def test_an_answer_is_read_as_the_code_has_it(event, stdout, expected):
    """
    Documented, not seen: the text of an object, values of a wrong kind, and the reason that the user is shown.
    """
    wrapped = stdout if type(stdout) is dict else json.dumps(stdout)

    assert expected == GEMINI.read_reply(event, said({"stdout": wrapped}))
