"""What each of OpenHook's six types says, written from agents' own payloads and read from others' events."""

import json
from itertools import product

import pytest
from msgspec.structs import replace

from hookonce.errors import DocumentError
from hookonce.model import Record, Usage
from hookonce.store.privacy.redact import redact
from hookonce.vocabulary.events import EVENTS
from hookonce.vocabulary.names import OPENHOOK_END_REASONS
from tests.formats.openhook.material import END, OPENHOOK, RECORDS, event, found, native, run, written


def tool(kind, **more):
    return native(kind, tool_name="Bash", tool_use_id="call_1", tool_input={"command": "ls"}, **more)


@pytest.mark.covers("OH-18", "OH-19", "OH-20", "OH-21", "OH-22")
@pytest.mark.parametrize(
    ("record", "kind", "canonical"),
    [
        (native("SessionStart"), "session.start", "session_start"),
        (native("SessionEnd"), "session.end", "session_end"),
        (native("UserPromptSubmit", prompt="hi"), "prompt.submit", "before_prompt"),
        (tool("PreToolUse"), "tool.start", "before_tool_execute"),
        (tool("PostToolUse"), "tool.end", "after_tool_execute"),
        (tool("PostToolUseFailure", error="no"), "tool.end", "tool_use_failure"),
        (native("FileChanged", file_path="/p/a", event="add"), "file.write", "file_created"),
        (native("Stop"), None, "agent_stop"),
        (native("Notification", message="m"), None, "notification"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_six_types(record, kind, canonical):
    """
    Each of the six types is written for its canonical event and read as it; the others have no place here.
    """
    made = written(record)

    assert canonical == record.event.type
    assert [kind] * (kind is not None) == [document["type"] for document in made]
    assert [canonical] * len(made) == [OPENHOOK.read(document).event.type for document in made]
    for document in made:
        bare = {key: value for key, value in document.items() if key != "extensions"}
        assert canonical == OPENHOOK.read(bare).event.type


@pytest.mark.covers("OH-10")
def test_data_is_an_object_whose_shape_follows_the_type():
    """
    Data may be left out or empty, is never anything but an object, and the same key is judged by its type.
    """
    assert ([], []) == found(END, strict=True) == found(END | {"data": {}}, strict=True)
    for wrong in ("oops", 1, [], [{}], True):
        assert ["$.data"] == found(END | {"data": wrong})[0]
        with pytest.raises(DocumentError) as caught:
            OPENHOOK.read(END | {"data": wrong})
        assert "$.data" == caught.value.path
    assert ["$.data.reason"] == found(event("session.end", reason="bored"))[0]
    assert [] == found(event("prompt.submit", reason="bored"))[0]


@pytest.mark.covers("OH-24", "OH-X7")
def test_a_start_may_name_the_model():
    """
    session.start carries the model as it was given, and is read with and without one.
    """
    assert [{"model": "opus-5"}] == [document["data"] for document in written(native("SessionStart", model="opus-5"))]
    assert ([], []) == found(event("session.start", model="m"), strict=True)
    assert ["m", None] == [OPENHOOK.read(event("session.start", **one)).event.model for one in ({"model": "m"}, {})]
    assert ["$.data.model"] == found(event("session.start", model=5))[0]


@pytest.mark.covers("OH-25", "OH-X8")
@pytest.mark.parametrize(
    ("path", "place", "whole", "warned"),
    [
        ("/h/t.jsonl", {}, "/h/t.jsonl", []),
        ("C:\\h\\t.jsonl", {}, "C:\\h\\t.jsonl", []),
        ("./t.jsonl", {"cwd": "/p"}, "/p/t.jsonl", ["$.data.transcript_path"]),
        ("../t.jsonl", {"context": "file:///p%20q/r"}, "/p q/t.jsonl", ["$.data.transcript_path"]),
        ("t.jsonl", {}, "t.jsonl", ["$.data.transcript_path"]),
        ("t.jsonl", {"context": "https://app.example/page"}, "t.jsonl", ["$.data.transcript_path"]),
    ],
)
def test_a_transcript_has_a_whole_path(path, place, whole, warned):
    """
    A relative transcript path is resolved against the event's place where it has one, and warned of.
    """
    document = event("session.end", transcript_path=path) | place
    record = OPENHOOK.read(document)

    assert (whole, warned) == (record.event.data["transcript_path"], [gap.where for gap in record.gaps])
    assert whole == written(record)[0]["data"]["transcript_path"]
    assert ([], warned) == (found(document)[0], [path for path in found(document)[1] if path != "$.cwd"])


@pytest.mark.covers("OH-25")
def test_agents_tell_their_transcript():
    """
    The path that an agent gives stands in session.end, made whole.
    """
    for path, whole in (("/h/t.jsonl", "/h/t.jsonl"), ("t.jsonl", "/p/t.jsonl")):
        assert whole == written(native("SessionEnd", transcript_path=path))[0]["data"]["transcript_path"]


@pytest.mark.covers("OH-26")
def test_a_session_ends_for_one_of_four_reasons():
    """
    Native words become one of the four; a word that means none of them is left out of data and not lost.
    """
    four = ["user_exit", "timeout", "error", "completed"]
    strange = native("SessionEnd", reason="other")

    assert set(four) == set(OPENHOOK_END_REASONS.values())
    for word, reason in OPENHOOK_END_REASONS.items():
        assert reason == written(native("SessionEnd", reason=word))[0]["data"]["reason"]
    assert ("data" in written(strange)[0], "other") == (False, OPENHOOK.read(written(strange)[0]).event.data["reason"])
    assert [] == [path for reason in four for path in found(event("session.end", reason=reason), strict=True)[0]]


@pytest.mark.covers("OH-27")
def test_an_end_counts():
    """
    Model, duration and tokens of a session are read and written; none is negative or a fraction.
    """
    counts = {"model": "m", "duration_ms": 5, "input_tokens": 0, "output_tokens": 7}
    record = OPENHOOK.read(event("session.end", **counts))
    odd = replace(record.event, data={"duration_ms": -1.5}, usage=Usage(input_tokens=-1, output_tokens=2))

    assert ("m", Usage(input_tokens=0, output_tokens=7)) == (record.event.model, record.event.usage)
    assert counts == written(record)[0]["data"]
    assert {"model": "m", "output_tokens": 2} == written(Record(event=odd))[0]["data"]
    for key, wrong in product(("duration_ms", "input_tokens", "output_tokens"), (-1, 1.5, "3", None, True)):
        assert [f"$.data.{key}"] == found(event("session.end", **{key: wrong}))[0]


@pytest.mark.covers("OH-28")
def test_a_prompt_has_a_length_and_no_text():
    """
    Data holds the number of characters alone at every level of privacy, and by default the text is nowhere.
    """
    record = native("UserPromptSubmit", prompt="naïve ☃ question")
    for level in ("full", "standard", "minimal"):
        assert {"prompt_length": 16} == written(redact(record, level, native=False))[0]["data"]
    told = run("translate", "--from", "claude-code", "--to", "openhook", given=json.dumps(record.event.native))

    assert (16, False) == (json.loads(told.stdout)["data"]["prompt_length"], "question" in told.stdout)
    assert ["$.data.prompt_length"] == found(event("prompt.submit", prompt_length=-1))[0]


@pytest.mark.covers("OH-29", "OH-30")
def test_a_tool_pair_shares_its_call():
    """
    Start and end name the tool and the same call; the end adds status and whole milliseconds.
    """
    named = {"tool_name": "Bash", "tool_call_id": "call_1"}
    ended = tool("PostToolUse", tool_response={"stdout": "", "interrupted": False}, duration_ms=12.6)
    failed = tool("PostToolUseFailure", error="no").event

    assert named == written(tool("PreToolUse"))[0]["data"]
    assert named | {"status": "success", "duration_ms": 13} == written(ended)[0]["data"]
    for result in (failed.tool.result, None):
        event_told = replace(failed, tool=replace(failed.tool, result=result))
        assert named | {"status": "error"} == written(Record(event=event_told))[0]["data"]


@pytest.mark.covers("OH-29", "OH-30")
@pytest.mark.parametrize(
    ("kind", "data", "result"),
    [
        ("tool.start", {}, None),
        ("tool.start", {"status": "success"}, (True, None)),
        ("tool.start", {"duration_ms": 4}, (None, 4)),
        ("tool.end", {}, (None, None)),
        ("tool.end", {"status": "error", "duration_ms": 4}, (False, 4)),
    ],
)
def test_tools_of_others(kind, data, result):
    """
    A tool event of somebody else gives name, call and result; status and duration are read on starts too.
    """
    found_tool = OPENHOOK.read(event(kind, tool_name="Bash", tool_call_id="c", **data)).event.tool
    told = found_tool.result and (found_tool.result.ok, found_tool.result.duration_ms)

    assert ("Bash", "c", result) == (found_tool.native, found_tool.call_id, told)


def test_a_tool_without_a_name_loses_nothing():
    """
    Every field of data is optional: a call whose tool is not named keeps its id and its status.
    """
    told = {"tool_call_id": "c", "status": "error"}
    assert told == OPENHOOK.read(event("tool.end", **told)).event.data


def test_what_has_no_place_is_left_out():
    """
    Of the canonical events that have a type here only repeats, and file changes that name no file, are not written.
    """
    silent = [one.event for one in RECORDS if not written(one) and (row := EVENTS.get(one.event.type)) and row.openhook]
    nameless = [one for one in silent if one.type.startswith("file_") and "path" not in one.data]

    assert [] == [one for one in silent if "repeat" not in one.data and one not in nameless]
