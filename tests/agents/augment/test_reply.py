"""Auggie's answers. No run of it was seen: every row is documented.

The last column is where: "schema" is section 1 of `facts/agents/others.md`, read from Auggie 0.36.0, "page" the hooks
page of Auggie's documentation.
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

AUGMENT = agents.load("augment")
# A stop with an error is an event that Auggie has no word of its own for, so nothing can be written for it.
GOLDENS = [file for file in FILES if file.parent.name == "augment" and file.stem != "Stop-error"]
NEW = {"command": "ls", "wait": True}
DENY = Decision(outcome="deny", reason="not today")
NOTE = Decision(context="by the way")
REFUSED = {"permissionDecision": "deny", "permissionDecisionReason": "not today"}


def own(event, **fields):
    """The part of an answer that belongs to one event, which it must name."""
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


SAYS = [
    ("PreToolUse", DENY, own("PreToolUse", **REFUSED), "schema, page"),
    ("PreToolUse", Decision(outcome="deny"), own("PreToolUse", permissionDecision="deny"), "schema"),
    ("PreToolUse", replace(DENY, system_message="look"), own("PreToolUse", **REFUSED) | {"systemMessage": "look"}, "page"),
    ("PreToolUse", Decision(updated_input=NEW), own("PreToolUse", updatedInput=NEW), "schema"),
    ("PreToolUse", Decision(system_message="look", suppress_output=True), {"systemMessage": "look", "suppressOutput": True}, "page"),
    ("PostToolUse", NOTE, own("PostToolUse", additionalContext="by the way"), "schema, page"),
    ("SessionStart", NOTE, own("SessionStart", additionalContext="by the way"), "schema, page"),
    ("Stop", DENY, own("Stop", decision="block", reason="not today"), "schema: nested only"),
    ("Stop", Decision(outcome="deny"), own("Stop", decision="block", reason="a hook refuses this and gives no reason"), "page: a reason is required"),
]


@pytest.mark.parametrize(("event", "decision", "expected", "source"), SAYS)
def test_a_decision_is_said_as_the_schema_has_it(event, decision, expected, source):
    """
    One object and exit code 0; with any other its JSON is not read.
    """
    said = AUGMENT.reply(event, decision, decision.updated_input)

    assert (expected, "", 0) == (json.loads(said.stdout), said.stderr, said.code), source
    assert decision == AUGMENT.read_reply(event, said)


@pytest.mark.parametrize(("outcome", "becomes"), [("ask", "deny"), ("allow", None)])
def test_words_that_auggie_promises_for_later_are_not_relied_on(outcome, becomes):
    """
    Its schema knows them, its page says that only deny is heeded: a question is refused, an allow left out.
    """
    decision, _ = weaken(replace(DENY, outcome=outcome), point_of(AUGMENT, "PreToolUse"))

    assert becomes == decision.outcome


READS = [
    ("PreToolUse", {"code": 2, "stderr": "MARK"}, Decision(outcome="deny", reason="MARK"), "schema, page"),
    ("PreToolUse", {"code": 2}, Decision(outcome="deny"), "schema"),
    ("PreToolUse", {"code": 2, "stderr": "MARK", "stdout": own("PreToolUse", permissionDecision="allow")}, Decision(outcome="deny", reason="MARK"), "page: JSON counts with exit code 0"),
    ("PostToolUse", {"code": 2, "stderr": "MARK"}, Decision(context="MARK"), "schema: told, not blocked"),
    ("Stop", {"code": 2, "stderr": "MARK"}, Decision(context="MARK"), "schema: told, not blocked"),
    ("SessionStart", {"code": 2, "stderr": "MARK"}, None, "page: shown to the user"),
    ("PreToolUse", {"code": 1, "stdout": own("PreToolUse", **REFUSED)}, None, "schema: open"),
    ("PreToolUse", {"code": 127, "stderr": "not found"}, None, "schema: open"),
    ("PreToolUse", {}, Decision(), "page"),
    ("PreToolUse", {"stdout": "{}"}, Decision(), "schema"),
    ("PreToolUse", {"stdout": "checking"}, Decision(), "schema: shown to the user"),
    ("SessionStart", {"stdout": "MARK\n"}, Decision(context="MARK"), "schema: told to the model"),
    ("SessionStart", {"stdout": ""}, Decision(), "schema"),
    ("PreToolUse", {"stdout": own("PreToolUse", **REFUSED)}, DENY, "schema"),
    ("PreToolUse", {"stdout": own("PreToolUse", permissionDecision="allow", updatedInput=NEW)}, Decision(updated_input=NEW), "page: its example of new input"),
    ("PreToolUse", {"stdout": own("PreToolUse", permissionDecision="ask", permissionDecisionReason="MARK")}, Decision(outcome="ask", reason="MARK"), "kept as a question, though the page says that nobody is asked"),
    ("PreToolUse", {"stdout": {"decision": "block", "reason": "MARK"}}, Decision(), "schema: nested only"),
    ("PreToolUse", {"stdout": {"hookSpecificOutput": REFUSED}}, None, "schema: the event's name is required"),
    ("PreToolUse", {"stdout": own("PostToolUse", **REFUSED)}, None, "schema: the event's name is required"),
    ("PreToolUse", {"stdout": own("PreToolUse", permissionDecision="block")}, None, "schema"),
    ("PreToolUse", {"stdout": own("PreToolUse", updatedInput="ls")}, None, "schema"),
    ("PreToolUse", {"stdout": {"continue": False, "stopReason": "MARK"}}, Decision(proceed=False, reason="MARK"), "page"),
    ("PreToolUse", {"stdout": {"continue": "no"}}, None, "schema"),
    ("PostToolUse", {"stdout": own("PostToolUse", decision="block", reason="MARK")}, Decision(outcome="deny", reason="MARK"), "schema"),
    ("PostToolUse", {"stdout": {"additionalContext": "MARK"}}, Decision(context="MARK"), "schema: a common field"),
    ("PostToolUse", {"stdout": {"additionalContext": 1}}, None, "schema"),
    ("PostToolUse", {"stdout": own("PostToolUse", additionalContext="MARK") | {"additionalContext": "other"}}, Decision(context="MARK"), "schema"),
    ("Stop", {"stdout": {"decision": "block", "reason": "MARK"}}, Decision(), "schema: at the top it is ignored"),
    ("Stop", {"stdout": own("Stop", decision="block", reason="MARK")}, Decision(outcome="deny", reason="MARK"), "schema"),
    ("Stop", {"stdout": own("Stop", decision="approve")}, None, "schema"),
    ("Notification", {"stdout": {"systemMessage": "MARK"}}, Decision(system_message="MARK"), "schema: a common field"),
    ("PromptSubmit", {"stdout": {"continue": False}}, Decision(), "schema: none for this event"),
    ("PromptSubmit", {"code": 2, "stderr": "MARK"}, Decision(), "schema: none for this event"),
    ("beforeShellExecution", {"stdout": {"permission": "deny"}}, Decision(), "schema: none for this event"),
]


@pytest.mark.parametrize(("event", "answer", "expected", "source"), READS)
def test_an_answer_is_read_as_the_schema_has_it(event, answer, expected, source):
    """
    Exit code, text and object, each as documented; no row was seen in a run.
    """
    stdout = answer.get("stdout", "")

    read = AUGMENT.read_reply(event, Reply(**answer | {"stdout": stdout if type(stdout) is str else json.dumps(stdout)}))

    assert expected == read, source


@pytest.mark.parametrize("file", GOLDENS, ids=lambda file: file.stem)
def test_a_payload_that_is_written_again_is_the_same_event(file):
    """
    What stood in the objects that a hook must ask for stands there again.
    """
    golden = json.loads(file.read_text(encoding="utf-8"))
    event = decode(AUGMENT, golden["payload"], golden.get("event"), id="e")

    again = decode(AUGMENT, encode(AUGMENT, event), golden.get("event"), id="e")

    assert to_builtins(asdict(event) | {"native": None}) == to_builtins(asdict(again) | {"native": None})


@pytest.mark.parametrize(
    ("native", "given", "tool"),
    [
        ("mcp__srv__look_up", {"q": 1}, ("look_up_srv", "mcp:srv/look_up")),
        ("Bash", {"command": "ls"}, ("launch-process", "shell")),
    ],
)
def test_a_call_of_another_agent_is_read_as_the_same_call(native, given, tool):
    """
    An MCP tool's server stands at the end of its name, and a command's exit code in its output.
    """
    payload = {"session_id": "s", "cwd": "/w", "hook_event_name": "PostToolUse", "tool_name": native, "tool_input": given}
    payload |= {"tool_response": {"stdout": "hi", "stderr": "", "interrupted": False}}
    event = decode(agents.load("claude-code"), payload)

    made = encode(AUGMENT, event)
    again = decode(AUGMENT, made)

    assert tool == (made["tool_name"], again.tool.name)
    assert (given, event.tool.result.exit_code) == (again.tool.input, again.tool.result.exit_code)
