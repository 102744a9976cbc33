"""Agent Hooks: the envelope, whatever the event."""

import json
import re
import subprocess
import sys
from operator import attrgetter

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from msgspec import to_builtins
from msgspec.structs import replace

from hookonce import formats
from hookonce.base import times
from hookonce.base.ids import id_from_foreign, is_uuid
from hookonce.diagnose.document_check import DOCUMENT_CHECKS
from hookonce.errors import DocumentError
from hookonce.model import SCHEMA, Actor, Event, Record, Risk, User
from hookonce.store.privacy.redact import redact
from tests.formats.material import EXACT, documents, records, walk
from tests.shared import ROOT, seed_text

ID = "550e8400-e29b-41d4-a716-446655440000"
TIME = "2026-02-08T19:22:11.123Z"
REQUIRED = ("spec_version", "event_id", "event_type", "timestamp", "source", "session_id")
AGENT_HOOKS = formats.load("agent-hooks")


def envelope(kind="Session.Start", **fields):
    """The smallest document of a type, and what a test adds to it."""
    smallest = {"spec_version": "0.1.0", "event_id": ID, "event_type": kind, "timestamp": TIME}
    return smallest | {"source": {"tool": "cursor"}, "session_id": "sess_01HX"} | fields


def event(kind, **fields):
    """A canonical event."""
    known = {"agent": "claude-code", "session": "s1", "time": TIME, "time_source": "agent"}
    return Event(**({"id": ID, "schema": SCHEMA, "type": kind} | known | fields))


def written(event, level="full", **also):
    """The documents of an event as plain JSON."""
    return documents("agent-hooks", redact(Record(event=event, **also), level, native=False))


def rewritten(document, level="full"):
    """What an event of somebody else becomes when it is written anew, not merely handed back."""
    record = redact(AGENT_HOOKS.read(document), level, native=False)
    again = replace(record, event=replace(record.event, native=None))
    return to_builtins(AGENT_HOOKS.write(again))


def problems(document, strict=False):
    """The JSON paths at which `check` sees a problem."""
    return [path for path, _ in DOCUMENT_CHECKS["agent-hooks"](document, strict)[0]]


def warnings(document):
    """The JSON paths at which `check` warns."""
    return [path for path, _ in DOCUMENT_CHECKS["agent-hooks"](document, False)[1]]


def blocks():
    """Every JSON object that the specification prints, in its order."""
    text, found, place = seed_text("002"), [], 0
    while (place := text.find("\n{", place)) >= 0:
        block, place = json.JSONDecoder().raw_decode(text, place + 1)
        found.append(block)
    return found


def hookonce(*words, given):
    """The command, as a user runs it."""
    command = [sys.executable, "-m", "hookonce", *words]
    text = "".join(json.dumps(one) + "\n" for one in given)
    return subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT / "src", check=False)


@pytest.mark.covers("AH-1", "AH-2", "AH-3", "AH-5", "AH-6", "AH-7")
def test_everything_written_fits_the_published_envelope():
    """
    Every document of every recorded payload is valid under the schema that the specification prints.
    """
    known = FormatChecker(formats=())
    known.checks("uuid")(is_uuid)
    known.checks("date-time")(times.has_zone)
    published = Draft202012Validator(blocks()[0], format_checker=known)
    assert list(REQUIRED) == published.schema["required"]

    made = [document for record in records() for document in documents("agent-hooks", record)]

    assert [] == [(error.json_path, error.message) for one in made for error in published.iter_errors(one)]


