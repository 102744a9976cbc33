"""OpenHook's envelope: its keys, its versions and types, and both of its texts."""

import json

import pytest
from msgspec import to_builtins

from hookonce.base.ids import StreamIds
from hookonce.dispatch.identification import identify
from hookonce.errors import DocumentError
from hookonce.model import SCHEMA, Event, Record
from tests.formats.material import walk
from tests.formats.openhook.material import DOCUMENTS, END, ID, OPENHOOK, TYPES, found, run


def test_there_is_something_to_look_at():
    """
    Every one of the six types is among the documents that recorded payloads become.
    """
    assert set(TYPES) == {document["type"] for document in DOCUMENTS}


@pytest.mark.covers("OH-1")
def test_one_event_is_one_object_on_standard_input():
    """
    A hook is fed one JSON object, on one line or on many; a list of events is not an event.
    """
    line = run("translate", "--to", "openhook", given=json.dumps(END))
    spread = run("translate", "--to", "openhook", given=json.dumps(END, indent=2))
    listed = run("check", "--json", given=json.dumps([END]))

    assert (0, [ID]) == (line.returncode, [json.loads(text)["id"] for text in line.stdout.splitlines()])
    assert line.stdout == spread.stdout
    assert (1, ["$"]) == (listed.returncode, [fault["path"] for fault in json.loads(listed.stdout)["problems"]])


@pytest.mark.covers("OH-2", "OH-51")
def test_the_version_key_alone_marks_an_event():
    """
    An object with the key openhook is OpenHook's, whatever else it holds; without it nothing is.
    """
    agent = {"hook_event_name": "PreToolUse", "cursor_version": "1", "transcript_path": "/h/.claude/t", "taskId": "x"}
    decoys = agent | {"spec_version": "0.1.0", "event_type": "Session.End", "specversion": "1.0", "ts": 1, "component": "k"}

    assert "openhook" == identify({"openhook": "0.1"}).name
    assert "openhook" == identify(decoys | {"openhook": "0.1"}).name
    assert "openhook" != identify({key: value for key, value in END.items() if key != "openhook"}).name


@pytest.mark.covers("OH-2")
@pytest.mark.parametrize("version", ["0.1.0", "1", "0.1-b", "v0.1", "", 0.1, None, ["0.1"]])
def test_a_version_has_two_numbers(version):
    """
    MAJOR.MINOR is a text of two numbers, without a patch.
    """
    assert ["$.openhook"] == found(END | {"openhook": version})[0]
    assert {"0.1"} == {document["openhook"] for document in DOCUMENTS}


@pytest.mark.covers("OH-3")
def test_no_id_comes_twice():
    """
    Every document has an id of its own, even when two payloads are the same to the last byte.
    """
    ids = [document["id"] for document in DOCUMENTS]
    payload = json.dumps({"hook_event_name": "Stop", "session_id": "s"}).encode()
    stream = StreamIds()

    assert all(ids)
    assert len(ids) == len(set(ids))
    assert stream.next("claude-code", payload) != stream.next("claude-code", payload)
    assert ["$.id"] == found(END | {"id": ""})[0]


def test_a_random_id_stays_itself():
    """
    The UUID of version 4 that a tool has made is the event's id in every format; any other id is kept beside one.
    """
    odd = OPENHOOK.read(END | {"id": "evt-1"}).event

    assert ID == OPENHOOK.read(END).event.id
    assert ("evt-1", "evt-1") == (odd.origin.id, OPENHOOK.write(Record(event=odd))[0]["id"])


@pytest.mark.covers("OH-6")
@pytest.mark.parametrize(
    ("agent", "source"),
    [("claude-code", "claude-code"), ("My Agent!", "my-agent"), ("Ünï", "n"), ("9lives", "agent-9lives"), ("", "agent")],
)
def test_source_is_kebab_case(agent, source):
    """
    Whatever an agent is called, its source is a lowercase kebab-case word, and reading gives its own name back.
    """
    event = Event(id=ID, schema=SCHEMA, type="session_end", agent=agent, time=END["time"], time_source="agent")
    document = to_builtins(OPENHOOK.write(Record(event=event)))[0]

    assert source == document["source"]
    assert ([], []) == found(document, strict=True)
    assert agent == OPENHOOK.read(document).event.agent
    assert ["$.source"] == found(END | {"source": "BAD SOURCE!"})[0]


