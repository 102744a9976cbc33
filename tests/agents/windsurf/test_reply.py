"""Cascade's answers, after its documentation: no run of it was possible."""

import json

import pytest
from msgspec.structs import asdict

from hookonce import agents
from hookonce.agents import config_events, decode, encode
from hookonce.errors import UnknownName
from hookonce.model import Decision, Reply
from tests.agents.test_decode_goldens import FILES, agent_of

WINDSURF, CLAUDE = agents.load("windsurf"), agents.load("claude-code")
GOLDENS = [file for file in FILES if agent_of(file) == "windsurf"]
BEFORE = [native for native in config_events(WINDSURF) if native.startswith("pre_")]
AFTER = [native for native in config_events(WINDSURF) if not native.startswith("pre_")]
REFUSED = Decision(outcome="deny", reason="not today")


@pytest.mark.parametrize("event", BEFORE)
@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (REFUSED, Reply(stderr="not today", code=2)),
        (Decision(outcome="deny"), Reply(stderr="a hook refuses this and gives no reason", code=2)),
        (Decision(reason="unheard"), Reply()),
    ],
)
def test_a_decision_is_said_as_documented(event, decision, expected):
    """
    A refusal is exit code 2 with its reason on stderr; there are words for nothing else.
    """
    assert expected == WINDSURF.reply(event, decision, None)


@pytest.mark.parametrize("event", BEFORE)
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (Reply(stderr="not today\n", code=2), REFUSED),
        (Reply(code=2), Decision(outcome="deny")),
        (Reply(stderr="not today", stdout='{"decision": "allow"}', code=2), REFUSED),
        (Reply(stdout='{"decision": "deny", "reason": "unheard"}'), Decision()),
        (Reply(stdout="a log", stderr="a log"), Decision()),
        (Reply(stderr="broken", code=1), None),
        (Reply(code=127), None),
        (Reply(code=-9), None),
    ],
)
def test_an_answer_before_an_action_is_read_as_documented(event, said, expected):
    """
    Only exit code 2 refuses, whatever is printed; any other failure lets the action pass.
    """
    assert expected == WINDSURF.read_reply(event, said)


@pytest.mark.parametrize("event", AFTER)
@pytest.mark.parametrize(("said", "expected"), [(Reply(stderr="no", code=2), None), (Reply(stdout="hello"), Decision())])
def test_an_answer_after_an_action_is_not_heard(event, said, expected):
    """
    Whatever has happened cannot be refused, and the model is told nothing of it.
    """
    assert expected == WINDSURF.read_reply(event, said)


@pytest.mark.parametrize("file", GOLDENS, ids=lambda file: file.stem)
def test_encode_is_the_inverse_of_decode(file):
    """
    A payload made from an event is the one that it was read from.
    """
    golden = json.loads(file.read_text(encoding="utf-8"))
    event = decode(WINDSURF, golden["payload"], golden.get("event"), id="e")

    made = encode(WINDSURF, event)

    assert golden["payload"] == made
    assert asdict(event) == asdict(decode(WINDSURF, made, golden.get("event"), id="e"))


def called(tool, given, event="PreToolUse", **more):
    """A call of Claude Code's."""
    payload = {"session_id": "s", "cwd": "/w", "hook_event_name": event, "tool_name": tool, "tool_input": given}
    return decode(CLAUDE, payload | more)


CALLS = [
    (called("Bash", {"command": "ls"}), "pre_run_command", {"command_line": "ls", "cwd": "/w"}),
    (called("Bash", {"command": "ls"}, "PostToolUse", tool_response={"stdout": "a", "stderr": ""}), "post_run_command", {"command_line": "ls", "cwd": "/w", "output": "a", "exit_code": 0}),
    (called("Bash", {"command": "ls"}, "PostToolUseFailure", error="Exit code 2\nno"), "post_run_command", {"command_line": "ls", "cwd": "/w", "output": "Exit code 2\nno", "exit_code": 2}),
    (called("Read", {"file_path": "/a"}), "pre_read_code", {"file_path": "/a"}),
    (called("Write", {"file_path": "/a", "content": "x"}), "pre_write_code", {"file_path": "/a", "edits": [{"old_string": "", "new_string": "x"}]}),
    (called("Edit", {"file_path": "/a", "old_string": "x", "new_string": ""}), "pre_write_code", {"file_path": "/a", "edits": [{"old_string": "x", "new_string": ""}]}),
    (called("MultiEdit", {"file_path": "/a", "edits": [{"old_string": "x", "new_string": "y"}] * 2}), "pre_write_code", {"file_path": "/a", "edits": [{"old_string": "x", "new_string": "y"}] * 2}),
    (called("mcp__git__log", {"path": "x"}), "pre_mcp_tool_use", {"mcp_server_name": "git", "mcp_tool_name": "log", "mcp_tool_arguments": {"path": "x"}}),
]


@pytest.mark.parametrize(("event", "action", "info"), CALLS)
def test_a_call_of_another_agent_is_told_by_its_kind(event, action, info):
    """
    Each kind of tool has its own event and its own details, and is read as the same call again.
    """
    made = encode(WINDSURF, event)

    assert {"agent_action_name": action, "trajectory_id": "s", "tool_info": info} == made
    assert (event.tool.name, "s") == (decode(WINDSURF, made).tool.name, made["trajectory_id"])


def test_a_patch_is_what_it_takes_out_and_puts_in():
    """
    A hook that looks at what is written sees the new lines, and the first file by its path.
    """
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-old\n+new\n same\n*** Update File: b.py\n+more\n*** End Patch"
    payload = {"session_id": "s", "turn_id": "t", "cwd": "/w", "model": "m", "hook_event_name": "PreToolUse"}
    event = decode(agents.load("codex"), payload | {"tool_name": "apply_patch", "tool_input": {"command": patch}})

    info = encode(WINDSURF, event)["tool_info"]

    assert ("a.py", [{"old_string": "old", "new_string": "new\nmore"}]) == (info["file_path"], info["edits"])


@pytest.mark.parametrize(("tool", "given"), [("Grep", {"pattern": "x"}), ("WebFetch", {"url": "u"}), ("Task", {"prompt": "p"})])
def test_a_call_that_cascade_has_no_event_for_is_named(tool, given):
    """
    Its own hooks hear nothing of searches, the web and sub-agents.
    """
    with pytest.raises(UnknownName, match="no event for the tool"):
        encode(WINDSURF, called(tool, given))


@pytest.mark.parametrize(
    ("payload", "action", "info"),
    [
        ({"hook_event_name": "UserPromptSubmit", "prompt": "hi"}, "pre_user_prompt", {"user_prompt": "hi"}),
        ({"hook_event_name": "Stop", "last_assistant_message": "done"}, "post_cascade_response", {"response": "done"}),
        ({"hook_event_name": "Stop"}, "post_cascade_response_with_transcript", {"transcript_path": "/t"}),
    ],
)
def test_another_agents_event_is_told_without_what_cascade_does_not_know(payload, action, info):
    """
    The details are those that Cascade has itself, and no others.
    """
    made = encode(WINDSURF, decode(CLAUDE, {"session_id": "s", "cwd": "/w", "transcript_path": "/t"} | payload))

    assert (action, info) == (made["agent_action_name"], made["tool_info"])
