"""Droid's answers, row by row as its command line was seen to take them.

The last column is the case of `facts/lab-results/droid.json`; "documented" was read in the shipped program and its
reference, and not seen: `droid exec` sends neither prompts nor compactions to hooks.
"""

import json

import pytest
from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import point_of
from hookonce.model import Decision, Reply
from hookonce.vocabulary.decision_merge import weaken
from tests.agents._reply.lab_records import record

DROID = agents.load("factory-droid")
NEW = {"command": "ls", "description": "look"}
DENY = Decision(outcome="deny", reason="not today")
NOTE = Decision(context="by the way")
UNSAID = "a hook refuses this and gives no reason"


def own(event, **fields):
    """An object with the event's own part."""
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def before(word, **more):
    """A permission before a tool."""
    return own("PreToolUse", permissionDecision=word, permissionDecisionReason="REASON-x", **more)


SAYS = [
    ("PreToolUse", DENY, "", "not today", 2, "pre-exit2-stderr"),
    ("PreToolUse", Decision(outcome="deny"), "", UNSAID, 2, "pre-exit2-stderr"),
    ("PreToolUse", Decision(outcome="allow"), own("PreToolUse", permissionDecision="allow"), "", 0, "pre-allow-default-mode"),
    ("PreToolUse", Decision(outcome="allow", reason="REASON-x"), before("allow"), "", 0, "pre-allow-default-mode"),
    ("PreToolUse", Decision(outcome="allow", updated_input=NEW), own("PreToolUse", permissionDecision="allow", updatedInput=NEW), "", 0, "pre-update-allow"),
    ("PreToolUse", Decision(updated_input=NEW), own("PreToolUse", updatedInput=NEW), "", 0, "pre-update-nodecision"),
    ("PreToolUse", Decision(proceed=False, reason="enough"), {"continue": False, "stopReason": "enough"}, "", 0, "pre-continue-false"),
    ("PreToolUse", Decision(outcome="deny", proceed=False, reason="REASON-x"), {"continue": False, "stopReason": "REASON-x"} | before("deny"), "", 0, "documented"),
    ("PostToolUse", NOTE, own("PostToolUse", additionalContext="by the way"), "", 0, "post-context"),
    ("PostToolUse", Decision(proceed=False, reason="enough"), {"continue": False, "stopReason": "enough"}, "", 0, "post-continue-false"),
    ("PostToolUse", Decision(system_message="look"), {"systemMessage": "look"}, "", 0, "documented"),
    ("UserPromptSubmit", DENY, "", "not today", 2, "documented"),
    ("UserPromptSubmit", replace(DENY, context="by the way"), "", "not today\n\nContext: by the way", 2, "documented"),
    ("UserPromptSubmit", NOTE, own("UserPromptSubmit", additionalContext="by the way"), "", 0, "documented"),
    ("UserPromptSubmit", Decision(updated_input={"prompt": "hello"}), own("UserPromptSubmit", updatedInput={"prompt": "hello"}), "", 0, "documented"),
    ("SessionStart", NOTE, own("SessionStart", additionalContext="by the way"), "", 0, "session-context"),
    ("Stop", DENY, {"decision": "block", "reason": "not today"}, "", 0, "stop-block-once"),
    ("Stop", Decision(outcome="deny"), {"decision": "block", "reason": UNSAID}, "", 0, "stop-block-once"),
    ("Stop", Decision(proceed=False), {"continue": False}, "", 0, "stop-continue-false"),
    ("PreCompact", DENY, "", "not today", 2, "documented"),
    ("SessionEnd", Decision(reason="unheard"), "", "", 0, "documented"),
]


