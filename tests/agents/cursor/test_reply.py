"""Cursor's answers. No run of it was seen: every row is documented.

The last column is the section of `facts/agents/cursor.md`, which was read from the engine that Cursor ships.
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

CURSOR = agents.load("cursor")
# The output of one is a text that looks like Cursor's own report, and would be taken for that the second time.
GOLDENS = [file for file in FILES if file.parent.name == "cursor" and file.stem != "afterShellExecution"]
NEW = {"command": "ls", "cwd": "/w"}
DENY = Decision(outcome="deny", reason="not today")
ASK = replace(DENY, outcome="ask")
NOTE = Decision(context="by the way")
SHOWN = {"user_message": "not today"}
BOTH = SHOWN | {"agent_message": "not today"}
UNREAD = Decision(outcome="deny", reason="a hook's answer could not be read")

SAYS = [
    ("preToolUse", DENY, {"permission": "deny"} | BOTH, "documented: 2, 3.7"),
    ("preToolUse", Decision(outcome="deny"), {"permission": "deny"}, "documented: 3.7"),
    ("preToolUse", replace(DENY, context="by the way"), {"permission": "deny", "additional_context": "by the way"} | BOTH, "documented: 2"),
    ("preToolUse", Decision(updated_input=NEW), {"updated_input": NEW}, "documented: 2, caveats"),
    ("preToolUse", replace(NOTE, updated_input=NEW), {"updated_input": NEW, "additional_context": "by the way"}, "documented: 2"),
    ("preToolUse", NOTE, {"additional_context": "by the way"}, "documented: 2, merge"),
    ("beforeShellExecution", DENY, {"permission": "deny"} | BOTH, "documented: 2"),
    ("beforeShellExecution", ASK, {"permission": "ask"} | BOTH, "documented: caveats"),
    ("beforeMCPExecution", DENY, {"permission": "deny"} | BOTH, "documented: 2"),
    ("beforeReadFile", DENY, {"permission": "deny"} | SHOWN, "documented: 2"),
    ("beforeTabFileRead", DENY, {"permission": "deny"} | SHOWN, "documented: 3.1"),
    ("subagentStart", DENY, {"permission": "deny"} | SHOWN, "documented: 2"),
    ("beforeSubmitPrompt", DENY, {"continue": False} | SHOWN, "documented: 3.1"),
    ("beforeSubmitPrompt", Decision(outcome="deny"), {"continue": False}, "documented: 3.7"),
    ("beforeSubmitPrompt", replace(DENY, context="by the way"), {"continue": False, "additional_context": "by the way"} | SHOWN, "documented: 2"),
    ("beforeSubmitPrompt", NOTE, {"additional_context": "by the way"}, "documented: merge"),
    ("sessionStart", NOTE, {"additional_context": "by the way"}, "documented: merge"),
    ("postToolUse", NOTE, {"additional_context": "by the way"}, "documented: merge"),
    ("postToolUseFailure", NOTE, {"additional_context": "by the way"}, "documented: merge"),
    ("stop", DENY, {"followup_message": "not today"}, "documented: 2"),
    ("stop", Decision(outcome="deny"), {"followup_message": "a hook refuses this and gives no reason"}, "documented: 2"),
    ("subagentStop", DENY, {"followup_message": "not today"}, "documented: 2"),
    ("preCompact", Decision(system_message="not today"), SHOWN, "documented: 2"),
]


@pytest.mark.parametrize(("event", "decision", "expected", "source"), SAYS)
def test_a_decision_is_said_in_the_fields_of_its_event(event, decision, expected, source):
    """
    One object and exit code 0: with exit code 2 it would be shown to the user as it stands.
    """
    said = CURSOR.reply(event, decision, decision.updated_input)

    assert (expected, "", 0) == (json.loads(said.stdout), said.stderr, said.code)
    assert decision == CURSOR.read_reply(event, said)
    assert source.startswith("documented")


@pytest.mark.parametrize("given", [{"file_path": "/a", "content": "new"}, {"file_path": "/a", "content": "new", "more": 1}])
def test_what_is_to_be_written_is_refused_rather_than_left_as_it_was(given):
    """
    Cursor takes another path for a Write and keeps its content (caveats), so the old content would be written.
    """
    said = json.loads(CURSOR.reply("preToolUse", Decision(updated_input=given, context="by the way"), given).stdout)

    assert ("deny", False) == (said["permission"], "updated_input" in said)


@pytest.mark.parametrize("event", ["preToolUse", "subagentStart", "beforeMCPExecution"])
def test_a_question_that_cursor_would_pass_over_is_a_refusal(event):
    """
    It holds before a command of the shell alone; elsewhere it is accepted and nobody is asked (caveats).
    """
    decision, gaps = weaken(ASK, point_of(CURSOR, event))

    assert ("deny", ["ask"]) == (decision.outcome, [gap.capability for gap in gaps])


READS = [
    ("preToolUse", {"code": 2, "stderr": "MARK"}, Decision(outcome="deny", reason="MARK"), "3.1"),
    ("preToolUse", {"code": 2, "stdout": "MARK\n", "stderr": "other"}, Decision(outcome="deny", reason="MARK"), "3.1: stdout is told first"),
    ("preToolUse", {"code": 2}, Decision(outcome="deny"), "3.1"),
    ("preToolUse", {"code": 2, "stdout": '{"permission": "allow"}'}, Decision(outcome="deny", reason='{"permission": "allow"}'), "3.1: not parsed"),
    ("beforeTabFileRead", {"code": 2, "stderr": "MARK"}, Decision(outcome="deny", reason="MARK"), "3.1"),
    ("beforeSubmitPrompt", {"code": 2, "stderr": "MARK"}, Decision(outcome="deny", reason="MARK"), "3.1"),
    ("sessionStart", {"code": 2, "stderr": "MARK"}, Decision(outcome="deny", reason="MARK"), "3.1"),
    ("stop", {"code": 2, "stderr": "MARK"}, Decision(), "3.1: becomes {}"),
    ("subagentStop", {"code": 2, "stderr": "MARK"}, Decision(), "3.1"),
    ("postToolUse", {"code": 2, "stderr": "MARK"}, Decision(), "3.1"),
    ("preToolUse", {"code": 1, "stdout": {"permission": "deny"}}, None, "3.2"),
    ("stop", {"code": 127, "stderr": "not found"}, None, "3.2"),
    ("preToolUse", {}, Decision(), "3.3"),
    ("preToolUse", {"stdout": "{}"}, Decision(), "3.3"),
    ("preToolUse", {"stdout": "loading\n{x}\n" + '{"permission": "deny", "user_message": "MARK"}'}, Decision(outcome="deny", reason="MARK"), "3.4"),
    ("preToolUse", {"stdout": 'log {"updated_input": {"command": "ls", "env": {}}}'}, Decision(updated_input={"command": "ls", "env": {}}), "3.4"),
    ("preToolUse", {"stdout": '{"permission": "deny"}\ndone'}, UNREAD, "3.5"),
    ("preToolUse", {"stdout": "{x" * 5000 + "}"}, UNREAD, "3.5"),
    ("preToolUse", {"stdout": "allow"}, UNREAD, "3.5"),
    ("preToolUse", {"stdout": '[{"permission": "allow"}]'}, UNREAD, "3.5"),
    ("preToolUse", {"stdout": {"permission": "block"}}, UNREAD, "3.5, 3.7"),
    ("preToolUse", {"stdout": {"permission": True}}, UNREAD, "3.5, 3.7"),
    ("preToolUse", {"stdout": {"updated_input": "ls"}}, UNREAD, "3.5, 3.7"),
    ("beforeShellExecution", {"stdout": {"permission": "allow", "user_message": 1}}, UNREAD, "3.5, 3.7"),
    ("beforeReadFile", {"stdout": {"permission": "ask"}}, UNREAD, "3.5, 3.7"),
    ("subagentStart", {"stdout": "no"}, UNREAD, "3.5"),
    ("beforeSubmitPrompt", {"stdout": "no"}, None, "3.5"),
    ("beforeSubmitPrompt", {"stdout": {"continue": "no"}}, None, "3.5, 3.7"),
    ("postToolUse", {"stdout": "no"}, None, "3.5"),
    ("preToolUse", {"stdout": {"permission": "allow"}}, Decision(), "caveats: allow skips nothing"),
    ("preToolUse", {"stdout": {"permission": "allow", "updated_input": NEW}}, Decision(updated_input=NEW), "caveats"),
    ("preToolUse", {"stdout": {"permission": "deny", "updated_input": NEW}}, Decision(outcome="deny"), "caveats"),
    ("preToolUse", {"stdout": {"permission": "ask", "user_message": "MARK"}}, Decision(outcome="ask", reason="MARK"), "kept as a question, though nobody is asked"),
    ("preToolUse", {"stdout": {"permission": "deny", "user_message": "for you", "agent_message": "MARK"}}, Decision(outcome="deny", reason="MARK", system_message="for you"), "2"),
    ("preToolUse", {"stdout": {"permission": "deny", "agent_message": "MARK"}}, Decision(outcome="deny", reason="MARK"), "2"),
    ("preToolUse", {"stdout": {"continue": False}}, Decision(), "2: no field of this event"),
    ("preToolUse", {"stdout": {"hookSpecificOutput": {"permissionDecision": "deny"}}}, Decision(), "compatibility: behind a flag"),
    ("beforeShellExecution", {"stdout": {"permission": "ask"}}, Decision(outcome="ask"), "caveats"),
    ("beforeShellExecution", {"stdout": {"permission": "deny", "additional_context": "MARK"}}, Decision(outcome="deny"), "merge"),
    ("beforeSubmitPrompt", {"stdout": {"continue": False, "user_message": "MARK"}}, Decision(outcome="deny", reason="MARK"), "2"),
    ("beforeSubmitPrompt", {"stdout": {"continue": True, "user_message": "MARK"}}, Decision(), "2"),
    ("sessionStart", {"stdout": {"env": {"A": "b"}, "additional_context": "MARK"}}, Decision(context="MARK"), "2"),
    ("sessionStart", {"stdout": {"additionalContext": "MARK"}}, Decision(context="MARK"), "compatibility"),
    ("postToolUse", {"stdout": {"updated_mcp_tool_output": {"a": 1}}}, Decision(updated_output={"a": 1}), "2: of MCP tools"),
    ("stop", {"stdout": {"followup_message": "MARK"}}, Decision(outcome="deny", reason="MARK"), "2"),
    ("stop", {"stdout": {"followup_message": ""}}, Decision(), "2"),
    ("subagentStop", {"stdout": {"decision": "block", "reason": "MARK"}}, Decision(outcome="deny", reason="MARK"), "compatibility"),
    ("stop", {"stdout": {"decision": "approve", "reason": "MARK"}}, Decision(), "compatibility"),
    ("preCompact", {"stdout": {"user_message": "MARK"}}, Decision(system_message="MARK"), "2"),
    ("afterFileEdit", {"stdout": {"permission": "deny"}}, Decision(), "2"),
    ("workspaceOpen", {"stdout": {"pluginPaths": ["/p"]}}, Decision(), "2"),
]


@pytest.mark.parametrize(("event", "answer", "expected", "source"), READS)
def test_an_answer_is_read_by_the_rules_of_the_engine(event, answer, expected, source):
    """
    Exit code, text and object, each as section 3 has it; no row was seen in a run.
    """
    stdout = answer.get("stdout", "")

    read = CURSOR.read_reply(event, Reply(**answer | {"stdout": stdout if type(stdout) is str else json.dumps(stdout)}))

    assert expected == read, source


def test_silence_is_an_empty_object():
    """
    Printing nothing counts as a failure (3.3), which blocks where the entry says so.
    """
    assert "{}" == CURSOR.config.silence
    assert Decision() == CURSOR.read_reply("preToolUse", Reply(stdout=CURSOR.config.silence))


@pytest.mark.parametrize("file", GOLDENS, ids=lambda file: file.stem)
def test_a_payload_that_is_written_again_is_the_same_event(file):
    """
    Events about one kind of tool are written as the general ones, which tell the same.
    """
    golden = json.loads(file.read_text(encoding="utf-8"))
    event = decode(CURSOR, golden["payload"], golden.get("event"), id="e")

    again = decode(CURSOR, encode(CURSOR, event), golden.get("event"), id="e")

    assert to_builtins(asdict(event) | {"native": None}) == to_builtins(asdict(again) | {"native": None})


def test_an_edit_of_another_agent_is_a_write_with_its_hunk():
    """
    Cursor has one tool for both, and a hook for it looks at that name.
    """
    payload = {"session_id": "s", "cwd": "/w", "hook_event_name": "PreToolUse", "tool_name": "Edit"}
    payload |= {"tool_input": {"file_path": "/w/a.py", "old_string": "a", "new_string": "b"}}
    event = decode(agents.load("claude-code"), payload)

    made = encode(CURSOR, event)

    assert ("Write", [{"old_string": "a", "new_string": "b"}]) == (made["tool_name"], made["tool_input"]["edits"])
    assert ("file_edit", "b") == (decode(CURSOR, made).tool.name, decode(CURSOR, made).tool.input["new_text"])
