"""CloudEvents 1.0 in structured JSON."""

import contextlib
import json
import re

import pytest
from jsonschema import Draft202012Validator
from msgspec import to_builtins
from msgspec.structs import replace

from hookonce.base import ids
from hookonce.errors import DocumentError
from hookonce.formats.cloudevents import DATASCHEMA, FORMAT
from hookonce.formats.schema import load_schema
from hookonce.model import Decision, Event, HookRun, Record, Risk, Tool, User
from hookonce.vocabulary.events import EVENTS
from tests.formats.material import walk
from tests.shared import seed_text

SCHEMA = Draft202012Validator(load_schema("cloudevents"))
ID = "fbab11b6-f981-5b24-9c5b-bde85a2272f0"
EVENT = Event(
    id=ID,
    schema="hookonce/1",
    type="before_tool_execute",
    agent="claude-code",
    session="S",
    time="2026-02-23T10:15:30.250+02:00",
    time_source="agent",
    cwd="/home/dev/project",
    tool=Tool(name="shell", native="Bash", input={"command": "ls"}),
    native={"hook_event_name": "PreToolUse"},
)
RECORD = Record(
    event=replace(EVENT, user=User(id="u1")),
    decision=Decision(outcome="deny", reason="no", by="guard"),
    risk=Risk(score=95, level="critical", factors=["DESTRUCTIVE_OP"]),
    runs=[HookRun(hook="guard", exit=2, duration_ms=1.5)],
)
FOREIGN = {
    "specversion": "1.0",
    "type": "com.example.thing.made",
    "source": "/factory/4",
    "subject": None,
    "id": "B234-1",
    "time": "2018-04-05T17:31:00Z",
    "comexampleflag": True,
    "datacontenttype": "application/xml",
    "data": "<much wow='xml'/>",
}


def written(record):
    made = to_builtins(FORMAT.write(record))
    for document in made:
        SCHEMA.validate(document)
        assert FORMAT.check(document, True) == ([], [])
    return made


def test_the_envelope_names_the_event():
    """
    Version, id, source, type, time and session are attributes; everything else is the payload.
    """
    (document,) = written(RECORD)
    payload = document.pop("data")
    assert document == {
        "specversion": "1.0",
        "id": ID,
        "source": "urn:hookonce:agent:claude-code",
        "type": "dev.hookonce.before_tool_execute",
        "time": "2026-02-23T10:15:30.250+02:00",
        "subject": "S",
        "datacontenttype": "application/json",
        "dataschema": DATASCHEMA,
    }
    assert payload["decision"] == {"outcome": "deny", "reason": "no", "by": "guard"}
    assert payload["event"].keys() == {"time_source", "cwd", "tool", "native", "user"}


@pytest.mark.parametrize("kind", [*EVENTS, "vendor.codex.Strange", "vendor.x.new\nline"])
def test_a_record_comes_back_whole(kind):
    """
    Event, user, decision, risk and hook runs are what they were, whatever the type.
    """
    record = replace(RECORD, event=replace(RECORD.event, type=kind))
    assert record == FORMAT.read(written(record)[0])


@pytest.mark.parametrize(
    "change",
    [
        {"session": None},
        {"session": ""},
        {"session": "tab\there"},
        {"agent": "my agent/ä"},
        {"time": "1970-01-01T00:00:00Z", "time_source": "none"},
        {"time": "2026-02-23 10:15:30+0200"},
        {"time": "2026-02-23T10:15:30Z", "time_source": "none"},
    ],
)
def test_what_an_attribute_cannot_hold_travels_in_the_payload(change):
    """
    An attribute is never empty, holds no control characters, and a time is exact or absent.
    """
    record = Record(event=replace(EVENT, **change))
    assert record == FORMAT.read(written(record)[0])


def test_a_time_that_nobody_told_is_not_written():
    """
    The moment zero is no time; repeats without meaning are no events.
    """
    (document,) = written(Record(event=replace(EVENT, time="1970-01-01T00:00:00Z", time_source="none")))
    assert "time" not in document
    assert [] == FORMAT.write(Record(event=replace(EVENT, data={"repeat": True})))


def test_anybody_elses_event_is_kept_as_it_is():
    """
    Its type becomes a vendor's, its source and payload stay in the data, and the document in native.
    """
    SCHEMA.validate(FOREIGN)
    event = FORMAT.read(FOREIGN).event
    assert event.type == "vendor.cloudevents.com.example.thing.made"
    assert (event.agent, event.session) == ("cloudevents", None)
    assert (event.native, event.origin.id) == (FOREIGN, "B234-1")
    assert event.data == {
        "source": "/factory/4",
        "datacontenttype": "application/xml",
        "data": "<much wow='xml'/>",
        "attributes": {"comexampleflag": True},
    }
    (document,) = written(Record(event=event))
    assert document["type"] == "dev.hookonce.vendor.cloudevents.com.example.thing.made"
    assert event == FORMAT.read(document).event


