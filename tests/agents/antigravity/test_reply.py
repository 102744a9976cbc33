"""Antigravity's answers. No run of it was seen: every row is documented.

The last column is where: "page" is section 2 of `facts/agents/others.md`; the others are what users of its command
line, agy, have measured, by its version.
"""

import json

import pytest
from msgspec import to_builtins
from msgspec.structs import asdict, replace

from hookonce import agents
from hookonce.agents import decode, encode, point_of
from hookonce.model import Decision, Reply
from hookonce.vocabulary.decision_merge import weaken
from tests.agents.test_decode_goldens import FILES

ANTIGRAVITY = agents.load("antigravity")
# A stop with an error is an event that Antigravity has no word of its own for, so nothing can be written for it.
GOLDENS = [file for file in FILES if file.parent.name == "antigravity" and file.stem != "Stop-error"]
DENY = Decision(outcome="deny", reason="not today")
NOTE = Decision(context="by the way")
UNREAD = Decision(outcome="deny", reason="a hook's answer has no verdict")


def steps(*texts):
    """Texts for the model, put in as steps that are not kept."""
    return {"injectSteps": [{"ephemeralMessage": text} for text in texts]}


SAYS = [
    ("PreToolUse", DENY, {"decision": "deny", "reason": "not today"}, "page; agy 1.1.2, 1.2.7"),
    ("PreToolUse", Decision(outcome="deny"), {"decision": "deny"}, "page"),
    ("PreToolUse", replace(DENY, outcome="ask"), {"decision": "force_ask", "reason": "not today"}, "page; agy 1.1.2"),
    ("PreInvocation", NOTE, steps("by the way"), "page; agy 1.2.6"),
    ("SessionStart", NOTE, steps("by the way"), "on no page; agy 1.2.7"),
    ("PostInvocation", NOTE, steps("by the way"), "page"),
    ("PostInvocation", DENY, steps("not today") | {"terminationBehavior": "force_continue"}, "page"),
    ("PostInvocation", replace(DENY, context="by the way"), steps("not today", "by the way") | {"terminationBehavior": "force_continue"}, "page"),
    ("PostInvocation", Decision(outcome="deny", context="by the way"), steps("a hook refuses this and gives no reason", "by the way") | {"terminationBehavior": "force_continue"}, "page"),
    ("Stop", DENY, {"decision": "continue", "reason": "not today"}, "page; agy 1.2.6"),
    ("Stop", Decision(outcome="deny"), {"decision": "continue", "reason": "a hook refuses this and gives no reason"}, "page"),
]


@pytest.mark.parametrize(("event", "decision", "expected", "source"), SAYS)
def test_a_decision_is_said_in_the_words_of_its_event(event, decision, expected, source):
    """
    One object without a field that Antigravity does not know; a question is one that no earlier yes answers.
    """
    said = ANTIGRAVITY.reply(event, decision, None)

    assert (expected, "", 0) == (json.loads(said.stdout), said.stderr, said.code), source
    assert decision == ANTIGRAVITY.read_reply(event, said)


def test_an_allow_is_left_out():
    """
    It does not spare the user the question (agy 1.1.2, 1.2.7), so nobody should rely on it.
    """
    decision, _ = weaken(replace(DENY, outcome="allow"), point_of(ANTIGRAVITY, "PreToolUse"))

    assert Decision() == decision


