"""Amplifier Event v1, in the names of both generations."""

import json
import re

import pytest
from jsonschema import Draft202012Validator
from msgspec import to_builtins
from msgspec.structs import replace

from hookonce.errors import DocumentError
from hookonce.formats._shared.rest import EXTENSION_KEY
from hookonce.formats.amplifier.envelope import FORMAT
from hookonce.formats.amplifier.registry import REQUIRED_FIELDS
from hookonce.formats.schema import load_schema
from hookonce.model import Digest, Event, Object, Record, Result, Subagent, Tool
from hookonce.vocabulary.events import EVENTS
from tests.shared import seed_text, vector

OURS = load_schema("amplifier")
ID = "fbab11b6-f981-5b24-9c5b-bde85a2272f0"
EVENT = Event(
    id=ID,
    schema="hookonce/1",
    type="session_start",
    agent="claude-code",
    session="S",
    time="2026-02-23T10:15:30.250+02:00",
    time_source="agent",
    cwd="/home/dev/project",
)
SHELL = Tool(name="shell", native="Bash", input={"command": "false"}, call_id="c1")
FAILED = replace(SHELL, result=Result(ok=False, exit_code=1, error="Exit code 1", duration_ms=12.4))
MINIMAL = {"id": "e1", "ts": 1.0, "event": "session:start", "component": "kernel", "session_id": "S"}


def theirs() -> Object:
    """The schema of Event v1 as its specification prints it."""
    blocks = re.findall(r"```json\n(.*?)```", seed_text("004"), flags=re.DOTALL)
    return next(schema for schema in map(json.loads, blocks) if schema.get("title") == "Amplifier Event v1")


def written(event: Event) -> list[Object]:
    return to_builtins(FORMAT.write(Record(event=event)))


def full(kind: str) -> Event:
    """An event of that type with much to say."""
    return replace(EVENT, type=kind, tool=FAILED, data={"path": "a b.txt", "request_id": "r", "error": "no"})


def envelope(doc: Object) -> Object:
    """A document without what hookonce adds to it."""
    data = {key: value for key, value in (doc.get("data") or {}).items() if key != EXTENSION_KEY}
    return {key: value for key, value in doc.items() if key != "data"} | ({"data": data} if data else {})


