"""Whose payload it is, by evidence alone."""

import json

import pytest

from hookonce import agents, formats
from hookonce.dispatch.identification import identify, payload_event
from hookonce.dispatch.request import call_request
from hookonce.dispatch.request.call_request import CallArguments, parse_request
from hookonce.errors import PayloadError
from tests.cli.command import PAYLOAD
from tests.formats.material import documents, payloads, records

PAYLOADS = list(payloads())
MARKS = {mark: name for name in agents.AGENTS for mark in agents.load(name).env_markers}


def test_nobody_is_named_wrongly():
    """
    No payload at all, captured or documented, is taken for another agent's or for a format.
    """
    wrong = [(agent, found.name) for agent, _, payload in PAYLOADS if (found := identify(payload)).name not in {agent, None}]

    assert [] == wrong


@pytest.mark.parametrize("mark", ["CLAUDECODE", "GEMINI_CWD", "QWEN_PROJECT_DIR", "FACTORY_PROJECT_DIR", "COPILOT_CLI"])
def test_an_inherited_mark_misnames_nobody(mark):
    """
    An agent that was started from within another one inherits its marks, and its payloads keep their name.
    """
    wrong = [
        (agent, found.name)
        for agent, _, payload in PAYLOADS
        if (found := identify(payload, {mark: "1"})).name not in {agent, None}
    ]

    assert [] == wrong


@pytest.mark.parametrize("mark", sorted(MARKS))
def test_a_mark_is_weaker_than_the_payload(mark):
    """
    What a payload says of itself is believed whatever the environment says.
    """
    proven = [payload for _, _, payload in PAYLOADS if identify(payload).kind == "agent"][::5]

    assert [identify(payload).name for payload in proven] == [identify(payload, {mark: "1"}).name for payload in proven]


def test_a_mark_decides_where_the_payload_is_open():
    """
    A transcript in an unusual place leaves the agent open; then its own mark decides, and two marks do not.
    """
    moved = PAYLOAD | {"transcript_path": "/etc/elsewhere/s1.jsonl"}

    assert None is identify(moved).name
    assert "claude-code" == identify(moved, {"CLAUDECODE": "1"}).name
    assert None is identify(moved, {"CLAUDECODE": "1", "QWEN_PROJECT_DIR": "/p"}).name
    assert None is identify(moved | {"transcript_path": None}, {"CLAUDECODE": "1"}).name
    assert "devin" == identify({"hook_event_name": "Stop"}, {"CLAUDECODE": "1", "DEVIN_PROJECT_DIR": "/p"}).name


SIGNS = [
    ({"hook_event_name": "Stop", "transcript_path": "/h/.codex/sessions/a.jsonl"}, "codex", "transcript_path lies in .codex"),
    ({"hook_event_name": "Stop", "transcript_path": "C:\\Users\\d\\.claude\\a.jsonl"}, "claude-code", "transcript_path lies in .claude"),
    ({"hook_event_name": "Stop", "transcript_path": "/h/.claude/x/.qwen-not/a"}, "claude-code", "transcript_path lies in .claude"),
    ({"hook_event_name": "stop", "cursor_version": "3.1"}, "cursor", "has cursor_version"),
    ({"agent_action_name": "pre_run_command"}, "windsurf", "has agent_action_name"),
    ({"clineVersion": "3", "hookName": "PreToolUse"}, "cline", "has clineVersion"),
    ({"hook": "tool.execute.before", "input": {}}, "opencode", "has hook and input"),
    ({"hook_event_name": "Stop", "turn_id": "t", "model": "m"}, "codex", "has model and turn_id"),
    ({"hook_event_name": "UserPromptSubmit", "submitted_prompt": "x"}, "qwen-code", "has submitted_prompt"),
    ({"hook_event_name": "Stop", "permission_mode": "acceptEdits"}, "claude-code", "permission_mode acceptEdits is its own"),
    ({"hook_event_name": "Stop", "permission_mode": "yolo"}, "qwen-code", "permission_mode yolo is its own"),
]


@pytest.mark.parametrize(("payload", "name", "reason"), SIGNS, ids=[reason for *_, reason in SIGNS])
def test_signs(payload, name, reason):
    """
    Directories, keys and modes that only one agent has name it, and the sign is told.
    """
    found = identify(payload)

    assert ("agent", name, [reason]) == (found.kind, found.name, found.evidence)


@pytest.mark.parametrize("payload", [None, True, 7, 1.5, "text", [], [PAYLOAD]])
def test_only_objects_are_anybodys(payload):
    """
    Anything but an object is unknown, and what it is instead is said.
    """
    found = identify(payload, {"CLAUDECODE": "1"})

    assert ("unknown", None, []) == (found.kind, found.name, found.candidates)
    assert found.evidence[0].startswith("expected a JSON object, got ")


