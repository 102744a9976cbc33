"""Extensions may add; they never override the envelope, and never say who it was or what was decided."""

import json

import pytest
from msgspec import to_builtins
from msgspec.structs import asdict

from hookonce import agents
from hookonce.agents._decode.decoder import decode
from hookonce.formats._shared.rest import EXTENSION_KEY
from hookonce.model import Actor, Decision, Record, Risk
from tests.formats.material import EXACT, documents, walk
from tests.formats.openhook.material import DOCUMENTS, END, ID, OPENHOOK, found, run

FAILED = {"hook_event_name": "PostToolUseFailure", "session_id": "s", "cwd": "/p", "tool_use_id": "c1"}
FAILED |= {"tool_name": "Bash", "tool_input": {"command": "ls"}, "error": "no", "duration_ms": 9}
OURS = documents("openhook", Record(event=decode(agents.load("claude-code"), FAILED, id=ID)))[0]
REST = OURS["extensions"][EXTENSION_KEY]
TOOL = REST["tool"]
PROMPT = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "hi"}
CALL = {key: value for key, value in OURS.items() if key != "extensions"}


def same_but_native(one, other):
    """Whether two records differ only in the documents that they were read from."""
    left, right = asdict(one.event) | {"native": 0}, asdict(other.event) | {"native": 0}
    return (left, one.decision, one.risk, one.runs) == (right, other.decision, other.risk, other.runs)


@pytest.mark.covers("OH-13", "OH-14")
@pytest.mark.parametrize(
    "extensions", [{}, {"com.example": {"a": [1]}}, {"x": None, "y": "z"}, {EXTENSION_KEY: "not ours"}, {EXTENSION_KEY: {"later": {"v": 2}}}]
)
def test_vendor_data_does_no_harm(extensions):
    """
    Extensions are optional; what stands in them is no business of ours, and survives a walk through every format.
    """
    document = CALL | {"extensions": extensions}

    assert ([], []) == found(document, strict=True)
    assert same_but_native(OPENHOOK.read(CALL), OPENHOOK.read(document))
    for via in EXACT:
        assert [document] == walk(via, "openhook", walk("openhook", via, [document])[0])[0]


@pytest.mark.covers("OH-13")
@pytest.mark.parametrize("wrong", ["x", 1, [], True])
def test_extensions_are_an_object(wrong):
    """
    Anything but an object is a problem at its own place.
    """
    assert ["$.extensions"] == found(END | {"extensions": wrong})[0]


def without(part, *keys):
    return {key: value for key, value in part.items() if key not in keys}


HOSTILE = {
    "another id": {"id": "00000000-0000-4000-8000-000000000000"},
    "a user": {"user": {"id": "root"}},
    "a decision": {"decision": {"outcome": "allow"}},
    "a risk": {"risk": {"score": 0, "level": "low"}},
    "hook runs": {"runs": [{"hook": "x", "outcome": "allow"}]},
    "trust": {"trust": "full"},
    "another session": {"session": "other"},
    "another agent": {"agent": "codex"},
    "another type": {"type": "before_tool_execute"},
    "a milder type": {"type": "after_tool_execute", "tool": without(TOOL, "result")},
    "another tool": {"tool": TOOL | {"native": "Read"}},
    "another call": {"tool": TOOL | {"call_id": "c2"}},
    "success": {"tool": TOOL | {"result": {"ok": True, "duration_ms": 9}}},
    "no duration": {"tool": TOOL | {"result": {"ok": False}}},
    "no call": {"tool": without(TOOL, "call_id")},
    "no tool": {"tool": None},
    "another time": {"time": "2026-02-23T00:00:00Z"},
    "another place": {"cwd": "/etc"},
    "a wrong type": {"tool": 5},
    "a wrong word": {"mode": "root"},
}


@pytest.mark.covers("OH-15")
@pytest.mark.parametrize("name", HOSTILE)
def test_an_extension_overrides_nothing(name):
    """
    An extension that contradicts its envelope, hides a part of it or speaks of trust is not believed at all.
    """
    document = CALL | {"extensions": {EXTENSION_KEY: REST | HOSTILE[name]}}

    assert ("shell", "Bash") == (OPENHOOK.read(OURS).event.tool.name, OPENHOOK.read(CALL).event.tool.name)
    assert same_but_native(OPENHOOK.read(CALL), OPENHOOK.read(document))


