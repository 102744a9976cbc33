"""Agent Trace: who wrote which lines."""

import json
from hashlib import sha256

import pytest
from jsonschema import Draft202012Validator
from msgspec import to_builtins
from msgspec.structs import replace

from hookonce import formats
from hookonce.formats._shared.rest import EXTENSION_KEY
from hookonce.formats.agent_trace import FORMAT
from hookonce.formats.schema import load_schema
from hookonce.model import Digest, Event, Record, Result, Tool
from hookonce.store.privacy.redact import redact

SCHEMA = Draft202012Validator(load_schema("agent-trace"))
WRITE = Tool(
    name="file_write", native="Write", input={"path": "/home/dev/project/src/a.py", "content": "a\nb\n"}, call_id="c"
)
EVENT = Event(
    id="fbab11b6-f981-5b24-9c5b-bde85a2272f0",
    schema="hookonce/1",
    type="after_tool_execute",
    agent="claude-code",
    session="S",
    turn="T",
    time="2026-02-23T10:15:30.250+02:00",
    time_source="agent",
    cwd="/home/dev/project/",
    model="claude-opus",
    tool=WRITE,
    data={"transcript_path": "/home/dev/a b.jsonl"},
)


def written(event=EVENT):
    made = json.loads(json.dumps(to_builtins(FORMAT.write(Record(event=event)))))
    for doc in made:
        SCHEMA.validate(doc)
        assert FORMAT.check(doc, True)[0] == []
    return made


def conversation(doc):
    return doc["files"][0]["conversations"][0]


@pytest.mark.covers("OH-56", "OH-X9")
def test_a_written_file_becomes_a_trace_record():
    """
    The record has the model as model_id, tool name and version, ranges, and the session in its metadata.
    """
    (doc,) = written()
    content = sha256(b"a\nb\n").hexdigest()
    mark = {"start_line": 1, "end_line": 2, "content_hash": f"sha256:{content}"}
    assert doc == {
        "version": "0.1.0",
        "id": doc["id"],
        "timestamp": "2026-02-23T08:15:30.250Z",
        "tool": {"name": "claude-code", "version": "unknown"},
        "files": [
            {
                "path": "src/a.py",
                "conversations": [
                    {
                        "url": "file:///home/dev/a%20b.jsonl",
                        "contributor": {"type": "ai", "model_id": "anthropic/claude-opus"},
                        "ranges": [mark],
                    }
                ],
            }
        ],
        "metadata": {
            "session_id": "S",
            EXTENSION_KEY: {"event": EVENT.id, "type": "after_tool_execute", "turn": "T", "tool_call_id": "c"},
        },
    }
    assert doc["id"] == written()[0]["id"] != EVENT.id


def test_a_text_that_was_left_out_gives_the_same_range():
    """
    Line numbers and the content's hash are the same when only a digest of the content is kept.
    """
    kept = redact(Record(event=EVENT), "minimal").event
    assert not isinstance(kept.tool.input["content"], str)
    assert conversation(written(kept)[0]) == conversation(written()[0])


@pytest.mark.covers("OH-56")
def test_an_openhook_file_write_becomes_a_trace_record():
    """
    A file.write of somebody else's OpenHook is the agent's own writing; without both lines its ranges are empty.
    """
    doc = {
        "openhook": "0.1",
        "id": "e1",
        "source": "cursor",
        "type": "file.write",
        "time": "2026-02-23T10:15:30Z",
        "session_id": "S",
        "data": {"path": "a.py", "operation": "create", "start_line": 3, "end_line": 5, "model": "gpt-5"},
    }
    event = formats.load("openhook").read(doc).event
    assert conversation(written(event)[0]) == {
        "contributor": {"type": "ai", "model_id": "openai/gpt-5"},
        "ranges": [{"start_line": 3, "end_line": 5}],
    }
    doc["data"].pop("end_line")
    assert conversation(written(formats.load("openhook").read(doc).event)[0])["ranges"] == []


