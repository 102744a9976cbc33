"""Kiro's answers, of three generations.

The last column is where a row comes from: "measured" are the tables of live runs of IDE 1.1.14 and 1.2.37 that were
published (facts on Kiro, section 1), "documented" is the vendor's word alone (sections 2 and 3: agent files of the
command line up to 2 and of Amazon Q, hook files of the IDE before 1.0).
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from hookonce import agents
from hookonce.agents import config_events, decode, encode, point_of
from hookonce.base.terminal_text import escape_data
from hookonce.model import Decision, Reply
from hookonce.vocabulary.decision_merge import weaken
from tests.agents.test_decode_goldens import FILES, agent_of

KIRO, CLAUDE = agents.load("kiro"), agents.load("claude-code")
GOLDENS = [file for file in FILES if agent_of(file) == "kiro"]
OLDER = [native for native in KIRO.config.points if native not in config_events(KIRO)]
UNSAID = "a hook refuses this and gives no reason"
DENY = Decision(outcome="deny", reason="not today")
NOTE = Decision(context="by the way")
BLOCK = '{"decision":"block","reason":"not today"}'

SAYS = [
    ("PreToolUse", DENY, Reply(stderr="not today", code=2), "measured"),
    ("PreToolUse", Decision(outcome="deny"), Reply(stderr=UNSAID, code=2), "measured"),
    ("UserPromptSubmit", DENY, Reply(stderr="not today", code=2), "documented"),
    ("UserPromptSubmit", replace(DENY, context="by the way"), Reply(stderr="not today\n\nContext: by the way", code=2), "documented"),
    ("UserPromptSubmit", NOTE, Reply(stdout="by the way"), "measured"),
    ("SessionStart", NOTE, Reply(stdout="by the way"), "measured"),
    ("PostToolUse", Decision(reason="unheard"), Reply(), "measured"),
    ("preToolUse", DENY, Reply(stderr="not today", code=2), "documented"),
    ("userPromptSubmit", NOTE, Reply(stdout="by the way"), "documented"),
    ("agentSpawn", NOTE, Reply(stdout="by the way"), "documented"),
    ("stop", DENY, Reply(stdout=BLOCK), "documented"),
    ("stop", Decision(outcome="deny"), Reply(stdout=BLOCK.replace("not today", UNSAID)), "documented"),
    ("promptSubmit", DENY, Reply(stderr="not today", code=2), "documented"),
    ("promptSubmit", NOTE, Reply(stdout="by the way"), "documented"),
]
READS = [
    ("PreToolUse", Reply(stderr="not today\n", code=2), DENY, "measured"),
    ("PreToolUse", Reply(stdout="not today", code=2), None, "measured"),
    ("PreToolUse", Reply(stderr="not today", code=1), None, "measured"),
    ("PreToolUse", Reply(stdout=BLOCK), Decision(), "measured"),
    ("PreToolUse", Reply(stdout='{"hookSpecificOutput": {"permissionDecision": "deny"}}'), Decision(), "measured"),
    ("PreToolUse", Reply(stdout=BLOCK, stderr="not today", code=2), DENY, "documented"),
    ("PreToolUse", Reply(code=-9), None, "documented"),
    ("UserPromptSubmit", Reply(stdout="by the way\n"), NOTE, "measured"),
    ("UserPromptSubmit", Reply(stdout='{"decision": "block"}'), Decision(context='{"decision": "block"}'), "measured"),
    ("UserPromptSubmit", Reply(stdout="unheard", stderr="not today", code=2), DENY, "documented"),
    ("UserPromptSubmit", Reply(stdout="by the way", code=1), None, "measured"),
    ("SessionStart", Reply(stdout="by the way\n"), NOTE, "measured"),
    ("SessionStart", Reply(stderr="not today", code=2), None, "documented"),
    ("PostToolUse", Reply(stdout="by the way"), Decision(), "measured"),
    ("PostToolUse", Reply(stderr="not today", code=2), None, "measured"),
    ("Stop", Reply(stdout=BLOCK), Decision(), "measured"),
    ("Stop", Reply(stderr="not today", code=2), None, "measured"),
    ("PreTaskExec", Reply(stderr="by the way", code=2), NOTE, "measured"),
    ("PreTaskExec", Reply(stdout="by the way"), Decision(), "measured"),
    ("PostFileSave", Reply(), Decision(), "documented"),
    ("preToolUse", Reply(stderr="not today", code=2), DENY, "documented"),
    ("preToolUse", Reply(code=2), Decision(outcome="deny"), "documented"),
    ("preToolUse", Reply(stderr="a warning", code=1), None, "documented"),
    ("userPromptSubmit", Reply(stderr="a warning", code=2), None, "documented"),
    ("userPromptSubmit", Reply(stdout="by the way"), NOTE, "documented"),
    ("agentSpawn", Reply(stdout="by the way"), NOTE, "documented"),
    ("postToolUse", Reply(stderr="a warning", code=2), None, "documented"),
    ("stop", Reply(stdout=BLOCK), DENY, "documented"),
    ("stop", Reply(stdout='{"decision": "block", "reason": 5}'), Decision(), "documented"),
    ("stop", Reply(stdout="all done"), Decision(), "documented"),
    ("stop", Reply(stderr="a warning", code=2), None, "documented"),
    ("promptSubmit", Reply(stderr="not today", code=1), DENY, "documented"),
    ("promptSubmit", Reply(stdout="by the way"), NOTE, "documented"),
    ("agentStop", Reply(), Decision(), "documented"),
]


@pytest.mark.parametrize(("event", "decision", "expected", "provenance"), SAYS)
def test_a_decision_is_said_as_kiro_honours_it(event, decision, expected, provenance):
    """
    A refusal is exit code 2 and never without a word on stderr, which would let the tool run.
    """
    assert expected == KIRO.reply(event, decision, None)
    assert provenance in {"measured", "documented"}


@pytest.mark.parametrize(("event", "said", "expected", "provenance"), READS)
def test_an_answer_is_read_as_kiro_understands_it(event, said, expected, provenance):
    """
    Exit codes and plain text count, each at its event; objects count nowhere but at the stop of CLI 2.
    """
    assert expected == KIRO.read_reply(event, said)
    assert provenance in {"measured", "documented"}


words = st.text(min_size=1).map(lambda text: escape_data(f"because {text.strip()}."))  # nothing that a terminal obeys goes out
decisions = st.builds(
    Decision,
    outcome=st.sampled_from([None, "allow", "ask", "deny"]),
    reason=words,
    context=st.none() | words,
    updated_input=st.none() | st.just({"prompt": "new"}),
    proceed=st.sampled_from([None, False]),
).map(lambda one: one if one.outcome or one.proceed is False else replace(one, reason=None))


@given(decision=decisions)
def test_an_answer_is_read_as_it_was_meant(decision):
    """
    Under the names of older files too.
    """
    for event in [*OLDER, "UserPromptSubmit"]:
        meant, _ = weaken(decision, point_of(KIRO, event), {"prompt": "old"})
        if meant != Decision():
            assert replace(meant, by=None) == KIRO.read_reply(event, KIRO.reply(event, meant, None)), event


@pytest.mark.parametrize("file", GOLDENS, ids=lambda file: file.stem)
def test_encode_is_the_inverse_of_decode(file):
    """
    A payload made from an event is read as the same event, whichever generation it came from.
    """
    golden = json.loads(file.read_text(encoding="utf-8"))
    event = decode(KIRO, golden["payload"], golden.get("event"), id="e")

    again = decode(KIRO, encode(KIRO, event), golden.get("event"), id="e")

    assert asdict(replace(event, native=None)) == asdict(replace(again, native=None))


@pytest.mark.parametrize("file", [file for file in GOLDENS if "ide0" not in file.stem and "deferred" not in file.stem], ids=lambda file: file.stem)
def test_a_payload_that_kiro_wrote_comes_out_as_it_was(file):
    """
    But for the oldest generation, which had other keys, a script gets what it would get without us.
    """
    golden = json.loads(file.read_text(encoding="utf-8"))

    assert golden["payload"] == encode(KIRO, decode(KIRO, golden["payload"], golden.get("event"), id="e"))


def called(tool, given, event="PreToolUse", **more):
    """A call of Claude Code's."""
    payload = {"session_id": "s", "cwd": "/w", "hook_event_name": event, "tool_name": tool, "tool_input": given}
    return decode(CLAUDE, payload | more)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (called("Bash", {"command": "ls"}), {"tool_name": "execute_bash", "tool_input": {"command": "ls"}}),
        (called("Write", {"file_path": "/a", "content": "x"}), {"tool_name": "fs_write", "tool_input": {"path": "/a", "text": "x"}}),
        (called("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"}), {"tool_name": "str_replace", "tool_input": {"path": "/a", "oldStr": "x", "newStr": "y"}}),
        (called("Grep", {"pattern": "x"}), {"tool_name": "grep_search", "tool_input": {"query": "x"}}),
        (called("mcp__git__log", {"path": "x"}), {"tool_name": "@git/log", "tool_input": {"path": "x"}}),
        (called("Bash", {"command": "ls"}, "PostToolUse", tool_response={"stdout": "a", "stderr": ""}), {"tool_response": "Output:\na\n\nExit Code: 0"}),
        (called("Bash", {"command": "ls"}, "PostToolUseFailure", error="Exit code 2\nno"), {"hook_event_name": "PostToolUse", "tool_response": "Output:\nExit code 2\nno\n\nExit Code: 2"}),
        (called("Read", {"file_path": "/a"}, "PostToolUseFailure", error="no such file"), {"tool_response": "no such file", "toolSuccess": False}),
    ],
)
def test_a_call_of_another_agent_is_told_in_kiros_words(event, expected):
    """
    A tool, its arguments and its outcome stand where a script for Kiro looks, and are read as the same call again.
    """
    made = encode(KIRO, event)
    again = decode(KIRO, made)

    assert expected == {key: made.get(key) for key in expected}
    assert (event.tool.name, event.tool.input) == (again.tool.name, again.tool.input)
    assert event.tool.result is None or event.tool.result.ok == again.tool.result.ok


def test_a_folder_is_listed_by_a_tool_of_its_own():
    """
    To find without a pattern is to list a folder.
    """
    event = decode(agents.load("gemini-cli"), {"hook_event_name": "BeforeTool", "session_id": "s", "tool_name": "list_directory", "tool_input": {"dir_path": "/a"}})

    made = encode(KIRO, event)

    assert ("find", "list_directory", {"path": "/a"}) == (event.tool.name, made["tool_name"], made["tool_input"])
