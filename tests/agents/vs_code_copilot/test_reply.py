"""The answers of Copilot in Visual Studio Code as its documentation and source have them; no row was seen in a run."""

import json

import pytest
from msgspec.structs import asdict, replace

from hookonce import agents
from hookonce.agents import decode, encode
from hookonce.model import Decision
from tests.agents._reply.lab_cases import DENY, NEW, NOTE, SHOW, STOP, own, said
from tests.agents.test_decode_goldens import FILES

CODE = agents.load("vs-code-copilot")
PRE = "PreToolUse"
BLOCKED = {"decision": "block", "reason": "not today"}
ENDED = {"continue": False, "stopReason": "enough"}


def permits(word, **more):
    """A decision before a tool."""
    return own(PRE, permissionDecision=word, permissionDecisionReason="not today", **more)


SAYS = [
    (PRE, DENY, permits("deny")),
    (PRE, replace(DENY, outcome="ask", context="by the way"), permits("ask", additionalContext="by the way")),
    (PRE, replace(DENY, outcome="allow"), permits("allow")),
    (PRE, Decision(updated_input=NEW), own(PRE, updatedInput=NEW)),
    (PRE, SHOW, {"systemMessage": "look"}),
    ("PostToolUse", NOTE, own("PostToolUse", additionalContext="by the way")),
    ("PostToolUse", STOP, ENDED),
    ("UserPromptSubmit", DENY, {"continue": False, "stopReason": "not today"}),
    ("SessionStart", NOTE, own("SessionStart", additionalContext="by the way")),
    ("SubagentStart", NOTE, own("SubagentStart", additionalContext="by the way")),
    ("Stop", DENY, own("Stop", **BLOCKED)),
    ("Stop", Decision(outcome="deny"), own("Stop", decision="block", reason="a hook refuses this and gives no reason")),
    ("Stop", STOP, ENDED),
    ("SubagentStop", DENY, BLOCKED),
]


@pytest.mark.parametrize(("event", "decision", "expected"), SAYS)
def test_a_decision_is_said_where_its_event_has_it(event, decision, expected):
    """
    Documented: nested at Stop and at the top at SubagentStop; a prompt is refused by ending the turn.
    """
    answer = CODE.reply(event, decision, decision.updated_input)

    assert (expected, "", 0) == (json.loads(answer.stdout), answer.stderr, answer.code)


READS = [
    (PRE, {"code": 2, "stderr": "no\n"}, Decision(outcome="deny", reason="no")),
    (PRE, {"code": 2}, Decision(outcome="deny")),
    (PRE, {"code": 1, "stderr": "no", "stdout": permits("deny")}, None),
    (PRE, {"stdout": permits("deny")}, DENY),
    (PRE, {"stdout": permits("DENY")}, Decision()),
    (PRE, {"stdout": permits("deny") | {"hookEventName": "Stop"}}, None),
    (PRE, {"stdout": own("Stop", permissionDecision="deny") | {"systemMessage": "x"}}, Decision(system_message="x")),
    (PRE, {"stdout": {"hookSpecificOutput": {"permissionDecision": "deny"}}}, Decision(outcome="deny")),
    (PRE, {"stdout": {"stopReason": "x"}}, Decision(proceed=False, reason="x")),
    (PRE, {"stdout": "a log line"}, None),
    (PRE, {"stdout": "\n"}, Decision()),
    ("UserPromptSubmit", {"stdout": BLOCKED}, DENY),
    ("UserPromptSubmit", {"stdout": {"continue": True} | BLOCKED}, DENY),
    ("UserPromptSubmit", {"stdout": {"continue": False}}, Decision(outcome="deny")),
    ("UserPromptSubmit", {"code": 2, "stderr": "no"}, Decision(outcome="deny", reason="no")),
    ("Stop", {"stdout": BLOCKED}, Decision()),
    ("Stop", {"code": 2, "stderr": "go on"}, Decision(outcome="deny", reason="go on")),
    ("Stop", {"code": 2}, None),
    ("SubagentStop", {"stdout": BLOCKED}, DENY),
    ("SessionStart", {"code": 2, "stderr": "no"}, None),
    ("PreCompact", {"stdout": BLOCKED}, Decision()),
]


@pytest.mark.parametrize(("event", "answer", "expected"), READS)
def test_an_answer_is_read_as_the_source_has_it(event, answer, expected):
    """
    Documented: what is for another event is passed over, and a text at stopReason ends the turn.
    """
    assert expected == CODE.read_reply(event, said(answer))


@pytest.mark.parametrize("file", [file for file in FILES if file.parent.name == "vs-code-copilot"], ids=lambda file: file.stem)
def test_a_payload_made_from_an_event_is_read_as_the_same(file):
    """
    What the editor has told is written again, its common keys in both spellings.
    """
    event = decode(CODE, json.loads(file.read_text(encoding="utf-8"))["payload"], id="e")

    made = encode(CODE, event)
    again = decode(CODE, made, id="e")

    assert asdict(event) | {"native": None, "tool": None} == asdict(again) | {"native": None, "tool": None}
    assert event.tool == again.tool
    assert (made["hookEventName"], made["sessionId"]) == (made["hook_event_name"], made["session_id"])


def test_a_call_of_another_agent_is_told_in_the_words_of_the_editor():
    """
    Results are texts, and pages to fetch are a list.
    """
    payload = {"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "WebFetch"}
    payload |= {"tool_input": {"url": "https://a.example/", "prompt": "price"}, "tool_response": {"result": "5"}}

    made = encode(CODE, decode(agents.load("claude-code"), payload))

    assert ("fetch_webpage", '{"result":"5"}') == (made["tool_name"], made["tool_response"])
    assert {"urls": ["https://a.example/"], "query": "price"} == made["tool_input"]
