"""The specifications' own documents: what they show we understand, what they demand we keep."""

import json
import re
from datetime import datetime

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from msgspec import to_builtins

from hookonce import formats
from hookonce.base.json_stream import StreamLine
from hookonce.diagnose.document_check import DOCUMENT_CHECKS, check_documents
from hookonce.dispatch.identification import identify
from hookonce.store.privacy.redact import redact
from tests.formats.material import EXACT, documents, records, walk
from tests.seeds.blocks import blocks, only, spelled_out
from tests.shared import seed_text, vector

RECORDS = list(records())
ENVELOPE = {
    "spec_version": "0.1.0",
    "event_id": "550e8400-e29b-41d4-a716-446655440000",
    "timestamp": "2026-02-08T19:22:11.123Z",
    "source": {"tool": "cursor"},
    "session_id": "s",
}
TRANSCRIPTS = ("amplifier/success.jsonl", "amplifier/failure.jsonl")
EXAMPLES = ("claude-session-end", "copilot-tool-end", "agent-trace-integration")
CHECKED = FormatChecker(formats=("uuid",))
CHECKED.checks("date-time", ValueError)(lambda text: datetime.fromisoformat(text).tzinfo is not None)


def verdict(*given, name="-", strict=True):
    return check_documents(name, [StreamLine(n, json.dumps(one).encode()) for n, one in enumerate(given, 1)], strict=strict)


def written(name):
    """Every document of a format that recorded payloads become, at the two ends of privacy."""
    for level in ("full", "minimal"):
        for record in RECORDS:
            yield from documents(name, redact(record, level, native=level == "full"))


def survives(name, document):
    """Whether a document is there again after a walk through each other format that can hold it."""
    for via in EXACT:
        there, _ = walk(name, via, [document])
        back, _ = walk(via, name, there)
        assert [document] == back[:1] or not there, via
    return True


def faults(schema, given):
    """What a schema finds in the documents, with the formats that it speaks of."""
    judge, looked_at = Draft202012Validator(schema, format_checker=CHECKED), list(given)
    assert looked_at
    return [(error.json_path, error.message) for one in looked_at for error in judge.iter_errors(one)]


def test_every_block_is_found():
    """
    Each JSON object of each text is taken out: none is forgotten, none is read twice.
    """
    assert [1, 2, 21, 4] == [len(blocks(number)) for number in ("000", "001", "002", "004")]


@pytest.mark.covers("OH-2", "OH-11", "OH-16", "OH-25", "OH-X1")
def test_openhook_example_of_the_first_text():
    """
    The example passes with a word about its older spelling, reads as what it says, and comes back unchanged.
    """
    (example,) = only("001", "type")
    found, record = verdict(example), formats.load("openhook").read(example)

    assert (True, "openhook", "OpenHook level 1") == (found.ok, found.kind, found.level)
    assert ["$.cwd"] == [warning.path for warning in found.warnings]
    assert ("session_end", "claude-code", "sess_abc123", "/home/user/my-project") == (
        record.event.type,
        record.event.agent,
        record.event.session,
        record.event.cwd,
    )
    assert {"transcript_path": "/home/user/.claude/sessions/sess_abc123.jsonl"} == record.event.data
    assert survives("openhook", example)


@pytest.mark.parametrize("number", ["000", "001"])
def test_discovery_file_of_both_texts(number):
    """
    The `.openhook.json` of either text is recognised by its name and by its shape, and is right.
    """
    (example,) = only(number, "hooks")

    for name in (".openhook.json", "somewhere/.openhook.json", "-"):
        found = verdict(example, name=name)
        assert (True, "openhook-discovery", []) == (found.ok, found.kind, found.warnings)


@pytest.mark.covers("OH-17", "OH-18", "OH-19", "OH-20", "OH-21", "OH-22", "OH-23")
@pytest.mark.parametrize("number", ["000", "001"])
def test_openhook_types_are_those_of_the_texts(number):
    """
    Every type that a text defines is one of ours, and those that it reserves are not.
    """
    defined = set(re.findall(r"^\| `([a-z]+\.[a-z]+)` \| (?:\*\*)?(?:OPTIONAL|REQUIRED)", seed_text(number), re.MULTILINE))
    reserved = set(re.findall(r"`((?:doc|message|record)\.[a-z]+)`", seed_text(number)))
    ours = {document["type"] for record in RECORDS for document in documents("openhook", record)}

    assert ours - {"file.write"} == defined - {"file.write"}
    assert (number == "000") == ("file.write" in defined)
    assert reserved.isdisjoint(ours)
    assert (3 if number == "000" else 0) == len(reserved)


def test_agent_hooks_complete_events():
    """
    The six whole events pass strictly, are read as their type, and survive every other format.
    """
    events = only("002", "spec_version", "event_id")
    kinds = [formats.load("agent-hooks").read(event).event.type for event in events]

    assert 6 == len(events)
    assert (True, "Agent Hooks 0.1.0, valid") == ((found := verdict(*events)).ok, found.level)
    assert ["session_start", "before_tool_execute", "after_tool_execute"] == kinds[:3]
    assert ["context_until_compaction", "before_compact", "retry_loop_detected"] == kinds[3:]
    assert all(survives("agent-hooks", event) for event in events)


def test_agent_hooks_blocked_action():
    """
    The action that was blocked keeps its decision, its risk, its user and its actor.
    """
    (blocked,) = [event for event in only("002", "spec_version", "risk", "user") if "decision" in event["data"]]
    record = formats.load("agent-hooks").read(blocked)

    assert ("deny", "Destructive command blocked by hook") == (record.decision.outcome, record.decision.reason)
    assert (95, "critical", ["DESTRUCTIVE_OP"]) == (record.risk.score, record.risk.level, record.risk.factors)
    assert ("dev1@example.com", "Cursor Agent") == (record.event.user.id, record.event.actor.name)
    assert ("shell", {"command": "rm -rf /tmp/build"}) == (record.event.tool.name, record.event.tool.input)


