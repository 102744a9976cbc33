"""What was decided, and how dangerous it looked, goes out with what it was about."""

import json
import re

import pytest

from hookonce.model import Decision, Risk, Stored
from hookonce.store.entry import build_entry
from hookonce.store.writer import Writer
from tests.cli.command import PAYLOAD, run
from tests.store.rows import stored

PROMPT = {key: value for key, value in PAYLOAD.items() if not key.startswith("tool")} | {"hook_event_name": "UserPromptSubmit", "prompt": "do it"}


def exported(home):
    """The stored events as Agent Hooks has them."""
    ran = run("events", "--format", "agent-hooks", HOME=str(home))
    assert 0 == ran.code, ran.err
    return ran.documents()


def told(home, kind):
    """The one stored event of a type."""
    (found,) = (one for one in exported(home) if one["event_type"] == kind)
    return found


def refuse(home, *payloads):
    """Tell of each payload where a hook refuses every call and prompt; what Claude Code is answered."""
    place = home / ".config/hookonce"
    place.mkdir(parents=True)
    handler = {"type": "command", "command": "echo not today >&2; exit 2"}
    hooks = [{"name": "no", "event": kind, "blocking": True, "handler": handler} for kind in ("before_tool_execute", "before_prompt")]
    (place / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": hooks}))
    calls = [("on", "claude-code", payload["hook_event_name"], json.dumps(payload).encode()) for payload in payloads]
    return [json.loads(run(*words, given=given, HOME=str(home)).out) for *words, given in calls]


@pytest.mark.covers("AH-34")
def test_a_refusal_is_exported_with_its_reason(tmp_path):
    """
    Of a call, as a hook has refused it, and as Claude Code has heard it; a risk is told only where somebody gave one.
    """
    (answer,) = refuse(tmp_path, PAYLOAD)
    found = told(tmp_path, "Action.Before")

    assert {"name": "shell", "input": {"command": "ls"}} == found["data"]["action"]
    assert {"outcome": "deny", "reason": "not today"} == found["data"]["decision"]
    assert "risk" not in found
    assert ("deny", "not today") == tuple(answer["hookSpecificOutput"][name] for name in ("permissionDecision", "permissionDecisionReason"))


@pytest.mark.covers("AH-26")
def test_a_prompt_is_exported_by_its_hash_and_can_be_refused(tmp_path):
    """
    Three prompts of a session: hash and length, whether they follow another, and the refusal. No file has their text.
    """
    texts = ["rewrite the parser", "now, please", "rewrite the parser"]
    answers = refuse(tmp_path, *(PROMPT | {"prompt": text} for text in texts))
    found = [one["data"] for one in exported(tmp_path) if one["event_type"] == "Prompt.Submitted"]

    assert [False, True, True] == [data["is_followup"] for data in found]
    assert [18, 11, 18] == [data["prompt_length"] for data in found]
    hashes = [data["prompt_hash"] for data in found]
    assert hashes[0] == hashes[2] != hashes[1]
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", one) for one in hashes)
    assert [{"outcome": "deny", "reason": "not today"}] * 3 == [data["decision"] for data in found]
    assert [("block", "not today")] * 3 == [(answer["decision"], answer["reason"]) for answer in answers]
    files = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert not any(text.encode() in data for data in (*files, json.dumps(found).encode()) for text in texts)


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

    call = told(tmp_path, "Action.Before")
    assert {"score": 90, "level": "critical", "factors": ["recursive removal"]} == call["risk"]
    assert {"outcome": "ask"} == call["data"]["decision"]
    assert "decision" not in told(tmp_path, "Prompt.Submitted").get("data", {})
