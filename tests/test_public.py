"""The names that others import."""

import pytest

import hookonce

PAYLOAD = {"session_id": "s", "cwd": "/w", "hook_event_name": "UserPromptSubmit", "prompt": "my secret"}


def test_one_payload_becomes_plain_documents():
    """
    translate gives JSON objects with an id, private unless told otherwise.
    """
    (document,) = hookonce.translate(PAYLOAD, "claude-code", "agent-hooks")
    (open_one,) = hookonce.translate(PAYLOAD, "claude-code", "agent-hooks", privacy="full")

    assert ("Prompt.Submitted", 9) == (document["event_type"], document["data"]["prompt_length"])
    assert "my secret" not in str(document)
    assert "my secret" == open_one["data"]["prompt_text"]


def test_an_agent_is_a_target_too():
    """
    translate gives another agent's payload.
    """
    (payload,) = hookonce.translate(PAYLOAD, "claude-code", "gemini-cli", privacy="full")

    assert ("BeforeAgent", "my secret") == (payload["hook_event_name"], payload["prompt"])


def test_an_unknown_level_of_privacy_is_refused():
    """
    A misspelt level is an error and never the most open one.
    """
    event = hookonce.decode(hookonce.agents.load("claude-code"), PAYLOAD)

    with pytest.raises(ValueError, match="minimal, standard, full"):
        hookonce.redact(hookonce.Record(event=event), "Minimal")


def test_hooks_and_agents_are_written_with_what_the_root_has():
    """
    The words of a hook, and the one of an agent, come from one place.
    """
    from hookonce import Emitter, allow, ask, context, deny, hook, rewrite

    assert all(callable(one) for one in (Emitter, hook, deny, ask, allow, context, rewrite))
    assert hookonce.Decision(outcome="deny", reason="no") == deny("no")
