"""OpenHook events as values: read, made, written, asked."""

import io
import json
import logging
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce.diagnose.document_check import DOCUMENT_CHECKS
from hookonce.errors import DocumentError, HookonceError
from hookonce.sdk import openhook
from hookonce.sdk.openhook import OpenHookEvent, ValidationError, parse_stdin
from tests.formats.openhook.material import DOCUMENTS, END, TYPES
from tests.laws.strategies import json_values
from tests.seeds.blocks import only
from tests.shared import ROOT, vector

EXAMPLES = ("claude-session-end", "copilot-tool-end", "agent-trace-integration")
SMALL = {"source": "my-tool", "type": "tool.end", "session_id": "s"}
# Tools name transcripts as they like; texts may hold what JavaScript calls a string and UTF-8 does not know.
words = st.text(st.characters(exclude_categories=()), max_size=8)
foreign = st.dictionaries(words.map("x_".__add__), json_values | words, max_size=3)
chosen = st.fixed_dictionaries(
    {"source": st.from_regex(r"[a-z][a-z0-9-]{0,9}", fullmatch=True), "type": st.sampled_from(TYPES), "session_id": words, "data": foreign.map({"path": "a.py"}.__or__)},
    optional={"context": words, "extensions": foreign, "event_id": words.filter(bool), "time": st.sampled_from(["2026-02-23T10:15:30Z", "2026-02-23T10:15:30.5+05:30"])},
)


