"""Cline's answers, row by row as its command line was seen to take them.

The last column is the case of `facts/lab-results/cline.json`; "documented" was read in the source of the editor's
extension, or of the command line, and not seen.
"""

import json

import pytest

from hookonce import agents
from hookonce.model import Decision, Reply
from tests.agents._reply.lab_records import record

CLINE = agents.load("cline")
NEW = {"commands": ["ls"]}
DENY = Decision(outcome="deny", reason="not today")
CANCEL = {"cancel": True, "errorMessage": "not today"}

SAYS = [
    ("PreToolUse", DENY, CANCEL, "pre-cancel"),
    ("PreToolUse", Decision(outcome="deny"), {"cancel": True}, "pre-cancel-noreason"),
    ("PreToolUse", Decision(outcome="deny", reason="not today", context="by the way"), CANCEL | {"contextModification": "by the way"}, "documented"),
    ("PreToolUse", Decision(updated_input=NEW), {"overrideInput": NEW}, "pre-override"),
    ("PreToolUse", Decision(context="by the way"), {"contextModification": "by the way"}, "pre-contextModification"),
    ("PreToolUse", Decision(context="by the way", updated_input=NEW), {"contextModification": "by the way", "overrideInput": NEW}, "documented"),
    ("PostToolUse", Decision(context="by the way"), {"contextModification": "by the way"}, "PostToolUse-context"),
    ("PostToolUse", Decision(proceed=False, reason="not today"), CANCEL, "PostToolUse-cancel"),
    ("UserPromptSubmit", DENY, CANCEL, "documented"),
]


@pytest.mark.parametrize(("event", "decision", "expected", "case"), SAYS)
def test_a_decision_is_said_as_cline_honours_it(event, decision, expected, case):
    """
    One object on stdout; the exit code would tell nothing.
    """
    said = CLINE.reply(event, decision, decision.updated_input)

    assert (expected, "", 0) == (json.loads(said.stdout), said.stderr, said.code)
    assert case == "documented" or record("cline", case)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"command": "ls", "commands": ["rm x", "rm y"]}, {"command": "ls"}),
        ({"command": "ls\npwd", "commands": ["ls", "pwd"]}, {"command": "ls\npwd", "commands": ["ls", "pwd"]}),
        ({"path": "b", "files": [{"path": "a"}], "more": 1}, {"path": "b", "more": 1}),
        ({"path": "a", "files": [{"path": "a", "offset": 3}]}, {"path": "a", "files": [{"path": "a", "offset": 3}]}),
        ({"url": "https://b", "requests": [{"url": "https://a"}]}, {"url": "https://b"}),
        ({"pattern": "b", "queries": "a"}, {"pattern": "b"}),
        ({"commands": ["ls"]}, {"commands": ["ls"]}),
    ],
)
def test_the_list_that_a_hook_left_as_it_was_does_not_undo_its_change(given, expected):
    """
    Events show a list and what it says beside each other; Cline would go by the list.
    """
    said = CLINE.reply("PreToolUse", Decision(updated_input=given), given)

    assert {"overrideInput": expected} == json.loads(said.stdout)