@pytest.mark.covers("OH-7")
def test_type_is_dotted_and_lowercase():
    """
    We write the six names of the specification, and other spellings are refused.
    """
    assert {document["type"] for document in DOCUMENTS} <= set(TYPES)
    for wrong in ("Session.End", "sessionend", "session:end", "session..end", "session.end.", ""):
        assert ["$.type"] == found(END | {"type": wrong})[0]


@pytest.mark.covers("OH-8", "OH-X5")
@pytest.mark.parametrize(
    ("time", "read", "strict", "lenient"),
    [
        ("2026-02-23T10:15:30Z", "2026-02-23T10:15:30Z", [], []),
        ("2026-02-23T10:15:30.123456+09:00", "2026-02-23T10:15:30.123456+09:00", [], []),
        ("2026-02-23T10:15:30", "2026-02-23T10:15:30.000Z", ["$.time"], []),
        ("2026-02-23", None, ["$.time"], ["$.time"]),
        ("yesterday", None, ["$.time"], ["$.time"]),
        ("2026-02-30T10:15:30Z", None, ["$.time"], ["$.time"]),
    ],
)
def test_time_has_a_zone(time, read, strict, lenient):
    """
    A time without a zone is an error when strict, else taken for UTC with a warning; no time is always an error.
    """
    document = END | {"time": time}
    warned = ["$.time"] if strict and not lenient else []

    assert (strict, lenient) == (sorted(set(found(document, strict=True)[0])), sorted(set(found(document)[0])))
    assert warned == found(document)[1]
    if read is None:
        with pytest.raises(DocumentError) as caught:
            OPENHOOK.read(document)
        assert "$.time" == caught.value.path
    else:
        record = OPENHOOK.read(document)
        assert (read, warned) == (record.event.time, [gap.where for gap in record.gaps])


@pytest.mark.covers("OH-9")
@pytest.mark.parametrize("session", ["sess_1", "", "ö/é 1 ☃", "a" * 300])
def test_session_is_opaque(session):
    """
    A session id is any text, also an empty one, and comes back as it was.
    """
    document = END | {"session_id": session}
    record = OPENHOOK.read(document)

    assert ([], []) == found(document, strict=True)
    assert (session or None) == record.event.session
    assert session == OPENHOOK.write(record)[0]["session_id"]


@pytest.mark.covers("OH-11", "OH-12", "OH-X1")
@pytest.mark.parametrize(
    ("given", "place", "context", "cwd", "noted"),
    [
        ({}, None, None, None, []),
        ({"cwd": "/a b/ü"}, "/a b/ü", "file:///a%20b/%C3%BC", "/a b/ü", []),
        ({"context": "file:///a%20b"}, "/a b", "file:///a%20b", "/a b", []),
        ({"cwd": "C:\\Users\\x y"}, "C:\\Users\\x y", "file:///C:/Users/x%20y", "C:\\Users\\x y", []),
        ({"context": "file:///C:/Users/x"}, "C:/Users/x", "file:///C:/Users/x", "C:/Users/x", []),
        ({"context": "https://app.example/page-1"}, *["https://app.example/page-1"] * 3, []),
        ({"context": "mailto:inbox/folder-1"}, *["mailto:inbox/folder-1"] * 3, []),
        ({"context": "file:///a", "cwd": "/a"}, "/a", "file:///a", "/a", []),
        ({"context": "file:///a", "cwd": "/b"}, "/a", "file:///a", "/a", ["$.cwd"]),
    ],
)
def test_a_place_in_both_texts(given, place, context, cwd, noted):
    """
    cwd and context are one place: both are read, a contradiction is named, and either can be written.
    """
    record = OPENHOOK.read(END | given)

    assert (place, noted) == (record.event.cwd, [gap.where for gap in record.gaps])
    assert (context, None) == tuple(OPENHOOK.write(record)[0].get(key) for key in ("context", "cwd"))
    assert (None, cwd) == tuple(OPENHOOK.variants["cwd"](record)[0].get(key) for key in ("context", "cwd"))
    assert [] == found(END | given, strict=True)[0]
    assert [END | given] == walk("openhook", "openhook", [END | given])[0]