@pytest.mark.parametrize("key", REQUIRED)
@pytest.mark.covers("AH-1", "AH-19")
def test_six_keys_are_required_and_enough(key):
    """
    The six required keys alone make a valid event that can be read, and five of them do not.
    """
    whole = envelope()
    short = {name: value for name, value in whole.items() if name != key}

    assert set(REQUIRED) == whole.keys()
    assert [] == problems(whole, strict=True)
    assert "session_start" == AGENT_HOOKS.read(whole).event.type
    assert [f"$.{key}"] == problems(short)
    with pytest.raises(DocumentError, match=f"{key} is required"):
        AGENT_HOOKS.read(short)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        pytest.param("$.spec_version", {"spec_version": "0.1"}, marks=pytest.mark.covers("AH-2", "AH-59")),
        pytest.param("$.spec_version", {"spec_version": "v0.1.0"}, marks=pytest.mark.covers("AH-2")),
        pytest.param("$.timestamp", {"timestamp": "yesterday"}, marks=pytest.mark.covers("AH-5")),
        pytest.param("$.timestamp", {"timestamp": "2026-02-30T00:00:00Z"}, marks=pytest.mark.covers("AH-5")),
        pytest.param("$.source", {"source": "cursor"}, marks=pytest.mark.covers("AH-6")),
        pytest.param("$.source.tool", {"source": {"version": "2.3.41"}}, marks=pytest.mark.covers("AH-6")),
        pytest.param("$.source.version", {"source": {"tool": "x", "version": 2}}, marks=pytest.mark.covers("AH-6")),
        pytest.param("$.session_id", {"session_id": 5}, marks=pytest.mark.covers("AH-7")),
        pytest.param("$.parent_session_id", {"parent_session_id": 5}, marks=pytest.mark.covers("AH-8")),
        pytest.param("$.user", {"user": "me"}, marks=pytest.mark.covers("AH-9")),
        pytest.param("$.user.id", {"user": {"id": 5}}, marks=pytest.mark.covers("AH-9")),
        pytest.param("$.actor.type", {"actor": {"id": "a"}}, marks=pytest.mark.covers("AH-10")),
        pytest.param("$.actor.type", {"actor": {"type": "robot"}}, marks=pytest.mark.covers("AH-10")),
        pytest.param("$.actor.name", {"actor": {"type": "user", "name": 1}}, marks=pytest.mark.covers("AH-10")),
        pytest.param("$.data", {"data": []}, marks=pytest.mark.covers("AH-12")),
        pytest.param("$.risk.score", {"risk": {"score": 101}}, marks=pytest.mark.covers("AH-13")),
        pytest.param("$.risk.score", {"risk": {"score": -1}}, marks=pytest.mark.covers("AH-13")),
        pytest.param("$.risk.score", {"risk": {"score": 9.5}}, marks=pytest.mark.covers("AH-13")),
        pytest.param("$.risk.level", {"risk": {"level": "severe"}}, marks=pytest.mark.covers("AH-13")),
        pytest.param("$.metadata", {"metadata": "x"}, marks=pytest.mark.covers("AH-14")),
    ],
)
def test_wrong_values_are_refused_by_their_place(path, wrong):
    """
    `check` and the reader agree on what is wrong in an envelope.
    """
    assert [path] == problems(envelope(**wrong))
    with pytest.raises(DocumentError) as refused:
        AGENT_HOOKS.read(envelope(**wrong))
    assert refused.value.path in {path, path.rpartition(".")[0]}


@pytest.mark.parametrize(
    ("path", "odd"),
    [
        pytest.param("$.event_id", {"event_id": "evt_1"}, marks=pytest.mark.covers("AH-3")),
        pytest.param("$.event_type", {"event_type": "Session"}, marks=pytest.mark.covers("AH-4")),
        pytest.param("$.timestamp", {"timestamp": "2026-02-08T19:22:11"}, marks=pytest.mark.covers("AH-5")),
        pytest.param("$.agent_mode", {"agent_mode": "yolo"}, marks=pytest.mark.covers("AH-11")),
    ],
)
def test_what_is_odd_but_clear_is_read_all_the_same(path, odd):
    """
    `check` refuses these values; a reader makes the best of them and hands the document on unharmed.
    """
    document = envelope(**odd)

    made, _ = walk("agent-hooks", "agent-hooks", [document])

    assert [path] == problems(document)
    assert [document] == made


@pytest.mark.covers("AH-3")
def test_an_id_that_is_no_uuid_becomes_one():
    """
    A foreign id is mapped to a UUID, the same one every time, and kept.
    """
    read = AGENT_HOOKS.read(envelope(event_id="evt_1")).event
    assert (id_from_foreign("evt_1"), "evt_1") == (read.id, read.origin.id)
    assert [id_from_foreign("evt_1")] == [made["event_id"] for made in rewritten(envelope(event_id="evt_1"))]


@pytest.mark.parametrize(
    ("field", "expected", "given"),
    [
        pytest.param("agent_version", "2.3.41", {"source": {"tool": "cursor", "version": "2.3.41"}}, marks=pytest.mark.covers("AH-6")),
        pytest.param("session", "s9", {"session_id": "s9"}, marks=pytest.mark.covers("AH-7")),
        pytest.param("parent_session", "s8", {"parent_session_id": "s8"}, marks=pytest.mark.covers("AH-8")),
        pytest.param("user", User(id="u-17", name="Al"), {"user": {"id": "u-17", "name": "Al"}}, marks=pytest.mark.covers("AH-9")),
        pytest.param("actor", Actor(type="system"), {"actor": {"type": "system"}}, marks=pytest.mark.covers("AH-10")),
        pytest.param("actor", Actor(type="user", id="i", name="n"), {"actor": {"type": "user", "id": "i", "name": "n"}}, marks=pytest.mark.covers("AH-10")),
        *(pytest.param("mode", mode, {"agent_mode": mode}, marks=pytest.mark.covers("AH-11")) for mode in ("agent", "plan", "execute", "chat", "edit")),
    ],
)  # fmt: skip
def test_fields_of_the_envelope_come_and_go(field, expected, given):
    """
    Each field of the envelope is read into the event and written back from it.
    """
    assert expected == attrgetter(field)(AGENT_HOOKS.read(envelope(**given)).event)
    assert given.items() <= rewritten(envelope(**given))[0].items()


