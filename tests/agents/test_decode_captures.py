"""Everything that real agents wrote to a hook's stdin, as far as it is beside the repository."""

import json

import pytest
from msgspec import to_builtins
from msgspec.structs import asdict

from hookonce import agents
from hookonce.agents import decode, encode, normalize
from hookonce.dispatch.identification import identify
from hookonce.vocabulary.tools import ARGUMENTS
from tests.cases import cases
from tests.shared import ABSENT, captures

ALL = captures()
pytestmark = pytest.mark.skipif(not ALL, reason=ABSENT)
each = cases(("agent", "native", "file"), ALL, by=str)


# Where the payload tells more than the event's name: the only cases.
REFINED = {
    ("claude-code", "FileChanged", "file_created"),
    ("opencode", "file.watcher.updated", "file_created"),
    ("opencode", "session.created", "subagent_start"),
}
MAIN = {
    "shell": {"command"},
    "file_read": {"path"},
    "file_write": {"path"},
    "file_edit": {"path"},
    "search": {"pattern"},
    "find": {"pattern", "path"},
    "web_fetch": {"url", "prompt"},
    "web_search": {"query"},
    "agent": {"prompt"},
}


def payload_of(file):
    return json.loads(file.read_text(encoding="utf-8"))


@each
def test_the_canon_has_a_word(agent, native, file):
    """
    A captured event gets the canonical type of its native name, and a vendor name only when there is no word.
    """
    known = agents.load(agent)

    event = decode(known, payload_of(file), native)

    assert event.type == normalize(known, native) or (agent, native, event.type) in REFINED
    assert event.native == payload_of(file)


@each
def test_session_and_place_are_the_payloads_own(agent, native, file):
    """
    Session id and working directory stand literally in the payload.
    """
    text = file.read_text(encoding="utf-8")

    event = decode(agents.load(agent), json.loads(text), native)

    assert event.session is None or json.dumps(event.session) in text
    assert event.cwd is None or json.dumps(event.cwd, ensure_ascii=False) in text
    if agent != "opencode":
        assert event.session
        assert event.cwd == "/home/dev/project" or native == "CwdChanged" or event.cwd.startswith("/home/dev")


@each
def test_tool_calls_are_canonical(agent, native, file):
    """
    A known tool's main argument is there under its canonical name.
    """
    event = decode(agents.load(agent), payload_of(file), native)

    tool = event.tool
    if tool is None or tool.name not in ARGUMENTS or not tool.input or event.type == "permission_request":
        return
    if tool.input.keys() & {"bogus", "nonsense"}:  # the model's own mistake, kept as it was
        return
    wanted = MAIN[tool.name] | {"files", "input"}  # a list of files, or input that was no object at all
    mistaken = tool.result is not None and tool.result.ok is False
    assert wanted & tool.input.keys() or mistaken


@each
def test_identified_by_evidence(agent, native, file):
    """
    Every payload that a real agent wrote is identified: its agent and its event.
    """
    found = identify(payload_of(file))

    assert (agent, normalize(agents.load(agent), native)) == (found.name, normalize(agents.load(agent), found.event))


@each
@pytest.mark.covers("HIF-X3")
def test_encode_is_the_inverse_of_decode(agent, native, file):
    """
    A payload made from an event is read as the same event.
    """
    known = agents.load(agent)
    event = decode(known, payload_of(file), native, id="e")

    again = decode(known, encode(known, event), native, id="e")

    first, second = asdict(event), asdict(again)
    assert {name: value for name, value in first.items() if name != "native"} == {
        name: value for name, value in second.items() if name != "native"
    }
    assert to_builtins(event.tool) == to_builtins(again.tool)
