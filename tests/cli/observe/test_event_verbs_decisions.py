"""What was decided, and how dangerous it looked, goes out with what it was about."""

import json

import pytest

from hookonce.model import Decision, Risk, Stored
from hookonce.store.entry import build_entry
from hookonce.store.writer import Writer
from tests.cli.command import PAYLOAD, run
from tests.store.rows import stored

PROMPT = {key: value for key, value in PAYLOAD.items() if not key.startswith("tool")} | {"hook_event_name": "UserPromptSubmit", "prompt": "do it"}


def exported(home):
    """The stored events as Agent Hooks has them, by their type."""
    ran = run("events", "--format", "agent-hooks", HOME=str(home))
    assert 0 == ran.code, ran.err
    return {one["event_type"]: one for one in ran.documents()}


@pytest.mark.covers("AH-34")
def test_a_refusal_is_exported_with_its_reason(tmp_path):
    """
    Of a call and of a prompt, as hooks have refused them.
    """
    place = tmp_path / ".config/hookonce"
    place.mkdir(parents=True)
    handler = {"type": "command", "command": "echo not today >&2; exit 2"}
    hooks = [{"name": "no", "event": kind, "blocking": True, "handler": handler} for kind in ("before_tool_execute", "before_prompt")]
    (place / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": hooks}))
    for payload in (PAYLOAD, PROMPT):
        run("on", "claude-code", payload["hook_event_name"], given=json.dumps(payload).encode(), HOME=str(tmp_path))
    found = exported(tmp_path)

    assert {"name": "shell", "input": {"command": "ls"}} == found["Action.Before"]["data"]["action"]
    for kind in ("Action.Before", "Prompt.Submitted"):
        assert {"outcome": "deny", "reason": "not today"} == found[kind]["data"]["decision"]
    assert "do it" not in json.dumps(found)


@pytest.mark.covers("AH-34")
def test_a_risk_is_exported_beside_the_decision(tmp_path, monkeypatch):
    """
    Score, level and what speaks for it; no opinion is no decision.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    event, risk = stored().event, Risk(score=90, level="critical", factors=["recursive removal"])
    with Writer() as writer:
        writer.append([build_entry(Stored(event=event, decision=Decision(outcome="ask"), risk=risk, level="minimal"))])
        writer.append([build_entry(Stored(event=stored(1, type="before_prompt", tool=None).event, decision=Decision(), level="minimal"))])
    found = exported(tmp_path)

    assert {"score": 90, "level": "critical", "factors": ["recursive removal"]} == found["Action.Before"]["risk"]
    assert {"outcome": "ask"} == found["Action.Before"]["data"]["decision"]
    assert "decision" not in found["Prompt.Submitted"].get("data", {})