@pytest.mark.parametrize(("event", "decision", "stdout", "stderr", "code", "case"), SAYS)
def test_a_decision_is_said_as_droid_honours_it(event, decision, stdout, stderr, code, case):
    """
    One object and exit code 0, or a refusal that no other hook's permission can hide: exit code 2 and the reason.
    """
    said = DROID.reply(event, decision, decision.updated_input)

    assert (stdout, stderr, code) == (json.loads(said.stdout) if said.stdout else "", said.stderr, said.code)
    assert case == "documented" or record("droid", case)


def test_a_prompt_that_cannot_be_changed_as_wanted_does_not_go_on_unchanged():
    """
    Nothing but the text of a prompt is replaced: whoever gives something else is not obeyed by half.
    """
    said = DROID.reply("UserPromptSubmit", Decision(updated_input={"prompt": 5}), {"prompt": 5})
    weakened, _ = weaken(Decision(updated_input={"text": "x"}), point_of(DROID, "UserPromptSubmit"), {"prompt": "old"})

    assert (2, True) == (said.code, "nothing but the text" in said.stderr)
    assert "deny" == weakened.outcome


REFUSED = Decision(outcome="deny", reason="REASON-x")
BY_CODE = Decision(outcome="deny", reason="STDERR-x")
END = {"continue": False, "stopReason": "STOPREASON-x"}
ENDED = Decision(proceed=False, reason="STOPREASON-x")
CHANGED = {"command": "echo rewritten > rewritten.txt; echo REWRITTEN-RAN", "description": "rewritten"}
# What scripts answered before a tool, and what it came to; whether the tool ran is looked up in the record.
READ_BEFORE_A_TOOL = [
    ({}, Decision(), "baseline-allow"),
    ({"code": 2, "stderr": "STDERR-x"}, BY_CODE, "pre-exit2-stderr"),
    ({"code": 2, "stdout": "PLAINOUT"}, Decision(outcome="deny"), "pre-exit2-stdout-only"),
    ({"code": 2, "stderr": "STDERR-x", "stdout": before("allow")}, BY_CODE, "pre-exit2-with-json-allow"),
    ({"code": 2, "stderr": "STDERR-x", "stdout": before("deny")}, REFUSED, "pre-exit2-with-json-deny"),
    ({"stdout": before("deny")}, REFUSED, "pre-deny"),
    ({"stdout": own("PreToolUse", permissionDecision="deny")}, Decision(outcome="deny"), "pre-deny-noreason"),
    ({"stdout": before("ask")}, Decision(), "pre-ask"),
    ({"stdout": before("allow")}, replace(REFUSED, outcome="allow"), "pre-allow-default-mode"),
    ({"stdout": before("defer")}, None, "pre-defer"),
    ({"stdout": own("PreToolUse", permissionDecision="allow", updatedInput=CHANGED)}, Decision(outcome="allow", updated_input=CHANGED), "pre-update-allow"),
    ({"stdout": own("PreToolUse", updatedInput=CHANGED)}, Decision(updated_input=CHANGED), "pre-update-nodecision"),
    ({"stdout": own("PreToolUse", permissionDecision="allow", modifiedArgs=CHANGED)}, Decision(outcome="allow"), "pre-update-other-key(modifiedArgs)"),
    ({"stdout": own("PreToolUse", additionalContext="CTX-pre")}, Decision(), "pre-context"),
    ({"stdout": before("deny", additionalContext="CTX-pre")}, REFUSED, "pre-deny-context"),
    ({"stdout": {"decision": "block", "reason": "REASON-x"}}, Decision(), "pre-legacy-block"),
    ({"stdout": {"permissionDecision": "deny", "permissionDecisionReason": "REASON-x"}}, Decision(), "pre-toplevel-deny"),
    ({"stdout": END}, ENDED, "pre-continue-false"),
    ({"stdout": {"systemMessage": "SYSMSG-x"}}, Decision(), "pre-systemMessage"),
    ({"code": 1, "stderr": "STDERR-x"}, None, "pre-exit1"),
    ({"code": 1, "stderr": "STDERR-x", "stdout": before("deny")}, REFUSED, "pre-exit1-with-json-deny"),
    ({"code": 3, "stderr": "STDERR-x"}, Decision(proceed=False, reason="STDERR-x"), "pre-exit3"),
    ({"code": -9}, None, "pre-sigkill"),
    ({"stdout": '{"hookSpecificOutput": {"permissionDecision": "deny" PLAINOUT'}, None, "pre-malformed-json"),
    ({"stdout": "PLAINOUT hello\n"}, Decision(), "pre-plain-text"),
    ({"stdout": "PLAINOUT log line\n" + json.dumps(before("deny"))}, Decision(), "pre-text-then-json-deny"),
    ({"stdout": json.dumps(before("deny")) + "\nPLAINOUT trailing\n"}, None, "pre-json-then-text"),
    ({"stdout": "[1,2]"}, Decision(), "pre-json-array"),
    ({"stdout": before("DENY")}, None, "pre-bad-enum"),
    ({"stdout": before("deny") | {"zzz": 1}}, REFUSED, "pre-unknown-fields"),
    ({"stdout": own("PostToolUse", permissionDecision="deny", permissionDecisionReason="REASON-x")}, REFUSED, "pre-wrong-eventname"),
    ({"stdout": {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "REASON-x"}}}, REFUSED, "pre-no-eventname"),
    ({"code": 127}, None, "pre-cmd-not-found"),
]
READ_ELSEWHERE = [
    ("PostToolUse", {"stdout": {"decision": "block", "reason": "REASON-x"}}, Decision(), "post-block"),
    ("PostToolUse", {"code": 2, "stderr": "STDERR-x"}, Decision(context="STDERR-x"), "post-exit2"),
    ("PostToolUse", {"stdout": own("PostToolUse", additionalContext="CTX-post")}, Decision(context="CTX-post"), "post-context"),
    ("PostToolUse", {"code": 2, "stderr": "STDERR-x", "stdout": own("PostToolUse", additionalContext="CTX-post")}, Decision(context="CTX-post\nSTDERR-x"), "documented"),
    ("PostToolUse", {"stdout": own("PostToolUse", updatedToolOutput="NEWOUT")}, Decision(), "post-updatedToolOutput-str"),
    ("PostToolUse", {"stdout": END}, ENDED, "post-continue-false"),
    ("PostToolUse", {"stdout": "PLAINOUT"}, Decision(), "post-plain-text"),
    ("PostToolUse", {"code": 1, "stderr": "STDERR-x"}, None, "post-exit1"),
    ("PostToolUse", {"code": 3, "stderr": "STDERR-x"}, Decision(proceed=False, reason="STDERR-x"), "documented"),
    ("PostToolUse", {"stdout": {"systemMessage": "SYSMSG-x"}}, Decision(system_message="SYSMSG-x"), "documented"),
    ("UserPromptSubmit", {"code": 2, "stderr": "STDERR-x"}, BY_CODE, "documented"),
    ("UserPromptSubmit", {"code": 3, "stderr": "STDERR-x"}, BY_CODE, "documented"),
    ("UserPromptSubmit", {"stdout": END}, Decision(outcome="deny", reason="STOPREASON-x"), "documented"),
    ("UserPromptSubmit", {"stdout": {"continue": False, "systemMessage": "SYSMSG-x"}}, Decision(outcome="deny", reason="SYSMSG-x"), "documented"),
    ("UserPromptSubmit", {"stdout": {"decision": "block", "reason": "REASON-x"}}, Decision(), "documented"),
    ("UserPromptSubmit", {"stdout": "PLAINOUT\n"}, Decision(context="PLAINOUT"), "documented"),
    ("UserPromptSubmit", {"code": 1, "stdout": "PLAINOUT\n"}, None, "documented"),
    ("UserPromptSubmit", {"stdout": own("UserPromptSubmit", updatedInput={"prompt": "NEWOUT"})}, Decision(updated_input={"prompt": "NEWOUT"}), "documented"),
    ("UserPromptSubmit", {"stdout": own("UserPromptSubmit", updatedInput={"text": "NEWOUT"})}, Decision(), "documented"),
    ("SessionStart", {"stdout": "PLAINOUT\n"}, Decision(context="PLAINOUT"), "session-plain"),
    ("SessionStart", {"stdout": own("SessionStart", additionalContext="CTX-session")}, Decision(context="CTX-session"), "session-context"),
    ("SessionStart", {"code": 2, "stderr": "STDERR-x"}, None, "session-exit2"),
    ("SessionStart", {"stdout": END}, Decision(), "session-continue-false"),
    ("Stop", {"stdout": {"decision": "block", "reason": "REASON-x"}}, REFUSED, "stop-block-once"),
    ("Stop", {"stdout": {"decision": "block"}}, Decision(), "documented"),
    ("Stop", {"code": 2, "stderr": "STDERR-x"}, BY_CODE, "stop-exit2-once"),
    ("Stop", {"code": 2}, None, "documented"),
    ("Stop", {"stdout": own("Stop", additionalContext="CTX-stop")}, Decision(), "stop-context"),
    ("Stop", {"stdout": END}, ENDED, "stop-continue-false"),
    ("Stop", {"code": 1, "stderr": "STDERR-x"}, None, "stop-exit1"),
    ("Stop", {"code": 3, "stderr": "STDERR-x"}, Decision(proceed=False, reason="STDERR-x"), "documented"),
    ("PreCompact", {"code": 2, "stderr": "STDERR-x"}, BY_CODE, "documented"),
    ("PreCompact", {"code": 3}, Decision(outcome="deny"), "documented"),
    ("PreCompact", {"stdout": END}, Decision(), "documented"),
    ("SubagentStop", {"stdout": {"decision": "block", "reason": "REASON-x"}}, Decision(), "documented"),
    ("SubagentStop", {"code": 2, "stderr": "STDERR-x"}, None, "documented"),
    ("Notification", {"stdout": "PLAINOUT"}, Decision(), "documented"),
]


