"""Documents that others wrote: whatever they say, they are neither swallowed nor bent on their way."""

import pytest
from msgspec import to_builtins

from hookonce import formats
from hookonce.base.jsontext import dump
from hookonce.formats._shared.rest import EXTENSION_KEY, remaining_fields, rest_builder, rest_of
from hookonce.model import SCHEMA, Event
from tests.formats.material import EXACT, walk

CALL = {"action": {"name": "shell", "input": {"command": "ls"}}}
HOOKS = {
    "spec_version": "0.1.0",
    "event_id": "550e8400-e29b-41d4-a716-446655440000",
    "event_type": "Action.Before",
    "timestamp": "2026-02-08T19:22:11.123Z",
    "source": {"tool": "cursor"},
    "session_id": "s",
    "data": CALL,
}
OPEN = {"openhook": "0.1", "id": "e1", "source": "x", "type": "session.end", "time": "2026-01-01T00:00:00Z"}
OPEN |= {"session_id": "s"}
EVENT = {"id": "e1", "ts": 0.0, "event": "session:start", "component": "kernel"}
LOG = {"eventName": "x", "attributes": [{"key": "repeat", "value": {"boolValue": True}}]}
NOBODY = {"key": "gen_ai.conversation.id", "value": {"stringValue": ""}}
MEANT = {
    "a repeat in agent-hooks": ("agent-hooks", HOOKS | {"data": CALL | {"repeat": True}}),
    "no repeat in agent-hooks": ("agent-hooks", HOOKS | {"data": CALL | {"repeat": False}}),
    "a repeat of a type of their own": ("agent-hooks", HOOKS | {"event_type": "My.Own", "data": {"repeat": True}}),
    "a repeat in openhook": ("openhook", OPEN | {"data": {"repeat": True}}),
    "a repeat in otel": ("otel", {"resourceLogs": [{"scopeLogs": [{"logRecords": [LOG]}]}]}),
    "a repeat in amplifier": ("amplifier", EVENT | {"data": {"repeat": True}}),
    "a type that openhook reserves": ("openhook", OPEN | {"type": "doc.update", "data": {"path": "a.md"}}),
    "a type without data": ("openhook", OPEN | {"type": "acme.deploy", "context": "file:///w"}),
    "a type with words of ours": ("openhook", OPEN | {"type": "tool.teach", "data": {"model": {}, "tool_name": 5}}),
    "a number of any size": ("agent-hooks", HOOKS | {"data": {"action": {"name": "x", "input": {"n": 2**70}}}}),
    "a number below all others": (
        "agent-hooks",
        HOOKS | {"data": {"action": {"name": "x", "input": {"n": -(2**63) - 1}}}},
    ),
    "a tool without a name": ("agent-hooks", HOOKS | {"source": {"tool": ""}}),
    "half a character": ("agent-hooks", HOOKS | {"source": {"tool": "\ud800"}}),
    "an empty session": ("amplifier", EVENT | {"session_id": ""}),
    "an empty conversation": (
        "otel",
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [LOG | {"attributes": [NOBODY]}]}]}]},
    ),
}


@pytest.mark.covers("OH-23", "AH-20", "AH-62")
@pytest.mark.parametrize("name", MEANT)
def test_it_comes_back(name):
    """
    The document is written again in its own format, and after a walk through each other one that holds it.
    """
    source, document = MEANT[name]

    assert [document] == walk(source, source, [document])[0]
    for via in EXACT:
        there, _ = walk(source, via, [document])
        assert [document] == walk(via, source, there)[0] or (via == "openhook" and not there), via


def test_an_unknown_type_of_openhook_stays_openhook():
    """
    What OpenHook does not define is still an OpenHook event, with all that it says, where texts are left out.
    """
    document = OPEN | {"type": "acme.deploy", "data": {"status": "done", "count": 2}, "context": "file:///w"}
    (made,), _ = walk("openhook", "openhook", [document], level="minimal")

    assert document == {key: value for key, value in made.items() if key != "extensions"}
    assert "vendor.openhook.acme.deploy" == formats.load("openhook").read(made).event.type


@pytest.mark.covers("OH-15")
@pytest.mark.parametrize("time", ["", "never", "1970-01-01T00:00:00"])
def test_an_extension_cannot_take_away_the_time(time):
    """
    Text that is no time stands for no moment, not for the beginning of 1970.
    """
    ours = formats.load("amplifier").write(formats.load("amplifier").read(EVENT))[0]
    hostile = ours | {"data": ours["data"] | {EXTENSION_KEY: ours["data"][EXTENSION_KEY] | {"time": time}}}

    assert "1970-01-01T00:00:00.000Z" == formats.load("amplifier").read(hostile).event.time


@pytest.mark.covers("OH-15")
@pytest.mark.parametrize("via", EXACT)
def test_an_extension_cannot_give_another_id(via):
    """
    The id that a document has is the one that it keeps in every format, whatever its extension calls its origin.
    """
    hostile = HOOKS | {
        "metadata": {EXTENSION_KEY: {"type": "before_tool_execute", "origin": {"format": "openhook", "id": "other"}}}
    }
    (there,), _ = walk("agent-hooks", via, [hostile])

    assert HOOKS["event_id"] == formats.load(via).read(there).event.id


def test_a_record_of_a_later_version_loses_nothing_in_silence():
    """
    What a later hookonce added to a record is named, as is its version; our own records say nothing of the kind.
    """
    record = formats.load("openhook").read(OPEN)
    (ours,) = to_builtins(formats.load("canonical").write(record))
    later = ours | {"event": ours["event"] | {"schema": "hookonce/2", "mood": 1}, "seal": "x"}
    read = formats.load("canonical").read

    assert [] == read(ours).gaps
    assert ["$.event.schema", "$.event.mood", "$.seal"] == [gap.where for gap in read(later).gaps]
    assert all(gap.note for gap in read(later).gaps)


@pytest.mark.parametrize("fields", [{}, {"cwd": "", "data": {"a": None}}, {"turn": "t", "mode": "plan", "native": {}}])
def test_the_rest_as_a_struct_is_the_rest(fields):
    """Both ways to tell what remains of an event give the same text, empty texts and the order of keys included."""
    event = Event(id="e", schema=SCHEMA, type="x", agent="a", time="t", time_source="none", **fields)
    assert dump(rest_builder("id", "time")(event)) == dump(rest_of(event, remaining_fields("id", "time")))