@pytest.mark.parametrize("level", ["low", "medium", "high", "critical"])
@pytest.mark.covers("AH-13")
def test_risk_comes_and_goes(level):
    """
    Score, level and factors of a risk are read and written.
    """
    risk = {"score": 80, "level": level, "factors": ["COST_ANOMALY", "RETRY_LOOP"]}
    assert Risk(**risk) == AGENT_HOOKS.read(envelope(risk=risk)).risk
    assert risk == rewritten(envelope(risk=risk), "minimal")[0]["risk"]
    assert ["$.risk.factors[0]"] == problems(envelope(risk={"factors": [1]}))


@pytest.mark.covers("AH-10", "AH-X1")
def test_agent_is_read_as_ai_agent():
    """
    The actor code `agent` of the specification's table is understood, and `ai_agent` of its schema is written.
    """
    document = envelope(actor={"type": "agent", "id": "a1"})
    assert Actor(type="ai_agent", id="a1") == AGENT_HOOKS.read(document).event.actor
    assert {"type": "ai_agent", "id": "a1"} == rewritten(document)[0]["actor"]
    assert ([], ["$.actor.type"]) == (problems(document), warnings(document))
    assert ["$.actor.type"] == problems(document, strict=True)


@pytest.mark.parametrize(
    ("spelling", "slug"),
    [
        ("cursor", "cursor"), ("Cursor", "cursor"), ("claude-code", "claude-code"), ("Claude Code", "claude-code"),
        ("gemini-cli", "gemini-cli"), ("Gemini CLI", "gemini-cli"), ("copilot", "copilot-cli"), ("windsurf", "windsurf"),
        ("GitHub Copilot", "copilot-cli"), ("github-copilot", "copilot-cli"), ("Windsurf Cascade", "windsurf"),
    ],
)  # fmt: skip
@pytest.mark.covers("AH-6", "AH-X13")
def test_every_spelling_of_a_tool_is_one_agent(spelling, slug):
    """
    The names that sections 1, 6, 8 and 12 give to the five tools lead to one slug each, which alone is written.
    """
    document = envelope(source={"tool": spelling})
    assert slug == AGENT_HOOKS.read(document).event.agent
    assert {"tool": slug} == rewritten(document)[0]["source"]


@pytest.mark.covers("AH-X13")
def test_a_foreign_name_of_an_agent_is_not_lost():
    """
    An agent that was named otherwise elsewhere keeps that name through this format.
    """
    given = event("session_start", agent="GitHub Copilot")
    assert given == AGENT_HOOKS.read(written(given)[0]).event


@pytest.mark.covers("AH-X11", "AH-9")
def test_nobody_is_named_unless_asked():
    """
    No user is written by default, the one that is asked for is, and an e-mail address in its place is warned of.
    """
    given = [envelope(user={"id": "dev1@example.com", "name": "Dev"})]

    silent = hookonce("translate", "--from", "agent-hooks", "--to", "agent-hooks", given=given)
    asked = hookonce("translate", "--from", "agent-hooks", "--to", "agent-hooks", "--user", "u-17", given=given)

    assert "user" not in json.loads(silent.stdout)
    assert {"id": "u-17"} == json.loads(asked.stdout)["user"]
    assert ["$.user.id"] == warnings(given[0])
    assert [] == warnings(envelope(user={"id": "u-17"}))


@pytest.mark.covers("AH-69", "AH-X9")
def test_the_complete_examples_are_valid():
    """
    The five full examples of the appendix pass the strictest check and come back exactly from every format.
    """
    examples = [block for block in blocks()[2:] if "spec_version" in block]
    kinds = ["Action.Before", "Action.After", "Context.UntilCompaction", "Context.Compaction", "Retry.Loop.Detected"]
    assert kinds == [example["event_type"] for example in examples]
    assert [[]] * 5 == [problems(example, strict=True) for example in examples]
    for via in EXACT:
        there, going = walk("agent-hooks", via, examples)
        back, _ = walk(via, "agent-hooks", there)
        held = examples if via != "openhook" else examples[:2]
        assert (held, 5 - len(held)) == (back, going.unwritten_types.total())


@pytest.mark.covers("AH-65")
def test_media_types():
    """
    One event and a stream of them have the media types that the appendix registers.
    """
    registered = re.findall(r"application/vnd\.agent-hooks\S+", seed_text("002"))
    assert registered == [AGENT_HOOKS.mime, AGENT_HOOKS.stream_mime]