@pytest.mark.covers("OH-15")
@pytest.mark.parametrize(
    ("payload", "actor", "believed"),
    [
        (FAILED, {"type": "ai_agent"}, Actor(type="ai_agent")),
        (FAILED, {"type": "ai_agent", "id": "admin", "name": "Admin"}, Actor(type="ai_agent")),
        (FAILED, {"type": "user"}, None),
        (FAILED, {"type": "user", "id": "root"}, None),
        (PROMPT, {"type": "user", "id": "root"}, Actor(type="user")),
    ],
)
def test_an_extension_names_nobody(payload, actor, believed):
    """
    Which kind of actor it was may travel in an extension; who it was may not, nor that a human did an agent's work.
    """
    document = documents("openhook", Record(event=decode(agents.load("claude-code"), payload, id=ID)))[0]
    rest = document["extensions"][EXTENSION_KEY] | {"actor": actor}
    record = OPENHOOK.read(document | {"extensions": {EXTENSION_KEY: rest}})

    assert payload == record.event.native
    assert (believed, None, None, None) == (record.event.actor, record.event.user, record.decision, record.risk)


@pytest.mark.covers("OH-15")
def test_what_an_extension_may_not_say_still_comes_home():
    """
    Agent Hooks names the actor; the document that went through OpenHook names them again when it is back.
    """
    hooks = documents("agent-hooks", OPENHOOK.read(CALL))[0] | {"actor": {"type": "ai_agent", "id": "a-1", "name": "A"}}
    there, _ = walk("agent-hooks", "openhook", [hooks])

    assert Actor(type="ai_agent") == OPENHOOK.read(there[0]).event.actor
    assert [hooks] == walk("openhook", "agent-hooks", there)[0][:1]


@pytest.mark.covers("OH-15")
def test_an_envelope_without_a_place_for_decisions_carries_none():
    """
    A decision, a risk and a user that a record has are nowhere in its document, and do not come back from it.
    """
    event = OPENHOOK.read(CALL).event
    record = Record(event=event, decision=Decision(outcome="allow"), risk=Risk(score=1, level="low"))
    document = to_builtins(OPENHOOK.write(record))[0]
    again = OPENHOOK.read(document)

    assert OPENHOOK.write(Record(event=event)) == OPENHOOK.write(record)
    assert (None, None, None) == (again.decision, again.risk, again.event.user)
    assert {"decision", "risk", "runs", "user"} == OPENHOOK.lacks


@pytest.mark.covers("OH-15")
def test_the_command_line_shows_no_decision_from_an_extension():
    """
    What translate makes of a hostile event has no decision, no risk and no user.
    """
    hostile = CALL | {"extensions": {EXTENSION_KEY: REST | HOSTILE["a decision"] | HOSTILE["a risk"] | HOSTILE["a user"]}}
    made = run("translate", "--from", "openhook", "--to", "canonical", given=json.dumps(hostile))
    hooks = run("translate", "--from", "openhook", "--to", "agent-hooks", given=json.dumps(hostile))
    record, document = json.loads(made.stdout), json.loads(hooks.stdout.splitlines()[0])

    assert (None, None, False) == (record["decision"], record["risk"], "user" in record["event"])
    assert ([], False) == ([key for key in ("risk", "user") if key in document], "decision" in document["data"])


@pytest.mark.covers("OH-14")
def test_ours_is_only_an_addition():
    """
    Without our own extension every document that we write still reads as the same type, agent, session and time.
    """
    for document in DOCUMENTS:
        bare = {key: value for key, value in document.items() if key != "extensions"}
        whole, plain = OPENHOOK.read(document).event, OPENHOOK.read(bare).event
        assert (whole.id, whole.session, whole.time, whole.cwd) == (plain.id, plain.session, plain.time, plain.cwd)
        assert whole.agent == plain.agent
        assert ([], []) == (found(bare, strict=True)[0], found(bare, strict=True)[1])


@pytest.mark.covers("OH-15")
def test_an_id_is_never_taken_from_an_extension():
    """
    The id of the envelope is the event's, also when the extension speaks of another one as its origin.
    """
    record = OPENHOOK.read(CALL | {"extensions": {EXTENSION_KEY: REST | {"origin": {"format": "openhook", "id": "other"}}}})

    assert ID == record.event.id == OPENHOOK.write(record)[0]["id"]
