"""OpenHook's file.write: once for each file, whoever tells of it."""

import pytest
from msgspec.structs import replace

from hookonce.errors import DocumentError
from hookonce.model import Record
from hookonce.store.privacy.redact import redact
from tests.formats.material import walk
from tests.formats.openhook.material import DOCUMENTS, ID, OPENHOOK, event, found, native, written

PATCH = "*** Begin Patch\n*** Add File: a.py\n+1\n*** Update File: b.py\n@@\n-1\n+2\n*** Delete File: c.py\n*** End Patch"


@pytest.mark.covers("OH-22", "OH-32", "OH-34")
def test_one_file_write_for_each_file():
    """
    A call that changes three files is one tool.end and three file.writes, each with its own id, linked to the call.
    """
    call = {"tool_name": "apply_patch", "tool_use_id": "c1", "tool_input": {"command": PATCH}, "model": "gpt-5"}
    end, *files = written(native("PostToolUse", "codex", **call))

    assert [("a.py", "create"), ("b.py", "update"), ("c.py", "delete")] == [
        (file["data"]["path"], file["data"]["operation"]) for file in files
    ]
    assert {("file.write", "c1", "gpt-5")} == {(f["type"], f["data"]["tool_call_id"], f["data"]["model"]) for f in files}
    assert ("tool.end", 4) == (end["type"], len({document["id"] for document in (end, *files)}))
    assert {ID} == {OPENHOOK.read(file).event.derived_from for file in files}
    assert 1 == len(written(native("PostToolUseFailure", tool_name="Write", tool_input={"file_path": "a"})))
    assert [end, *files] == walk("agent-hooks", "openhook", walk("openhook", "agent-hooks", [end, *files])[0])[0]


@pytest.mark.covers("OH-31")
def test_a_file_write_has_a_path():
    """
    Without a path a file.write is refused, by check and by reading, and never written.
    """
    nowhere = Record(event=replace(native("FileChanged", file_path="/a", event="add").event, data={}))

    assert [] == written(nowhere)
    assert ["$.data.path"] == found(event("file.write"))[0]
    assert ["$.data"] == found({key: value for key, value in event("file.write").items() if key != "data"})[0]
    with pytest.raises(DocumentError, match="path is required"):
        OPENHOOK.read(event("file.write", operation="create"))
    assert all(document["data"]["path"] for document in DOCUMENTS if document["type"] == "file.write")


@pytest.mark.covers("OH-32")
@pytest.mark.parametrize(
    ("operation", "kind"),
    [("create", "file_created"), ("update", "file_saved"), ("delete", "file_deleted"), (None, "file_changed")],
)
def test_three_operations(operation, kind):
    """
    Create, update and delete are three events; a write that names no operation stays one whose kind is unknown.
    """
    told = {} if operation is None else {"operation": operation}
    record = OPENHOOK.read(event("file.write", path="a", **told))

    assert (kind, {"path": "a", **told}) == (record.event.type, written(record)[0]["data"])
    assert ["$.data.operation"] == found(event("file.write", path="a", operation="rename"))[0]


@pytest.mark.covers("OH-33")
@pytest.mark.parametrize(("content", "lines"), [("a", 1), ("a\n", 1), ("a\nb\nc", 3), ("", None)])
def test_a_line_range_includes_its_end(content, lines):
    """
    A whole file's text is the range from line 1 to its last line, told even when the text is not.
    """
    record = native("PostToolUse", tool_name="Write", tool_input={"file_path": "/p/a", "content": content})
    for level in ("full", "minimal"):
        data = written(redact(record, level, native=False))[1]["data"]
        assert (lines and 1, lines) == (data.get("start_line"), data.get("end_line"))
    for key in ("start_line", "end_line"):
        assert [f"$.data.{key}"] == found(event("file.write", path="a", **{key: 0}))[0]


@pytest.mark.covers("OH-34")
def test_a_file_write_names_model_and_call():
    """
    A model such as provider/model and the tool call come back as they were, through another format too.
    """
    given = event("file.write", path="src/a.ts", model="anthropic/claude-sonnet-4-6", tool_call_id="call_9")
    record = OPENHOOK.read(given)

    assert ("anthropic/claude-sonnet-4-6", "call_9") == (record.event.model, record.event.data["tool_call_id"])
    assert given["data"] == written(record)[0]["data"]
    assert [given] == walk("cloudevents", "openhook", walk("openhook", "cloudevents", [given])[0])[0]
