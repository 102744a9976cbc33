"""Devin's answers as its documentation has them; no row was seen, for nobody could run it in the lab."""

import json

import pytest
from msgspec.structs import asdict, replace

from hookonce import agents
from hookonce.agents import decode, encode
from hookonce.model import Decision
from tests.agents._reply.lab_cases import DENY, NOTE, own, said
from tests.agents.test_decode_goldens import FILES

DEVIN = agents.load("devin")
BLOCKED = {"decision": "block", "reason": "not today"}
SAYS = [
    ("PreToolUse", DENY, BLOCKED),
    ("PreToolUse", Decision(outcome="deny"), BLOCKED | {"reason": "a hook refuses this and gives no reason"}),
    ("PermissionRequest", DENY, BLOCKED),
    ("PermissionRequest", replace(DENY, outcome="allow"), BLOCKED | {"decision": "approve"}),
    ("PostToolUse", NOTE, own("PostToolUse", additionalContext="by the way")),
    ("UserPromptSubmit", DENY, BLOCKED),
    ("Stop", DENY, BLOCKED),
]


@pytest.mark.parametrize(("event", "decision", "expected"), SAYS)
def test_a_decision_is_said_as_the_documentation_has_it(event, decision, expected):
    """
    Documented: a decision at the top with its reason, context below for the model.
    """
    answer = DEVIN.reply(event, decision, None)

    assert (expected, "", 0) == (json.loads(answer.stdout), answer.stderr, answer.code)


READS = [
    ("PreToolUse", {"code": 2, "stderr": "no\n"}, Decision(outcome="deny", reason="no")),
    ("PreToolUse", {"code": 2}, Decision(outcome="deny")),
    ("PreToolUse", {"code": 1, "stderr": "no", "stdout": BLOCKED}, None),
    ("PreToolUse", {"stdout": BLOCKED | {"decision": "deny"}}, DENY),
    ("PreToolUse", {"stdout": BLOCKED | {"decision": "approve"}}, Decision()),
    ("PreToolUse", {"stdout": "a log line"}, Decision()),
    ("PreToolUse", {"stdout": "{oops"}, None),
    ("PreToolUse", {"stdout": {"decision": {"a": 1}}}, Decision()),
    ("PermissionRequest", {"stdout": {"decision": "approve"}}, Decision(outcome="allow")),
    ("PostToolUse", {"stdout": own("PostToolUse", additionalContext="x")}, Decision(context="x")),
    ("PostToolUse", {"code": 2, "stderr": "no"}, None),
    ("SessionStart", {"code": 2, "stderr": "no"}, None),
    ("SessionEnd", {"stdout": BLOCKED}, Decision()),
]


@pytest.mark.parametrize(("event", "answer", "expected"), READS)
def test_an_answer_is_read_as_the_documentation_has_it(event, answer, expected):
    """
    Documented: code 2 refuses, every other one is an error that stops nothing.
    """
    assert expected == DEVIN.read_reply(event, said(answer))


@pytest.mark.parametrize("file", [file for file in FILES if file.parent.name == "devin"], ids=lambda file: file.stem)
def test_a_payload_made_from_an_event_is_read_as_the_same(file):
    """
    What Devin has told is written again as it would tell it.
    """
    event = decode(DEVIN, json.loads(file.read_text(encoding="utf-8"))["payload"], id="e")

    again = decode(DEVIN, encode(DEVIN, event), id="e")

    assert asdict(event) | {"native": None, "tool": None} == asdict(again) | {"native": None, "tool": None}
    assert event.tool == again.tool


def test_a_command_of_another_agent_is_framed_as_devin_frames_its_own():
    """
    A hook for Devin finds the exit code where it looks for it.
    """
    payload = {"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    payload |= {"tool_response": {"stdout": "a.txt", "stderr": "", "interrupted": False}}

    made = encode(DEVIN, decode(agents.load("claude-code"), payload))

    assert {"command": "ls"} == made["tool_input"]
    assert (True, None) == (made["tool_response"]["success"], made["tool_response"]["error"])
    assert made["tool_response"]["output"].endswith("a.txt\n\nExit code: 0")
    assert 0 == decode(DEVIN, made).tool.result.exit_code