def test_an_unknown_version_or_type_is_named_and_not_refused():
    """
    A later version of the envelope or of hookonce is read as far as it goes.
    """
    (document,) = written(RECORD)
    later = document | {"specversion": "1.1", "type": "dev.hookonce.tea_ready"}
    record = FORMAT.read(later)
    assert {gap.where for gap in record.gaps} == {"$.specversion", "$.type"}
    assert (record.event.type, record.decision) == ("vendor.cloudevents.dev.hookonce.tea_ready", None)
    assert [path for path, _ in FORMAT.check(later, True)[0]] == ["$.specversion", "$.type"]


@pytest.mark.parametrize("key", ["specversion", "id", "source", "type"])
def test_the_four_required_attributes_are_required(key):
    """
    Absent, null or of another type: the document is refused by name, by reader and schema alike.
    """
    for broken in ({k: v for k, v in FOREIGN.items() if k != key}, FOREIGN | {key: None}, FOREIGN | {key: 1}):
        with pytest.raises(DocumentError, match=key):
            FORMAT.read(broken)
        assert not SCHEMA.is_valid(broken)


@pytest.mark.parametrize(
    "change",
    [
        {"id": ""},
        {"source": "not a uri"},
        {"type": "bell\u0007"},
        {"time": "yesterday"},
        {"time": "2018-04-05T17:31:00"},
        {"dataschema": "relative"},
        {"datacontenttype": "xml"},
        {"data": {"xml": "is a text"}},
        {"data_base64": "AAAA"},
        {"comExample": "upper case"},
        {"comexamplevalue": {"an": "object"}},
        {"comexamplevalue": 2**31},
        {"comexamplevalue": 1.5},
    ],
)
def test_the_schema_is_as_strict_as_the_specification(change):
    """
    Attributes have plain names and plain values, and there is one payload at most.
    """
    assert not SCHEMA.is_valid(FOREIGN | change)


def test_the_payload_of_our_own_schema_is_checked():
    """
    Who claims our data schema has to keep to it.
    """
    (document,) = written(RECORD)
    assert not SCHEMA.is_valid(document | {"data": {"event": {"time_source": "guess"}}})
    assert not SCHEMA.is_valid({key: value for key, value in document.items() if key != "data"})


def test_a_payload_cannot_contradict_its_envelope():
    """
    A payload of another event is not believed, and neither is its decision.
    """
    (document,) = written(RECORD)
    assert FORMAT.read(document | {"subject": "T"}).event.session == "T"
    for payload in (
        {"event": {"type": "session_start", "time_source": "agent"}, "decision": {"outcome": "allow"}},
        {"event": {"agent": "codex", "time_source": "agent"}, "decision": {"outcome": "allow"}},
        {"event": {"time_source": "agent", "session": "T"}, "decision": {"outcome": "allow"}},
        {"event": {"time_source": "agent"}, "decision": {"outcome": "perhaps"}},
        {"event": 1},
        None,
    ):
        record = FORMAT.read(document | {"data": payload})
        assert (record.decision, record.event.session) == (None, "S")
        assert (record.event.agent, record.event.type) == ("claude-code", "before_tool_execute")
    foreign = FORMAT.read(document | {"source": "/somewhere/else"})
    assert (foreign.event.agent, foreign.decision) == ("cloudevents", None)


def test_advice_is_given_as_notes():
    """
    Long attribute names and types without a domain are allowed, and mentioned.
    """
    advised = FOREIGN | {"type": "made", "averyveryverylongname1": 1}
    problems, notes = FORMAT.check(advised, True)
    assert ([], ["$.averyveryverylongname1", "$.type"]) == (problems, [path for path, _ in notes])
    assert FORMAT.check({"specversion": 1, "type": [], "time": {}}, True) == ([], [])


@pytest.mark.covers("AH-64")
def test_agent_hooks_events_travel_inside_cloudevents():
    """
    Every event that the Agent Hooks text shows goes into a CloudEvents envelope and comes out exactly.
    """
    envelope, *parts = shown_events(seed_text("002"))
    events = [envelope | part | {"event_id": ids.derive_id("shown", str(n))} for n, part in enumerate([{}, *parts])]
    assert {event["event_type"] for event in events} > {"Session.Start", "Action.Before", "Agent.Error"}
    wrapped, _ = walk("agent-hooks", "cloudevents", events)
    for document in wrapped:
        SCHEMA.validate(document)
    assert events == walk("cloudevents", "agent-hooks", wrapped)[0]


def shown_events(text):
    """The JSON objects of a text that have an event type, the one with an envelope first."""
    decode = json.JSONDecoder().raw_decode
    found = []
    for start in re.finditer(r"^\{", text, flags=re.MULTILINE):
        with contextlib.suppress(json.JSONDecodeError):
            found.append(decode(text, start.start())[0])
    shown = [value for value in found if type(value.get("event_type")) is str]
    return sorted(shown, key=lambda event: "spec_version" not in event)