def given_on(monkeypatch, raw):
    """Somebody writes this to our stdin."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


@pytest.mark.covers("OH-4")
@given(chosen)
def test_a_new_event_has_a_random_id_the_present_time_and_the_version(fields):
    """
    Unless its maker chooses the first two.
    """
    before = datetime.now(UTC)

    first, second = OpenHookEvent.create(**fields), OpenHookEvent.create(**fields)

    for event in (first, second):
        if "event_id" not in fields:
            assert (4, str(UUID(event.id))) == (UUID(event.id).version, event.id)
        if "time" not in fields:
            moment = datetime.fromisoformat(event.time)
            assert (True, timedelta(0)) == (before - timedelta(milliseconds=1) <= moment <= datetime.now(UTC), moment.utcoffset())
        assert "0.1" == event.openhook
    assert (fields.get("event_id", first.id), fields.get("time", first.time)) == (first.id, first.time)
    assert ("event_id" in fields) == (first.id == second.id)


@pytest.mark.covers("OH-49")
@given(chosen)
def test_what_is_written_is_read_as_the_same_event(fields):
    """
    By way of text, of bytes and of a dict; `check --strict` has nothing to say about it, and an empty field is left out.
    """
    event = OpenHookEvent.create(**fields)
    text, document = event.to_json(), event.to_dict()

    assert event == OpenHookEvent.from_json(text) == OpenHookEvent.from_json(text.encode()) == OpenHookEvent.from_dict(document, strict=True)
    assert document == json.loads(text)
    assert [] == DOCUMENT_CHECKS["openhook"](document, True)[0]
    assert all(document[name] for name in ("data", "context", "extensions") if name in document)
    assert {name for name in ("data", "context", "extensions") if fields.get(name)} <= document.keys()


@pytest.mark.covers("OH-49")
def test_empty_fields_are_left_out():
    """
    Data, context and extensions, and nothing else.
    """
    event = OpenHookEvent.create(**SMALL, data={}, context="", extensions={})

    assert ["openhook", "id", "source", "type", "time", "session_id"] == list(event.to_dict())
    assert ({}, None, {}) == (event.data, event.context, event.extensions)


@pytest.mark.covers("OH-49")
def test_an_event_is_a_frozen_value():
    """
    It cannot be changed, two with the same fields are equal, defaults are nobody else's, and the maker's dict is not ours.
    """
    data = {"tool_name": "Bash"}
    event = OpenHookEvent.create(**SMALL, data=data)
    data["tool_name"] = "other"

    with pytest.raises(AttributeError):
        event.source = "other"
    assert ("Bash", "other") == (event.data["tool_name"], replace(event, source="other").source)
    assert OpenHookEvent("0.1", "i", "a", "tool.end", "2026-02-23T10:15:30Z", "s") == OpenHookEvent.from_dict(END | {"id": "i", "source": "a", "type": "tool.end", "time": "2026-02-23T10:15:30Z", "session_id": "s"})
    one, other = (OpenHookEvent.create(**SMALL) for _ in range(2))
    one.data["x"] = 1
    assert {} == other.data


@pytest.mark.covers("OH-49")
@pytest.mark.parametrize("raw", [json.dumps(END).encode(), b"\xef\xbb\xbf" + json.dumps(END, indent=2).encode() + b"\r\n"])
def test_the_whole_of_stdin_is_one_event(monkeypatch, raw):
    """
    On one line or on many, with the mark that Windows puts before it or without.
    """
    given_on(monkeypatch, raw)

    assert END == parse_stdin(strict=True).to_dict()


@pytest.mark.covers("OH-49")
@pytest.mark.parametrize("raw", [b"", b" \n\t", b"\n\n"])
def test_an_empty_stdin_is_refused(monkeypatch, raw):
    """
    As what it is, not as bad JSON.
    """
    given_on(monkeypatch, raw)

    with pytest.raises(ValidationError, match="stdin is empty"):
        parse_stdin()


@pytest.mark.covers("OH-49")
def test_an_event_is_written_as_one_line_and_seen_off():
    """
    To the file that is given, and to nobody else; it is read at once although the writer is still there.
    """
    reading, writing = os.pipe()
    event = OpenHookEvent.create(**SMALL, data={"tool_name": "two\nlines é \ud800"})
    with os.fdopen(reading, encoding="ascii") as there, os.fdopen(writing, "w", encoding="ascii") as here:
        event.emit(here)
        event.emit(here)

        assert [event, event] == [OpenHookEvent.from_json(there.readline()) for _ in range(2)]


@pytest.mark.covers("OH-49")
def test_a_program_of_yours_passes_an_event_on(tmp_path):
    """
    From stdin to stdout, in a process of its own whose locale knows nothing but ASCII.
    """
    program = "from hookonce.sdk import openhook; openhook.parse_stdin().emit()"
    document = END | {"data": {"reason": "completed", "note": "é"}}
    world = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src"), "HOME": str(tmp_path), "PYTHONIOENCODING": "ascii"}

    done = subprocess.run([sys.executable, "-c", program], input=json.dumps(document, ensure_ascii=False).encode(), capture_output=True, check=False, env=world)

    assert (0, b"", document, 1) == (done.returncode, done.stderr, json.loads(done.stdout), done.stdout.count(b"\n"))


@pytest.mark.covers("OH-49")
@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"id": ""}, "$.id"),
        ({"source": "Claude Code"}, "$.source"),
        ({"type": "Stop"}, "$.type"),
        ({"time": "yesterday"}, "$.time"),
        ({"session_id": 7}, "$.session_id"),
        ({"openhook": "1"}, "$.openhook"),
        ({"data": None}, "$.data"),
        ({"data": {"reason": "bored"}}, "$.data.reason"),
        ({"data": {"duration_ms": -1}}, "$.data.duration_ms"),
        ({"type": "file.write"}, "$.data"),
        ({"extensions": []}, "$.extensions"),
    ],
)
def test_what_is_wrong_is_named_by_its_place(changes, path):
    """
    The error is one of ours, and says the same as `check`.
    """
    document = END | changes

    with pytest.raises(ValidationError) as caught:
        OpenHookEvent.from_dict(document)

    assert (path, path) == (caught.value.path, str(caught.value).partition(":")[0])
    assert DOCUMENT_CHECKS["openhook"](document, False)[0] == caught.value.problems
    assert isinstance(caught.value, DocumentError)


def test_every_problem_is_named_at_once():
    """
    In one sentence, the first of them as the error's place.
    """
    with pytest.raises(HookonceError) as caught:
        OpenHookEvent.from_dict({"openhook": "0.1", "source": "X", "data": 1})

    assert ["$.data", "$.id", "$.session_id", "$.source", "$.time", "$.type"] == [path for path, _ in caught.value.problems]
    assert all(f"{path}: " in str(caught.value) for path, _ in caught.value.problems)


@pytest.mark.parametrize("raw", ["", "{", "[]", "1", "null", '{"openhook": NaN}', b"\xff{}", '{"a":1e999}', "[" * 100_000, '{"a":' + "9" * 5000 + "}"])
def test_what_is_no_event_at_all_is_refused(raw):
    """
    However it is broken, with the same error.
    """
    with pytest.raises(ValidationError) as caught:
        OpenHookEvent.from_json(raw)

    assert caught.value.path in {"$", "$.id"}


@pytest.mark.parametrize("data", [{"a": {1}}, {"a": float("nan")}, {"a": b"x"}, {"a": 10**5000}, [], "x"])
def test_what_json_cannot_hold_is_refused_when_an_event_is_made(data):
    """
    Not only when it is written.
    """
    with pytest.raises(ValidationError):
        OpenHookEvent.create(**SMALL, data=data)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"type": "doc.write"}, "$.type"),
        ({"time": "2026-02-23T10:15:30"}, "$.time"),
        ({"priority": 1}, "$.priority"),
    ],
)
def test_what_is_unusual_is_read_and_logged_and_never_made(caplog, changes, path):
    """
    A consumer is lenient unless it asks to be strict, nothing is dropped, and a maker is strict.
    """
    with caplog.at_level(logging.WARNING, openhook.__name__):
        event = OpenHookEvent.from_dict(END | changes)

    assert [path] == [record.getMessage().partition(":")[0] for record in caplog.records]
    assert END | changes == event.to_dict()
    assert event == OpenHookEvent.from_json(event.to_json())
    for attempt in (lambda: OpenHookEvent.from_dict(END | changes, strict=True), lambda: OpenHookEvent.create(**SMALL | changes)):
        with pytest.raises((ValidationError, TypeError)):
            attempt()


def test_an_unknown_version_is_read_with_a_word_in_the_log(caplog):
    """
    And without one on stderr, which an agent may read.
    """
    assert "9.9" == OpenHookEvent.from_dict(END | {"openhook": "9.9"}).openhook
    assert ["$.openhook: version 9.9 is not known; read as 0.1"] == [record.getMessage() for record in caplog.records]
    assert logging.getLogger(openhook.__name__).handlers


@pytest.mark.parametrize(
    ("places", "context", "cwd", "extra"),
    [
        ({"cwd": "/my work"}, "file:///my%20work", "/my work", {}),
        ({"context": "file:///a", "cwd": "/a"}, "file:///a", "/a", {}),
        ({"context": "file:///a", "cwd": "/b"}, "file:///a", "/b", {"cwd": "/b"}),
        ({"context": "https://app.notion.so/page"}, "https://app.notion.so/page", "https://app.notion.so/page", {}),
        ({}, None, None, {}),
    ],
)
def test_both_spellings_of_the_place_are_read(places, context, cwd, extra):
    """
    The newer one is written; the older one too where the two disagree.
    """
    event = OpenHookEvent.from_dict(END | places)

    assert (context, cwd, extra) == (event.context, event.cwd, event.extra)
    assert event == OpenHookEvent.from_json(event.to_json())


@pytest.mark.covers("OH-50")
@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({}, None),
        ({"data": {"transcript_path": ""}}, None),
        ({"type": "x.y", "data": {"transcript_path": 5}}, None),
        ({"data": {"transcript_path": "/h/s.jsonl"}}, "/h/s.jsonl"),
        ({"data": {"transcript_path": "./s.jsonl"}}, "s.jsonl"),
        ({"data": {"transcript_path": "./s.jsonl"}, "context": "file:///p"}, "/p/s.jsonl"),
        ({"data": {"transcript_path": "s.jsonl"}, "cwd": "/p"}, "/p/s.jsonl"),
        ({"type": "tool.end", "data": {"transcript_path": "/h/s.jsonl"}}, "/h/s.jsonl"),
    ],
)
def test_an_event_with_a_transcript_is_a_trace(changes, path):
    """
    Whatever its type; a relative path begins where the agent worked.
    """
    event = OpenHookEvent.from_dict(END | changes)

    assert (path and Path(path), path is not None) == (event.transcript_path, event.is_trace)


@pytest.mark.covers("OH-50")
def test_four_types_are_metrics():
    """
    Neither the beginning of a session nor a file is, nor what nobody has defined.
    """
    kinds = [*TYPES, "doc.write"]
    counted = [kind for kind in kinds if OpenHookEvent.from_dict(END | {"type": kind, "data": {"path": "a"}}).is_metric]

    assert ["session.end", "prompt.submit", "tool.start", "tool.end"] == counted


@pytest.mark.covers("OH-49")
def test_everything_that_we_translate_can_be_read():
    """
    Each OpenHook document that recorded payloads become is an event, and is given back as it was.
    """
    for document in DOCUMENTS:
        event = OpenHookEvent.from_dict(document, strict=True)
        assert {key: value for key, value in document.items() if value or key in END} == event.to_dict()


@pytest.mark.covers("OH-49", "OH-50")
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_makers_own_examples_are_events(name):
    """
    They are read strictly and given back unchanged.
    """
    example = json.loads(vector(f"openhook/examples/{name}.json").read_text())
    event = OpenHookEvent.from_dict(example, strict=True)

    assert example == event.to_dict()
    assert (example["type"] != "file.write") == event.is_metric
    assert ("transcript_path" in example["data"]) == event.is_trace


@pytest.mark.covers("OH-50")
def test_the_example_of_the_specification_s_first_text_is_an_event():
    """
    Its place is given back in the newer spelling.
    """
    (example,) = only("001", "type")
    event = OpenHookEvent.from_dict(example, strict=True)

    assert (Path("/home/user/.claude/sessions/sess_abc123.jsonl"), True, True) == (event.transcript_path, event.is_trace, event.is_metric)
    assert {key: value for key, value in example.items() if key != "cwd"} | {"context": "file:///home/user/my-project"} == event.to_dict()