def test_agent_hooks_snippets():
    """
    Each of the twelve parts of events is right in the smallest envelope, with every value that it lists.
    """
    parts = [block for block in only("002", "event_type") if "spec_version" not in block]
    whole = [ENVELOPE | document for part in parts for document in spelled_out(part)]

    assert (12, 12 + 2 + 4 + 2 + 2 + 3) == (len(parts), len(whole))
    assert [] == [trouble for one in whole for trouble in verdict(one).problems]
    assert [] == [one for one in whole if formats.load("agent-hooks").read(one).event.type.startswith("vendor.")]
    assert all(survives("agent-hooks", one) for one in whole)


def test_agent_hooks_vendor_metadata():
    """
    The metadata of two vendors belongs to an event, is nobody's document by itself, and is never lost.
    """
    (part,) = only("002", "metadata")
    event = ENVELOPE | {"event_type": "Session.Start"} | part

    assert ("unknown", True) == (identify(part).kind, verdict(event).ok)
    assert survives("agent-hooks", event)


def test_wildcard_configuration_is_no_event():
    """
    The configuration that enables all hooks is taken for what it is, and for no event nor any agent's payload.
    """
    (configuration,) = only("002", "hooks")
    found = verdict(configuration)

    assert ("unknown", None) == (identify(configuration).kind, identify(configuration).name)
    assert ("agent-hooks-rules", []) == (found.kind, found.problems)


@pytest.mark.covers("AH-1", "AH-2", "AH-3", "AH-5")
def test_agent_hooks_schema_holds_for_what_we_write():
    """
    The schema of the text finds nothing in any Agent Hooks document that we write.
    """
    (schema,) = only("002", "$schema")

    assert [] == faults(schema, written("agent-hooks"))
    assert [] == faults(schema, only("002", "spec_version", "event_id"))


def test_amplifier_schema_holds_for_what_we_write():
    """
    The schema of Event v1 finds nothing in any Amplifier document that we write, nor in the makers' transcripts.
    """
    (schema,) = [block for block in only("004", "$schema") if "Event" in block["title"]]
    transcripts = [json.loads(line) for name in TRANSCRIPTS for line in vector(name).read_text().splitlines()]

    assert [] == faults(schema, written("amplifier"))
    assert [] == faults(schema, transcripts)
    assert [] != faults(schema, [{"id": 1}])


@pytest.mark.parametrize(("name", "count", "ok"), [(TRANSCRIPTS[0], 4, True), (TRANSCRIPTS[1], 3, False)])
def test_amplifier_transcripts(name, count, ok):
    """
    The makers' transcripts pass, tell their session and its calls, and come back from every other format.
    """
    given = [json.loads(line) for line in vector(name).read_text().splitlines()]
    read = [formats.load("amplifier").read(one).event for one in given]
    calls = [event.tool for event in read if event.tool is not None]

    assert (True, count, "amplifier") == ((found := verdict(*given)).ok, found.documents, found.kind)
    assert ({"S"}, "session_start", "session_end") == ({event.session for event in read}, read[0].type, read[-1].type)
    assert [ok] == [call.result.ok for call in calls]
    assert all(survives("amplifier", one) for one in given)


@pytest.mark.covers("OH-7", "OH-8", "OH-16", "OH-26", "OH-27", "OH-28", "OH-29", "OH-30", "OH-31", "OH-32", "OH-33")
def test_openhook_schemas_hold_for_what_we_write():
    """
    The makers' schemas of the envelope and of each type's data find nothing in any OpenHook document that we write.
    """
    made = list(written("openhook"))
    envelope = json.loads(vector("openhook/schemas/envelope.schema.json").read_text())
    kinds = ("session.end", "prompt.submit", "tool.start", "tool.end", "file.write")

    assert [] == faults(envelope, made)
    for kind in kinds:
        schema = json.loads(vector(f"openhook/schemas/{kind.replace('.', '-')}.schema.json").read_text())
        assert [] == faults(schema, [one.get("data", {}) for one in made if one["type"] == kind])
    assert {*kinds, "session.start"} == set(envelope["properties"]["type"]["enum"]) == {one["type"] for one in made}


@pytest.mark.covers("OH-X1")
def test_the_makers_schema_knows_only_the_newer_text():
    """
    What we make of the first text's example fits the schema that the example itself does not fit.
    """
    envelope = json.loads(vector("openhook/schemas/envelope.schema.json").read_text())
    (example,) = only("001", "type")
    record = formats.load("openhook").read(example)

    assert [["$"], []] == [[path for path, _ in faults(envelope, [one])] for one in (example, *to_builtins(formats.load("openhook").write(record)))]


@pytest.mark.covers("OH-12", "OH-27", "OH-30", "OH-34")
@pytest.mark.parametrize("name", EXAMPLES)
def test_openhook_examples_of_the_makers(name):
    """
    The makers' events pass strictly without a word, keep every field of data, and survive every other format.
    """
    example = json.loads(vector(f"openhook/examples/{name}.json").read_text())
    record = formats.load("openhook").read(example)
    (again,) = to_builtins(formats.load("openhook").write(record))

    assert ([], []) == DOCUMENT_CHECKS["openhook"](example, True)
    assert (example["data"], example["context"]) == (again["data"], again["context"])
    assert survives("openhook", example)
