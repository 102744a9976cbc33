"""What a stream tells that no single payload does."""

import json

from hookonce import agents, formats
from hookonce.base.json_stream import StreamLine
from hookonce.translation.pipeline import Translation, TranslationPlan

GEMINI = {"session_id": "g", "cwd": "/w", "timestamp": "2026-01-01T00:00:00Z"}
SHELL = {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
OTHER = {"tool_name": "run_shell_command", "tool_input": {"command": "pwd"}}
WORKER = {"tool_name": "invoke_agent", "tool_input": {"agent_name": "helper", "prompt": "do"}}


def events(agent, *payloads):
    """The events of a stream of one agent's payloads."""
    walk = Translation(TranslationPlan(source=agents.load(agent), target=formats.load("canonical"), level="full"))
    made = [walk.translate_line(StreamLine(number, json.dumps(payload).encode())) for number, payload in enumerate(payloads, 1)]
    return [document["event"] for documents in made for document in documents]


def before(call):
    return GEMINI | call | {"hook_event_name": "BeforeTool"}


def after(call):
    return GEMINI | call | {"hook_event_name": "AfterTool", "tool_response": {"llmContent": "done"}}


def test_an_outcome_without_an_id_belongs_to_the_oldest_open_call():
    """
    Same session, tool and input, oldest first; marked as a guess.
    """
    first, second, other, done, again, odd = events(
        "gemini-cli", before(SHELL), before(SHELL), before(OTHER), after(SHELL), after(SHELL), after(SHELL)
    )

    assert (first.id, second.id, None) == (done.caused_by, again.caused_by, odd.caused_by)
    assert (["caused_by"], None) == (done.data["guessed"], odd.data.get("guessed"))
    assert other.caused_by is None


def test_calls_inside_an_agent_call_are_its_sub_agents():
    """
    Between the beginning and the end of a call that starts an agent, calls are guessed to be that agent's.
    """
    _, inner, inner_done, _, outer = events(
        "gemini-cli", before(WORKER), before(SHELL), after(SHELL), after(WORKER), before(SHELL)
    )

    assert (inner.subagent, inner.data["guessed"]) == (inner_done.subagent, ["subagent"])
    assert inner.id == inner_done.caused_by
    assert outer.subagent is None


def test_a_call_with_an_id_needs_no_guess():
    """
    Agents that number their calls are left alone.
    """
    payload = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}
    _, done = events(
        "claude-code",
        payload | {"hook_event_name": "PreToolUse"},
        payload | {"hook_event_name": "PostToolUse", "tool_response": {"stdout": "", "stderr": ""}},
    )

    assert (None, None) == (done.caused_by, done.data.get("guessed"))


def test_a_session_that_begins_again_without_a_reason_is_a_repeat():
    """
    Cline says at each turn that a task starts; only the first of a session counts.
    """
    start = {"hookName": "agent_start", "taskId": "c1", "sessionContext": {"rootSessionId": "r1"}, "clineVersion": "3"}
    first, second, other = events("cline", start, start | {"taskId": "c2"}, start | {"sessionContext": {"rootSessionId": "r2"}})

    assert [None, True, None] == [event.data.get("repeat") for event in (first, second, other)]


def test_a_resumed_session_is_no_repeat():
    """
    A start that gives its reason stays a start.
    """
    start = {"session_id": "s", "hook_event_name": "SessionStart", "source": "startup"}
    made = events("claude-code", start, start | {"source": "resume"})

    assert [None, None] == [event.data.get("repeat") for event in made]


def bus(kind, **properties):
    return {"hook": "event", "input": {"event": {"type": kind, "properties": properties}}, "output": None}


def test_what_a_sub_agents_own_session_ends_is_the_sub_agent():
    """
    OpenCode names the parent only where such a session begins; the parent's own turn ends as ever.
    """
    *_, inner, outer = events(
        "opencode",
        bus("session.created", info={"id": "ses_1"}),
        bus("session.created", info={"id": "ses_2", "parentID": "ses_1"}),
        bus("session.idle", sessionID="ses_2"),
        bus("session.idle", sessionID="ses_1"),
    )

    assert ("subagent_stop", "ses_1", ["type"]) == (inner.type, inner.parent_session, inner.data["guessed"])
    assert ("ses_2", "ses_1") == (inner.subagent.id, inner.subagent.parent)
    assert ("agent_stop", None) == (outer.type, outer.data.get("guessed"))