READS = [
    ("PreToolUse", {}, Decision(), "agy 1.0.3, 1.2.3, 1.2.14; agy 1.0.2 and others took it for a refusal"),
    ("PreToolUse", {"stdout": "{}"}, UNREAD, "agy 1.0.3, 1.1.24, 1.2.3, 1.2.7, 1.2.14"),
    ("PreToolUse", {"stdout": "allow"}, UNREAD, "agy 1.1.24; page: it asks"),
    ("PreToolUse", {"stdout": '[{"decision": "allow"}]'}, UNREAD, "agy 1.1.24"),
    ("PreToolUse", {"stdout": 'log\n{"decision": "allow"}'}, UNREAD, "agy 1.2.3"),
    ("PreToolUse", {"stdout": {"decision": "block"}}, UNREAD, "page"),
    ("PreToolUse", {"stdout": {"decision": ["deny"]}}, UNREAD, "page"),
    ("PreToolUse", {"stdout": {"decision": "allow", "reason": 1}}, UNREAD, "page"),
    ("PreToolUse", {"stdout": {"decision": "allow", "overwrite": "ls"}}, UNREAD, "agy 1.1.27"),
    ("PreToolUse", {"code": 1, "stderr": "MARK"}, Decision(outcome="deny", reason="MARK"), "agy 1.2.3, 1.2.14"),
    ("PreToolUse", {"code": 2}, Decision(outcome="deny"), "agy 1.2.14"),
    ("PreToolUse", {"stdout": {"decision": "deny", "reason": "MARK"}}, Decision(outcome="deny", reason="MARK"), "page; agy 1.2.7"),
    ("PreToolUse", {"stdout": {"decision": "deny_unless_prior_grant", "reason": "MARK"}}, Decision(outcome="deny", reason="MARK"), "page; nobody else knows of earlier grants"),
    ("PreToolUse", {"stdout": {"decision": "force_ask", "reason": "MARK"}}, Decision(outcome="ask", reason="MARK"), "page; agy 1.1.2"),
    ("PreToolUse", {"stdout": {"decision": "force_ask"}}, Decision(outcome="ask"), "page"),
    ("PreToolUse", {"stdout": {"decision": "ask", "reason": "MARK"}}, Decision(outcome="ask", reason="MARK"), "page"),
    ("PreToolUse", {"stdout": {"decision": "ask"}}, Decision(), "agy 1.2.3, 1.2.12: as if there were no hook"),
    ("PreToolUse", {"stdout": {"decision": "allow", "reason": "MARK"}}, Decision(), "agy 1.1.2, 1.2.7: it grants nothing"),
    ("PreToolUse", {"stdout": {"decision": "allow", "overwrite": {"CommandLine": "ls"}}}, Decision(updated_input={"CommandLine": "ls"}), "agy 1.1.27"),
    ("PreToolUse", {"stdout": {"decision": "deny", "overwrite": {"CommandLine": "ls"}}}, Decision(outcome="deny"), "agy 1.1.27"),
    ("PostToolUse", {"stdout": "{}"}, Decision(), "page"),
    ("PostToolUse", {"stdout": {"decision": "deny"}}, Decision(), "page: nothing is heard there"),
    ("PostToolUse", {"code": 1}, None, "page"),
    ("PreInvocation", {"stdout": "{}"}, Decision(), "page"),
    ("PreInvocation", {"stdout": {"injectSteps": [{"userMessage": "MARK"}, {"toolCall": {"name": "x"}}, {"ephemeralMessage": "too"}]}}, Decision(context="MARK\ntoo"), "page"),
    ("PreInvocation", {"stdout": {"injectSteps": [], "terminationBehavior": "terminate"}}, Decision(), "page: ends a run only after a model call"),
    ("PreInvocation", {"stdout": {"injectSteps": "MARK"}}, None, "page"),
    ("PreInvocation", {"stdout": "MARK"}, None, "page"),
    ("PostInvocation", {"stdout": steps("MARK") | {"terminationBehavior": ""}}, Decision(context="MARK"), "page"),
    ("PostInvocation", {"stdout": steps("MARK") | {"terminationBehavior": "terminate"}}, Decision(context="MARK", proceed=False), "page"),
    ("PostInvocation", {"stdout": {"terminationBehavior": "force_continue"}}, Decision(outcome="deny"), "page"),
    ("PostInvocation", {"stdout": {"terminationBehavior": 1}}, None, "page"),
    ("Stop", {"stdout": {"decision": "continue", "reason": "MARK"}}, Decision(outcome="deny", reason="MARK"), "page; agy 1.2.6"),
    ("Stop", {"stdout": {"decision": "block", "reason": "MARK"}}, Decision(), "page: any other word stops"),
    ("Stop", {"stdout": {"decision": ""}}, Decision(), "agy 1.2.3"),
    ("Stop", {"stdout": "{}"}, Decision(), "page"),
    ("Stop", {"stdout": {"decision": True}}, None, "page"),
    ("Stop", {"code": 2, "stderr": "MARK"}, None, "page"),
]


@pytest.mark.parametrize(("event", "answer", "expected", "source"), READS)
def test_an_answer_is_read_as_it_was_documented_or_measured(event, answer, expected, source):
    """
    Before a tool whatever has no verdict refuses the call, at all other events it is passed over.
    """
    stdout = answer.get("stdout", "")

    read = ANTIGRAVITY.read_reply(event, Reply(**answer | {"stdout": stdout if type(stdout) is str else json.dumps(stdout)}))

    assert expected == read, source


@pytest.mark.parametrize("file", GOLDENS, ids=lambda file: file.stem)
def test_a_payload_that_is_written_again_is_the_same_event(file):
    """
    The event is told beside the payload, as Antigravity's hooks have to be told it.
    """
    golden = json.loads(file.read_text(encoding="utf-8"))
    event = decode(ANTIGRAVITY, golden["payload"], golden.get("event"), id="e")

    again = decode(ANTIGRAVITY, encode(ANTIGRAVITY, event), golden.get("event"), id="e")

    assert to_builtins(asdict(event) | {"native": None}) == to_builtins(asdict(again) | {"native": None})


@pytest.mark.parametrize(
    ("native", "given", "call"),
    [
        ("Write", {"file_path": "/w/a", "content": "x"}, {"name": "write_to_file", "args": {"TargetFile": "/w/a", "CodeContent": "x"}}),
        ("Read", {"file_path": "/w/a"}, {"name": "view_file", "args": {"AbsolutePath": "/w/a"}}),
        ("Glob", {"pattern": "*.py", "path": "/w"}, {"name": "find_by_name", "args": {"Pattern": "*.py", "SearchDirectory": "/w"}}),
        ("mcp__srv__do", {"a": 1}, {"name": "call_mcp_tool", "args": {"ServerName": "srv", "ToolName": "do", "Arguments": {"a": 1}}}),
    ],
)
def test_a_call_of_another_agent_has_the_arguments_of_the_tool_it_becomes(native, given, call):
    """
    One thing has several names here, by tool: a guard looks for the one that its tool has.
    """
    payload = {"session_id": "s", "cwd": "/w", "hook_event_name": "PreToolUse", "tool_name": native, "tool_input": given}
    event = decode(agents.load("claude-code"), payload)

    made = encode(ANTIGRAVITY, event)

    assert call == made["toolCall"]
    assert event.tool.input == decode(ANTIGRAVITY, made, "PreToolUse").tool.input
