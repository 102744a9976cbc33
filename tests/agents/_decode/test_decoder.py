"""Payloads that say something else than their entry, or in other types than everybody does."""

import pytest

from hookonce import agents
from hookonce.agents import decode
from hookonce.errors import PayloadError
from tests.cli.command import PAYLOAD

CLAUDE = agents.load("claude-code")


def test_the_payload_s_own_word_counts_and_that_its_entry_says_otherwise_is_told():
    """
    Unless the entry is certain; another spelling of the same event is no contradiction.
    """
    here, there = decode(CLAUDE, PAYLOAD, "PreToolUse"), decode(CLAUDE, PAYLOAD, "PostToolUse")
    spelled = decode(CLAUDE, PAYLOAD, "pre_tool_use")
    certain = decode(CLAUDE, PAYLOAD, "PostToolUse", is_certain=True)

    assert ["before_tool_execute"] * 3 + ["after_tool_execute"] == [one.type for one in (here, there, spelled, certain)]
    assert [None, "PostToolUse", None, None] == [one.data.get("called_through") for one in (here, there, spelled, certain)]


@pytest.mark.parametrize(("key", "slot"), [("cwd", "cwd"), ("model", "model"), ("prompt", "prompt"), ("prompt_id", "turn")])
@pytest.mark.parametrize("value", [5, ["a"], {"a": 1}, True])
def test_a_value_of_another_type_is_kept_beside_the_event(key, slot, value):
    """
    It is no reason to refuse the event, and is not lost.
    """
    event = decode(CLAUDE, PAYLOAD | {key: value})

    assert (None, value) == (getattr(event, slot), event.data[slot])
    assert "shell" == event.tool.name


@pytest.mark.parametrize("value", [5, ["s"], True, {}])
def test_a_session_is_a_text(value):
    """
    By it calls belong together: nothing else is taken for one.
    """
    with pytest.raises(PayloadError) as refused:
        decode(CLAUDE, PAYLOAD | {"session_id": value})

    assert "$.session_id" == refused.value.path


def test_a_failed_tool_is_never_ok():
    """
    Whatever else its result says.
    """
    failed = PAYLOAD | {"hook_event_name": "PostToolUseFailure", "tool_response": {"stdout": "done"}}

    assert [False, False] == [decode(CLAUDE, payload).tool.result.ok for payload in (failed, failed | {"duration_ms": 7})]


def test_a_command_that_was_interrupted_has_no_exit_code():
    """
    It is no success, and nobody knows what it would have ended with.
    """
    ended = PAYLOAD | {"hook_event_name": "PostToolUse", "tool_response": {"stdout": "a", "interrupted": False}}
    cut = ended | {"tool_response": {"stdout": "a", "interrupted": True}}

    assert [(True, 0), (False, None)] == [(result.ok, result.exit_code) for result in (decode(CLAUDE, one).tool.result for one in (ended, cut))]


@pytest.mark.parametrize(("more", "actor"), [({}, "user"), ({"source": "user"}, "user"), ({"source": "sdk"}, "user"), ({"source": "timer"}, "ai_agent"), ({"agent_id": "a1"}, "ai_agent")])
def test_a_prompt_is_a_person_s_unless_it_says_otherwise(more, actor):
    """
    Timers prompt too, and so do agents their sub-agents.
    """
    prompt = {key: value for key, value in PAYLOAD.items() if not key.startswith("tool")} | {"hook_event_name": "UserPromptSubmit", "prompt": "hi"}

    assert actor == decode(CLAUDE, prompt | more).actor.type


@pytest.mark.covers("HIF-98")
def test_a_task_of_cline_that_goes_on_is_a_session_that_was_resumed():
    """
    Two events of Cline are one of ours; what tells them apart is why the session starts.
    """
    tasks = [{"hookName": name, "taskId": "t", key: {"taskMetadata": {}}} for name, key in (("TaskStart", "taskStart"), ("TaskResume", "taskResume"))]

    assert [("session_start", None), ("session_start", "resume")] == [(one.type, one.data.get("source")) for one in (decode(agents.load("cline"), task) for task in tasks)]