def test_all_files_of_a_call_are_in_one_record():
    """
    A patch of several files is one record; an edit tells no lines.
    """
    files = [{"path": "a.py", "operation": "create"}, {"path": "./b.py", "operation": "update"}]
    (doc,) = written(replace(EVENT, tool=Tool(name="file_edit", native="apply_patch", input={"files": files})))
    assert [file["path"] for file in doc["files"]] == ["a.py", "b.py"]
    assert {json.dumps(file["conversations"][0]["ranges"]) for file in doc["files"]} == {"[]"}


def test_a_watched_change_has_an_unknown_contributor():
    """
    A file watcher does not see who wrote.
    """
    (doc,) = written(replace(EVENT, type="file_saved", tool=None, data={"path": "a.py"}))
    assert conversation(doc) == {"contributor": {"type": "unknown"}, "ranges": []}


@pytest.mark.parametrize(
    "event",
    [
        replace(EVENT, type="before_tool_execute"),
        replace(EVENT, tool=replace(WRITE, result=Result(ok=False, error=Digest(hash="h", length=1, lines=1)))),
        replace(EVENT, tool=replace(WRITE, name="file_read")),
        replace(EVENT, type="file_saved", tool=None, data={}),
        replace(EVENT, data={"repeat": True}),
    ],
)
def test_what_writes_no_file_has_no_record(event):
    """
    Beginnings, failures, reads, changes without a path and repeats are left out.
    """
    assert written(event) == []


@pytest.mark.parametrize(
    ("path", "cwd", "expected"),
    [
        ("C:\\w\\p\\src\\a.py", "C:\\w\\p", "src/a.py"),
        ("/elsewhere/a.py", "/home", "/elsewhere/a.py"),
        ("/home/devil/a.py", "/home/dev", "/home/devil/a.py"),
        ("a.py", None, "a.py"),
    ],
)
def test_paths_begin_at_the_working_directory(path, cwd, expected):
    """
    A path is relative where the working directory contains it, and otherwise as it was.
    """
    (doc,) = written(replace(EVENT, cwd=cwd, tool=replace(WRITE, input={"path": path})))
    assert doc["files"][0]["path"] == expected


@pytest.mark.covers("OH-X9")
def test_both_spellings_are_understood():
    """
    The older bridge's `model` and `session_id` pass with a note, and are refused only when checked strictly.
    """
    (doc,) = written()
    doc["tool"]["session_id"] = "S"
    conversation(doc)["contributor"] = {"type": "ai", "model": "gpt-5"}
    SCHEMA.validate(doc)
    problems, notes = FORMAT.check(doc, False)
    assert problems == []
    assert notes == [
        ("$.tool.session_id", "the session belongs in metadata"),
        ("$.files[0].conversations[0].contributor.model", "an older spelling of model_id"),
    ]
    assert FORMAT.check(doc, True) == (notes, [])


def test_check_finds_what_the_schema_cannot():
    """
    A range that ends before it begins is wrong, a path outside of the repository a note; nonsense is no error.
    """
    (doc,) = written()
    doc["files"][0]["path"] = "/a.py"
    conversation(doc)["ranges"] = [{"start_line": 3, "end_line": 2}]
    problems, notes = FORMAT.check(doc, True)
    assert [path for path, _ in problems] == ["$.files[0].conversations[0].ranges[0].end_line"]
    assert [path for path, _ in notes] == ["$.files[0].path"]
    assert FORMAT.check({"files": [1, {"conversations": 2}], "tool": None}, True) == ([], [])
    for broken in ({"version": "one"}, {"id": "x"}, {"files": [{"path": "a"}]}, {"tool": {"name": "a"}}):
        assert not SCHEMA.is_valid(doc | broken)


def test_it_is_written_and_never_read():
    """
    There is no reader, and the table of gaps says so.
    """
    assert FORMAT.read is None
    assert "write only" in {gap.strategy for gap in FORMAT.gaps}