# What scripts answered, what Cline made of it, and whether the tool ran in the end.
READS = [
    ("PreToolUse", {"code": 2, "stderr": "MARKX"}, Decision(), "pre-exit2"),
    ("PreToolUse", {"code": 1, "stderr": "MARKX"}, Decision(), "pre-exit1"),
    ("PreToolUse", {"stdout": {"cancel": True, "errorMessage": "MARKX"}}, Decision(outcome="deny", reason="MARKX"), "pre-cancel"),
    ("PreToolUse", {"stdout": {"cancel": True}}, Decision(outcome="deny"), "pre-cancel-noreason"),
    ("PreToolUse", {"stdout": {"overrideInput": NEW}}, Decision(updated_input=NEW), "pre-override"),
    ("PreToolUse", {"stdout": {"context": "MARKX"}}, Decision(context="MARKX"), "pre-context"),
    ("PreToolUse", {"stdout": {"contextModification": "MARKX"}}, Decision(context="MARKX"), "pre-contextModification"),
    ("PreToolUse", {"stdout": {"review": True, "errorMessage": "MARKX"}}, Decision(context="MARKX"), "pre-review"),
    ("PreToolUse", {"stdout": {"errorMessage": "MARKX"}}, Decision(context="MARKX"), "pre-errorMessage-only"),
    ("PreToolUse", {"stdout": "MARKX not json"}, None, "pre-malformed"),
    ("PreToolUse", {"stdout": 'noise\n{"cancel": true, "errorMessage": "MARKX"}'}, None, "pre-noise-then-json-cancel"),
    ("PreToolUse", {"stdout": '{"cancel": true, "errorMessage": "MARKX"}\nnoise\n'}, None, "pre-json-then-noise"),
    ("PreToolUse", {"code": 1, "stdout": {"cancel": True, "errorMessage": "MARKX"}}, Decision(outcome="deny", reason="MARKX"), "pre-exit1-json-cancel"),
    ("PreToolUse", {"stdout": {"decision": "deny", "reason": "MARKX"}}, Decision(), "pre-decision-deny"),
    ("PreToolUse", {"stdout": 'HOOK_CONTROL\t{"cancel": true, "errorMessage": "MARKX"}\n'}, Decision(outcome="deny", reason="MARKX"), "pre-HOOK_CONTROL"),
    ("tool_call", {"stdout": {"cancel": True}}, Decision(outcome="deny"), "pre-cancel-noreason"),
    ("PostToolUse", {"stdout": {"cancel": True, "errorMessage": "MARKX"}}, Decision(proceed=False, reason="MARKX"), "PostToolUse-cancel"),
    ("PostToolUse", {"stdout": {"context": "MARKX", "contextModification": "MARKX"}}, Decision(context="MARKX"), "PostToolUse-context"),
    ("PostToolUse", {"code": 2, "stderr": "MARKX"}, Decision(), "PostToolUse-exit2"),
    ("tool_result", {"stdout": {"overrideInput": NEW}}, Decision(), None),
    ("TaskStart", {"stdout": {"cancel": True, "errorMessage": "MARKX"}}, Decision(), "TaskStart-cancel"),
    ("TaskStart", {"stdout": {"context": "MARKX", "contextModification": "MARKX"}}, Decision(), "TaskStart-context"),
    ("TaskComplete", {"stdout": {"cancel": True, "errorMessage": "MARKX"}}, Decision(), "TaskComplete-cancel"),
    ("TaskComplete", {"code": 2, "stderr": "MARKX"}, Decision(), "TaskComplete-exit2"),
    ("prompt_submit", {"stdout": {"cancel": True, "errorMessage": "MARKX"}}, Decision(outcome="deny", reason="MARKX"), None),
    ("PreToolUse", {"stdout": 'HOOK_CONTROL\t{"cancel": true}\nlog\nHOOK_CONTROL\t{}\n'}, Decision(), None),
    ("PreToolUse", {"stdout": {"cancel": "yes"}}, None, None),
    ("PreToolUse", {"stdout": {"context": ["MARKX"]}}, None, None),
    ("PreToolUse", {"stdout": "[]"}, None, None),
    ("PreToolUse", {"stdout": {"overrideInput": "ls"}}, Decision(updated_input={"input": "ls"}), None),
    ("PreToolUse", {"stdout": " \n"}, Decision(), None),
]


@pytest.mark.parametrize(("event", "answer", "expected", "case"), READS)
def test_an_answer_is_read_as_the_run_came_out(event, answer, expected, case):
    """
    Whoever cancels before a tool kept it from running in the lab; everybody else did not. Without a case: documented.
    """
    stdout = answer.get("stdout", "")

    read = CLINE.read_reply(event, Reply(**answer | {"stdout": stdout if type(stdout) is str else json.dumps(stdout)}))

    assert expected == read
    if case is not None:
        ran = bool(record("cline", case)["files"])
        assert ran is not (read is not None and read.outcome == "deny")
