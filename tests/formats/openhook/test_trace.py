"""From OpenHook to Agent Trace: a file.write becomes an attribution of lines."""

import json

import pytest

from hookonce.diagnose.document_check import DOCUMENT_CHECKS
from hookonce.dispatch.identification import identify
from tests.formats.material import walk
from tests.formats.openhook.material import DOCUMENTS, END, run

WRITE = END | {
    "type": "file.write",
    "context": "file:///p",
    "data": {"path": "src/a.ts", "operation": "create", "start_line": 1, "end_line": 30, "model": "anthropic/m-1"},
}


def traced(document):
    """The trace record of an OpenHook event, and its only conversation."""
    (record,), _ = walk("openhook", "agent-trace", [document])
    return record, record["files"][0]["conversations"][0]


@pytest.mark.covers("OH-56", "OH-X9")
def test_a_file_write_becomes_a_trace_record():
    """
    Path, lines, model, time, source and session stand where Agent Trace wants them.
    """
    record, conversation = traced(WRITE)

    assert ([], []) == DOCUMENT_CHECKS["agent-trace"](record, True)
    assert ("0.1.0", END["time"], "src/a.ts") == (record["version"], record["timestamp"], record["files"][0]["path"])
    assert {"type": "ai", "model_id": "anthropic/m-1"} == conversation["contributor"]
    assert [{"start_line": 1, "end_line": 30}] == conversation["ranges"]
    assert ("claude-code", "sess_1") == (record["tool"]["name"], record["metadata"]["session_id"])
    assert {"name", "version"} == record["tool"].keys()


@pytest.mark.covers("OH-56")
@pytest.mark.parametrize("missing", ["start_line", "end_line", "model"])
def test_only_whole_ranges_are_told(missing):
    """
    Ranges need both lines, else the list is empty; a model is named only where one is known.
    """
    data = {key: value for key, value in WRITE["data"].items() if key != missing}
    record, conversation = traced(WRITE | {"data": data})

    assert (missing == "model") == bool(conversation["ranges"])
    assert (missing != "model") == ("model_id" in conversation["contributor"])
    assert [] == DOCUMENT_CHECKS["agent-trace"](record, True)[0]


@pytest.mark.covers("OH-56")
def test_only_file_writes_become_trace_records():
    """
    Of all recorded events those that write a file have a trace record, one each, and the others none.
    """
    for document in DOCUMENTS:
        bare = {key: value for key, value in document.items() if key != "extensions"}
        made, _ = walk("openhook", "agent-trace", [bare])
        assert (document["type"] == "file.write") == (len(made) == 1)


@pytest.mark.covers("OH-56")
def test_nothing_else_is_traced_by_the_command():
    """
    An event that writes no file is named as left out.
    """
    made = run("translate", "--to", "agent-trace", given=json.dumps(END) + "\n" + json.dumps(WRITE))

    assert (0, 1) == (made.returncode, len(made.stdout.splitlines()))
    assert "Agent Trace has no such event: session_end 1" in made.stderr


@pytest.mark.covers("OH-X9")
def test_the_bridge_s_own_spelling_is_read():
    """
    A record with contributor.model and tool.session_id is recognised and taken with a warning at each of them.
    """
    record, conversation = traced(WRITE)
    contributor = {"type": "ai", "model": "anthropic/m-1"}
    older = record | {
        "tool": record["tool"] | {"session_id": "sess_1"},
        "files": [{"path": "src/a.ts", "conversations": [conversation | {"contributor": contributor}]}],
    }
    named = ["$.files[0].conversations[0].contributor.model", "$.tool.session_id"]

    assert "agent-trace" == identify(older).name
    assert ([], named) == tuple(sorted(path for path, _ in part) for part in DOCUMENT_CHECKS["agent-trace"](older, False))
    assert named == sorted(path for path, _ in DOCUMENT_CHECKS["agent-trace"](older, True)[0])