def said(answer):
    """An answer as a script gave it; an object is its JSON."""
    stdout = answer.get("stdout", "")
    return Reply(**answer | {"stdout": stdout if type(stdout) is str else json.dumps(stdout)})


@pytest.mark.parametrize(("answer", "expected", "case"), READ_BEFORE_A_TOOL)
def test_an_answer_before_a_tool_is_read_as_the_run_came_out(answer, expected, case):
    """
    Whoever refuses or ends the turn kept the tool from running in the lab, everybody else did not; a reason was told.
    """
    read = DROID.read_reply("PreToolUse", said(answer))

    assert expected == read
    seen = record("droid", case)
    understood = read or Decision()
    assert bool(seen["files"]) is not (understood.outcome == "deny" or understood.proceed is False)
    assert understood.proceed is not False or 1 == seen["nreq"]
    assert ("REWRITTEN-RAN" in str(seen["model_saw"])) is (understood.updated_input is not None)
    assert understood.outcome != "deny" or (understood.reason or "Error") in str(seen["model_saw"])


@pytest.mark.parametrize(("event", "answer", "expected", "case"), READ_ELSEWHERE)
def test_an_answer_is_read_as_droid_understood_it(event, answer, expected, case):
    """
    What a model was told, or was seen to go on with, is what the answer is read as; what it was not told is not.
    """
    read = DROID.read_reply(event, said(answer))

    assert expected == read
    if case == "documented":
        return
    understood, saw = read or Decision(), str(record("droid", case)["model_saw"])
    told = {understood.context, understood.reason if understood.outcome else None} - {None}
    assert all(text in saw for text in told)
    assert told or not any(mark in saw for mark in ("REASON-x", "STDERR-x", "CTX-", "PLAINOUT"))