def test_candidates_are_those_who_have_such_an_event():
    """
    Without a sign all agents are named that know the event, and no other.
    """
    found = identify({"hook_event_name": "PermissionDenied"})

    knowing = [
        name
        for name in agents.AGENTS
        if payload_event(agents.load(name), {"hook_event_name": "PermissionDenied"})
        and "PermissionDenied" in agents.load(name).events
    ]
    assert ("unknown", None) == (found.kind, found.name)
    assert set(knowing) <= set(found.candidates)
    assert ["hook_event_name alone is not enough"] == found.evidence


def test_wrong_types_in_signs_are_no_signs():
    """
    A sign of a wrong type is none and breaks nothing.
    """
    for wrong in (None, 1, [], {}, True, "", ["/h/.claude/a"]):
        for key in ("transcript_path", "permission_mode", "hook_event_name", "hook", "timestamp", "agent_action_name"):
            identify({"hook_event_name": "Stop"} | {key: wrong}, dict.fromkeys(MARKS, "1"))
    assert None is identify({"hook_event_name": "Stop", "transcript_path": ["/h/.claude/a"]}).name


@pytest.mark.part(2)
@pytest.mark.parametrize("name", list(formats.FORMATS))
def test_documents_are_their_formats(name):
    """
    Every document that a format writes is recognised as its own and by no other format.
    """
    for record in list(records())[::7]:
        for document in documents(name, record):
            assert ("format", name) == ((found := identify(document)).kind, found.name)
            assert [name] == formats.recognise(document)


def test_the_event_is_told_in_both_vocabularies():
    """
    A named payload tells its native event and the canonical one, an unknown event as vendor's.
    """
    known, new = (identify(PAYLOAD | {"hook_event_name": event}) for event in ("PreToolUse", "Brand New"))

    assert ("PreToolUse", "before_tool_execute") == (known.event, known.type)
    assert ("Brand New", "vendor.claude-code.Brand New") == (new.event, new.type)


def test_a_nameless_payload_of_a_known_agent_has_candidate_events():
    """
    Where the agent is known and the event is not, its events are the candidates.
    """
    found = identify({"transcript_path": "/h/.claude/projects/a.jsonl"})

    assert ("claude-code", None, None) == (found.name, found.event, found.type)
    assert list(agents.load("claude-code").events) == found.candidates


CLAIMS = [("claude-code", "PreToolUse"), ("gemini-cli", "BeforeTool"), ("cursor", "preToolUse"), ("codex", "Stop"), ("kiro", None), ("openhook", None)]
VALUES = ["", 7, True, None, [], {}, "default", "dontAsk", "yolo", "PreToolUse", "Stop", "/home/dev/.gemini/tmp/s.json", "/home/dev/.claude/projects/s.jsonl"]


def understood(claim, payload):
    """What a call is taken for, or why it is not."""
    try:
        request = parse_request(CallArguments(*claim), json.dumps(payload).encode())
    except PayloadError as problem:
        return str(problem)
    return request.agent.name, request.native, request.event.type, request.budget_s, request.document is None


@pytest.mark.parametrize("claim", CLAIMS)
def test_who_is_remembered_is_who_would_be_found(monkeypatch, claim):
    """
    By whatever else differs: each payload, and each with one value changed, after all the others and alone.
    """
    samples = list({tuple(payload): payload for _, _, payload in PAYLOADS}.values())
    changed = [payload | {key: value} for payload in samples for key in payload for value in VALUES]
    moved = [PAYLOAD | {"transcript_path": place, "permission_mode": mode, "hook_event_name": name, "type": name} for place in VALUES for mode in VALUES for name in ("Stop", "PreToolUse")]
    calls = [payload for _, _, payload in PAYLOADS] + changed[::37] + moved
    monkeypatch.setattr(call_request, "_senders", {})
    together = [understood(claim, payload) for payload in calls]
    remembered = len(call_request._senders)
    monkeypatch.setattr(call_request, "_MAX_KEY_CHARS", 0)
    monkeypatch.setattr(call_request, "_senders", {})

    assert [understood(claim, payload) for payload in calls] == together
    assert bool(remembered) == (claim[0] in {"claude-code", "codex", "openhook"})
    assert not call_request._senders


def test_what_is_remembered_is_bounded(monkeypatch):
    """
    Names in a payload are anybody's.
    """
    monkeypatch.setattr(call_request, "_senders", {})
    for number in range(600):
        understood(CLAIMS[0], PAYLOAD | {f"key{number}": 1})
    count = len(call_request._senders)
    understood(CLAIMS[0], PAYLOAD | {"x" * 5000: 1})

    assert 0 < count <= 256
    assert count == len(call_request._senders)