def lines(name: str) -> list[Object]:
    return [json.loads(line) for line in vector(f"amplifier/{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.covers("AMP-14", "AMP-15")
@pytest.mark.parametrize("kind", [*EVENTS, "vendor.codex.Strange", "vendor.amplifier.mount:add"])
def test_every_written_event_is_an_event_v1(kind):
    """
    Whatever the type, each document fits the schema, and the first reads as the event it was.
    """
    for document in written(full(kind)):
        Draft202012Validator(OURS).validate(document)
    assert full(kind) == FORMAT.read(written(full(kind))[0]).event


@pytest.mark.covers("AMP-14", "AMP-15")
def test_every_written_event_satisfies_the_schema_of_the_specification():
    """
    The schema that the specification prints accepts all that is written.
    """
    schema = Draft202012Validator(theirs())
    for kind in EVENTS:
        for document in written(full(kind)):
            schema.validate(document)


@pytest.mark.covers("AMP-14")
@pytest.mark.parametrize("key", ["id", "ts", "event", "component"])
def test_the_four_required_fields_are_required(key):
    """
    A document without one of them, or with null in its place, is refused by name.
    """
    for broken in ({k: v for k, v in MINIMAL.items() if k != key}, MINIMAL | {key: None}, MINIMAL | {key: []}):
        with pytest.raises(DocumentError, match=key):
            FORMAT.read(broken)
        assert not Draft202012Validator(OURS).is_valid(broken)


@pytest.mark.covers("AMP-15")
def test_the_eight_further_fields_may_be_null():
    """
    Null is the same as absent, and a wrong type is refused with its place.
    """
    further = ("module", "status", "duration_ms", "data", "error", "session_id", "request_id", "span_id")
    empty = MINIMAL | dict.fromkeys(further)
    Draft202012Validator(OURS).validate(empty)
    assert FORMAT.read(empty).event.session is None
    for key in further:
        with pytest.raises(DocumentError) as caught:
            FORMAT.read(MINIMAL | {"event": "module:invoke", key: [1]})
        assert caught.value.path == f"$.{key}"
        assert not Draft202012Validator(OURS).is_valid(MINIMAL | {key: [1]})


@pytest.mark.covers("AMP-X4")
def test_times_are_read_as_number_or_text_and_written_as_number():
    """
    Seconds since 1970 and ISO text name the same moment; what is written is a number, and the text survives.
    """
    document = written(EVENT)[0]
    assert document["ts"] == 1771834530.25
    assert FORMAT.read(document).event.time == EVENT.time
    text = MINIMAL | {"ts": "2026-02-23T08:15:30.250Z"}
    assert FORMAT.read(text).event.time == FORMAT.read(MINIMAL | {"ts": 1771834530.25}).event.time
    assert FORMAT.check(text, True)[0] == [("$.ts", "Event v1 has a number of seconds, not a text")]
    assert FORMAT.check(text, False)[0] == []
    Draft202012Validator(OURS).validate(text)


@pytest.mark.covers("AMP-X4")
@pytest.mark.parametrize("ts", [True, "soon", 1.7e12, -1e300, 10**400, {}])
def test_what_is_no_time_is_refused(ts):
    """
    Neither truth values nor words nor numbers beyond the calendar are times.
    """
    with pytest.raises(DocumentError) as caught:
        FORMAT.read(MINIMAL | {"ts": ts})
    assert caught.value.path == "$.ts"


def test_a_failed_call_has_module_status_duration_and_error():
    """
    The module is the tool under its native name, and the error is an object with code and message.
    """
    (document,) = written(replace(EVENT, type="tool_use_failure", tool=FAILED))
    assert envelope(document) == {
        "id": ID,
        "ts": 1771834530.25,
        "event": "module:invoke",
        "component": "claude-code",
        "module": "Bash",
        "status": "error",
        "duration_ms": 12,
        "error": {"code": "internal", "message": "Exit code 1", "details": {"exit_code": 1}},
        "session_id": "S",
        "data": {"op": "shell", "tool_call_id": "c1"},
    }


def test_an_error_that_was_left_out_says_so():
    """
    After redaction the message tells length and hash in place of the text.
    """
    hidden = Result(ok=False, error=Digest(hash="sha256:00", length=11, lines=1))
    (document,) = written(replace(EVENT, type="tool_use_failure", tool=replace(SHELL, result=hidden)))
    assert document["error"]["message"] == "left out: 11 characters, sha256:00"


@pytest.mark.parametrize(
    ("path", "cwd", "uri"),
    [
        ("/tmp/a b", "/home/dev", "file:///tmp/a%20b"),
        ("src/x.py", "/home/dev", "file:///home/dev/src/x.py"),
        ("src/x.py", None, "src/x.py"),
        ("C:\\x.txt", "/home/dev", "file:///C:/x.txt"),
        ("x.txt", "C:\\dev", "file:///C:/dev/x.txt"),
    ],
)
def test_a_written_file_is_an_artifact_of_its_own(path, cwd, uri):
    """
    A finished write gives a second document with place, size and its parent.
    """
    tool = Tool(name="file_write", native="Write", input={"path": path, "content": "naïve\n"}, result=Result(ok=True))
    call, artifact = written(replace(EVENT, type="after_tool_execute", tool=tool, cwd=cwd))
    assert (call["event"], artifact["event"]) == ("module:invoke", "artifact:write")
    assert envelope(artifact)["data"] == {"uri": uri, "path": path, "bytes": 7}
    back = FORMAT.read(artifact).event
    assert (back.derived_from, back.id == ID) == (ID, False)
    assert [artifact] == written(back)


def test_policy_and_forks_carry_what_the_registry_wants():
    """
    A blocked call names its capability, and a sub-agent its parent.
    """
    (blocked,) = written(replace(EVENT, type="policy_blocked", tool=SHELL))
    assert (blocked["event"], blocked["status"]) == ("policy:decision", "denied")
    assert blocked["data"]["capability"] == "exec.spawn"
    (fork,) = written(replace(EVENT, type="subagent_start", subagent=Subagent(id="child")))
    assert (fork["event"], fork["data"]["parent"]) == ("session:fork", "S")


@pytest.mark.covers("AMP-X3")
@pytest.mark.parametrize("name", ["success", "failure"])
def test_golden_transcripts_keep_their_envelopes(name):
    """
    A kernel's events, read and written again, say what they said, and satisfy the check; only the plan is missed.
    """
    for line in lines(name):
        record = FORMAT.read(line)
        assert (record.event.agent, record.event.data["component"]) == ("amplifier", "kernel")
        assert (record.event.native, record.event.origin.id) == (line, line["id"])
        missed = [("$.data.plan", "is required for session:start")] if line["event"] == "session:start" else []
        assert FORMAT.check(line, True) == FORMAT.check(line, False) == ([], missed)
        document = written(record.event)[0]
        assert envelope(document) == line
        assert record.event == FORMAT.read(document).event


def test_a_kernels_failed_call_is_understood():
    """
    Code, message and duration of a module that timed out arrive in the tool's result.
    """
    event = FORMAT.read(lines("failure")[1]).event
    assert event.type == "tool_use_failure"
    assert event.tool == Tool(
        name="slow.tool",
        native="slow.tool",
        result=Result(ok=False, error="exceeded 30s", duration_ms=30000),
    )
    assert (event.data["error_type"], event.data["op"]) == ("timeout", "do")


def test_an_extension_cannot_contradict_the_envelope():
    """
    What travels in the data is believed only if writing it again gives this very envelope.
    """
    (document,) = written(replace(EVENT, tool=SHELL, type="before_tool_execute"))
    for change in ({"module": "Read"}, {"event": "tool:post"}, {"ts": 5.0}):
        record = FORMAT.read(document | change)
        assert record.event.native == document | change
        assert "command" not in (record.event.tool.input if record.event.tool else {})
    forged = document | {"data": document["data"] | {EXTENSION_KEY: {"agent": "codex", "time_source": "agent"}}}
    assert FORMAT.read(forged).event.agent == "claude-code"


@pytest.mark.covers("AMP-19")
def test_the_registry_is_the_published_one():
    """
    The fields that each stable event has to have are those of the registry that came with the protocol.
    """
    published = json.loads(vector("amplifier/EVENTS_REGISTRY.json").read_text(encoding="utf-8"))["events"]
    assert {name: tuple(row["required"]) for name, row in published.items()} == REQUIRED_FIELDS


@pytest.mark.covers("AMP-19", "AMP-14", "AMP-X3")
@pytest.mark.parametrize("name", REQUIRED_FIELDS)
def test_a_field_of_the_registry_that_is_missing_is_a_doubt_and_strictly_a_problem(name):
    """
    The schema of Event v1 asks for four fields, so a document with these is one. Each further field of the registry is
    named with its place; strictly it is a problem, but for the plan, which nobody writes, and what an agent did not tell.
    """
    paths = {f"$.{path}" for path in REQUIRED_FIELDS[name]}
    bare = {"id": "e1", "ts": 1.0, "event": name, "component": "kernel"}
    problems, doubts = FORMAT.check(bare, False)
    assert ([], paths) == (problems, {path for path, _ in doubts})
    problems, doubts = FORMAT.check(bare, True)
    assert paths - {"$.data.plan"} == {path for path, _ in problems}
    assert paths & {"$.data.plan"} == {path for path, _ in doubts}
    problems, doubts = FORMAT.check(bare | {"data": {EXTENSION_KEY: {}}}, True)
    assert (set(), paths) == ({path for path, _ in problems}, {path for path, _ in doubts})
