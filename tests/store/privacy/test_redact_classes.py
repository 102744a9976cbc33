"""A field's class says what it usually holds; what does not look like that is a text like any other."""

import pytest
from msgspec import to_builtins

from hookonce import agents
from hookonce.agents import decode
from hookonce.model import Record
from hookonce.store.privacy.redact import redact

SECRET = "the key AKIA1234 stands in .env"
DENIED = {
    "hook_event_name": "PermissionDenied",
    "session_id": "s",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
}
WRITE = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Write"}
TASK = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Agent"}
END = {"hook_event_name": "SessionEnd", "session_id": "s"}


def kept(payload):
    """What is left of a payload of Claude Code at the strictest level."""
    event = decode(agents.load("claude-code"), payload)
    return to_builtins(redact(Record(event=event), "minimal", native=False))


@pytest.mark.parametrize(
    "payload",
    [
        DENIED | {"reason": SECRET},
        END | {"reason": [SECRET]},
        END | {"reason": {"a": SECRET}},
        END | {"reason": "x" * 400},
        END | {"reason": "two\nlines"},
        WRITE | {"tool_input": {"file_path": "/w/a", "files": [{"path": "/w/a", "content": SECRET}]}},
        WRITE | {"tool_input": {"file_path": {"text": SECRET}}},
        TASK | {"tool_input": {"subagent_type": SECRET}},
    ],
)
def test_a_text_in_a_harmless_place_is_left_out(payload):
    """
    Prose where a word is expected, content beside a path, and anything nested are hashed, and named as a gap.
    """
    left = kept(payload)

    assert SECRET not in str(left["event"].get("data")) + str(left["event"].get("tool"))
    assert "x" * 400 not in str(left)
    assert "two\nlines" not in str(left["event"])
    assert "hashed" in {gap["strategy"] for gap in left["gaps"] if gap["where"] != "$.event.native"}


def test_words_paths_and_commands_stay():
    """
    A reason of one word, a file with what became of it, and a command of any form are what minimal is for.
    """
    ended = kept(END | {"reason": "prompt_input_exit"})
    written = kept(
        WRITE | {"tool_input": {"file_path": "/w/my notes.md", "files": [{"path": "a b", "operation": "create"}]}}
    )
    denied = kept(DENIED | {"reason": "classifier_blocked", "tool_input": {"command": "echo 'a  b'\nls"}})

    assert "prompt_input_exit" == ended["event"]["data"]["reason"]
    assert {"path": "/w/my notes.md", "files": [{"path": "a b", "operation": "create"}]} == written["event"]["tool"][
        "input"
    ]
    assert "classifier_blocked" == denied["event"]["data"]["reason"]
    assert {"command": "echo 'a  b'\nls"} == denied["event"]["tool"]["input"]


def test_what_holds_no_text_is_no_gap():
    """
    An empty list and numbers in a list are as they were, and nothing says otherwise.
    """
    payload = {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "tool_name": "Odd",
        "tool_input": {"a": [], "b": [1, None]},
    }
    left = kept(payload)

    assert {"a": [], "b": [1, None]} == left["event"]["tool"]["input"]
    assert ["$.event.native"] == [gap["where"] for gap in left["gaps"]]