@pytest.mark.covers("OH-X1")
def test_the_older_text_can_be_asked_for():
    """
    translate --to openhook@cwd writes the first text's key, and check takes it for what it is.
    """
    made = run("translate", "--to", "openhook@cwd", given=json.dumps(END | {"context": "file:///p"}))
    document = json.loads(made.stdout)

    assert ("/p", False) == (document["cwd"], "context" in document)
    assert ([], ["$.cwd"]) == found(document, strict=True)


@pytest.mark.covers("OH-40", "OH-41", "OH-42")
@pytest.mark.parametrize("version", ["0.2", "1.0", "1.7", "2.0"])
def test_unknown_versions_are_read_with_a_warning(version):
    """
    What a new version may bring, fields and types, is read and kept; the version is looked at and named.
    """
    newer = END | {"openhook": version, "type": "doc.write", "priority": 3, "data": {"pages": 2}}
    record = OPENHOOK.read(newer)
    told = run("translate", "--from", "openhook", "--to", "canonical", given=json.dumps(newer))

    assert ("vendor.openhook.doc.write", {"pages": 2}, newer) == (record.event.type, record.event.data, record.event.native)
    assert {"$.openhook", "$.priority"} == {gap.where for gap in record.gaps}
    assert ([], {"$.openhook", "$.type", "$.priority"}) == (found(newer)[0], set(found(newer)[1]))
    assert (0, True) == (told.returncode, f"warning: version {version} is not known" in told.stderr)


@pytest.mark.covers("OH-40", "OH-41")
def test_what_a_version_took_away_is_not_guessed():
    """
    A required field that a new version has dropped, and a version that is missing, are refused by name.
    """
    for key in ("openhook", "session_id", "source", "time", "type", "id"):
        broken = {name: value for name, value in (END | {"openhook": "2.0"}).items() if name != key}
        with pytest.raises(DocumentError, match=f"{key} is required"):
            OPENHOOK.read(broken)
    assert "" == run("translate", "--to", "openhook", given=json.dumps(END)).stderr


@pytest.mark.covers("OH-16")
def test_the_envelope_is_closed_when_strict():
    """
    An unknown key of the envelope is an error when strict, else kept with a warning; data and extensions are open.
    """
    foreign = END | {"x_new": {"a": 1}}
    open_places = END | {"data": {"x": [1]}, "extensions": {"com.example": {"y": None}, "z": 2}}

    assert (["$.x_new"], []) == found(foreign, strict=True)
    assert ([], ["$.x_new"]) == found(foreign)
    assert [foreign] == walk("agent-hooks", "openhook", walk("openhook", "agent-hooks", [foreign])[0])[0]
    assert ([], []) == found(open_places, strict=True)


@pytest.mark.covers("OH-23", "OH-X4", "OH-X6")
@pytest.mark.parametrize("kind", ["doc.write", "message.send", "record.update", "artifact.write", "artifact.file.write"])
def test_further_types_are_kept_and_never_ours(kind):
    """
    Reserved, new and prefixed types are errors when strict; else they are kept, under their own name, with a warning.
    """
    document = END | {"type": kind, "data": {"path": "/x"}}

    assert (["$.type"], ["$.type"]) == (found(document, strict=True)[0], found(document)[1])
    assert f"vendor.openhook.{kind}" == OPENHOOK.read(document).event.type
    assert [document] == walk("openhook", "openhook", [document])[0]
    assert kind not in TYPES
