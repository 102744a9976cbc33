"""What a stream of OpenHook events conforms to."""

import json

import pytest

from hookonce import agents
from hookonce.base.json_stream import StreamLine
from hookonce.diagnose.document_check import check_documents
from tests.formats.openhook.material import DOCUMENTS, END, TYPES


def level(*given):
    """What a stream of documents conforms to, each with an id of its own."""
    named = [document | {"id": f"{document['id']}{number}"} if document.get("id") else document for number, document in enumerate(given)]
    lines = [StreamLine(number, json.dumps(document).encode()) for number, document in enumerate(named, 1)]
    return check_documents("-", lines, strict=False).level


@pytest.mark.covers("OH-17", "OH-43")
def test_a_session_end_suffices():
    """
    A session's end with its six fields is level 1; anything else alone is none, and so is an end with a field missing.
    """
    assert "OpenHook level 1" == level(END)
    assert None is level(END | {"type": "session.start"})
    for key in END:
        assert None is level({name: value for name, value in END.items() if name != key})


@pytest.mark.covers("OH-17")
def test_every_agent_that_ends_sessions_says_so():
    """
    Each agent that has a native end of session gives a session.end, which alone is level 1.
    """
    able = {name for name in agents.AGENTS if "session_end" in agents.load(name).events.values()}
    ends = {document["source"]: document for document in DOCUMENTS if document["type"] == "session.end"}

    assert len(able) >= 8
    assert able <= ends.keys()
    assert {"OpenHook level 1"} == {level(document) for document in ends.values()}


@pytest.mark.covers("OH-44", "OH-X2", "OH-X3", "OH-X6")
def test_level_two_is_the_lifecycle():
    """
    Level 2 needs all five lifecycle types and the transcript; file writes are told apart and not needed.
    """
    told = END | {"data": {"transcript_path": "/t.jsonl"}}
    lifecycle = [END | {"type": kind} for kind in TYPES if kind not in {"session.end", "file.write"}]
    file = END | {"type": "file.write", "data": {"path": "a.py"}}

    assert "OpenHook level 2" == level(told, *lifecycle)
    assert "OpenHook level 2 with artifact events" == level(told, *lifecycle, file)
    assert "OpenHook level 1 with artifact events" == level(told, file)
    assert "OpenHook level 1" == level(told, file | {"type": "artifact.write"})
    assert "OpenHook level 1" == level(END, *lifecycle)
    for missing in lifecycle:
        assert "OpenHook level 1" == level(told, *[one for one in lifecycle if one is not missing])
