"""The specifications' documents, each broken in one place: check names that place and no other."""

import json
from copy import deepcopy

import pytest

from hookonce.base.json_stream import StreamLine
from hookonce.diagnose.document_check import check_documents
from hookonce.errors import DocumentError
from hookonce.formats import load
from tests.cases import cases
from tests.seeds.blocks import only
from tests.shared import vector

GONE = object()  # stands for a key that is taken away
TEXT = (None, 5, True, ["x"], {"x": 1})
NAME = (5, True, ["x"], {"x": 1})  # where null may stand as well
OBJECT = ("x", 5, True, ["x"])
COUNT = (-1, 1.5, "5", True, None, [5])
TOKENS = ("5", 1.5, None, True)
FLAG = ("yes", 1, None)
LISTED = ("x", {}, 5, None)

# Document, place, and the values that are wrong there; the place of the fault is the place that was changed.
BROKEN = [
    ("openhook", "openhook", (*TEXT, "1", "0.1.0", "v1", "")),
    ("openhook", "id", (GONE, *TEXT, "")),
    ("openhook", "source", (GONE, *TEXT, "Claude Code", "claude_code", "9x", "")),
    ("openhook", "type", (GONE, *TEXT, "Session.End", "end", "session:end", "")),
    ("openhook", "time", (GONE, *TEXT, "yesterday", "2026-02-23", "2026-13-01T00:00:00Z", "2026-02-30T10:15:30Z", "")),
    ("openhook", "session_id", (GONE, *TEXT)),
    ("openhook", "data", (None, *OBJECT)),
    ("openhook", "context", TEXT),
    ("openhook", "extensions", (None, *OBJECT)),
    ("openhook", "data.transcript_path", TEXT),
    ("openhook", "data.reason", (None, 5, "bored", "Completed", "")),
    ("openhook", "data.model", TEXT),
    ("openhook", "data.duration_ms", COUNT),
    ("openhook", "data.input_tokens", COUNT),
    ("openhook", "data.output_tokens", COUNT),
    ("openhook-first", "cwd", TEXT),
    ("openhook-tool", "data.tool_name", TEXT),
    ("openhook-tool", "data.tool_call_id", TEXT),
    ("openhook-tool", "data.status", (None, 5, "ok", "failure")),
    ("openhook-tool", "data.duration_ms", COUNT),
    ("openhook-file", "data", (GONE, *OBJECT)),
    ("openhook-file", "data.path", (GONE, *TEXT)),
    ("openhook-file", "data.operation", (None, "rename", "Create", 1)),
    ("openhook-file", "data.start_line", (*COUNT, 0)),
    ("openhook-file", "data.end_line", (*COUNT, 0)),
    ("openhook-file", "data.model", TEXT),
    ("openhook-file", "data.tool_call_id", TEXT),
    ("discovery", "openhook", (*TEXT, "1")),
    ("discovery", "hooks", (*LISTED,)),
    ("discovery", "hooks[0]", ("x", 5, None, [])),
    ("discovery", "hooks[0].command", (GONE, *TEXT, "")),
    ("discovery", "hooks[0].events", LISTED),
    ("discovery", "hooks[0].events[0]", TEXT),
    ("discovery", "hooks[0].async", FLAG),
    ("agent-hooks", "spec_version", (GONE, *TEXT, "0.1", "1", "v0.1.0", "0.1.0-beta")),
    ("agent-hooks", "event_id", (GONE, *TEXT, "42", "550e8400-e29b-41d4-a716", "")),
    ("agent-hooks", "event_type", (GONE, *TEXT)),
    ("agent-hooks", "timestamp", (GONE, *TEXT, "now", "2026-02-08", "2026-02-08T22:15:30", "2026-02-30T22:15:30Z")),
    ("agent-hooks", "source", (GONE, None, *OBJECT)),
    ("agent-hooks", "source.tool", (GONE, *TEXT)),
    ("agent-hooks", "source.version", TEXT),
    ("agent-hooks", "session_id", (GONE, *TEXT)),
    ("agent-hooks", "parent_session_id", TEXT),
    ("agent-hooks", "user", (None, *OBJECT)),
    ("agent-hooks", "user.id", TEXT),
    ("agent-hooks", "user.name", TEXT),
    ("agent-hooks", "actor", (None, *OBJECT)),
    ("agent-hooks", "actor.type", (GONE, *TEXT, "robot", "")),
    ("agent-hooks", "actor.id", TEXT),
    ("agent-hooks", "actor.name", TEXT),
    ("agent-hooks", "agent_mode", (None, 5, "yolo", "")),
    ("agent-hooks", "data", (None, *OBJECT)),
    ("agent-hooks", "data.action", (None, *OBJECT)),
    ("agent-hooks", "data.action.name", TEXT),
    ("agent-hooks", "data.action.input", (None, *OBJECT)),
    ("agent-hooks", "data.decision", (None, *OBJECT)),
    ("agent-hooks", "data.decision.outcome", (None, 5, "block", "")),
    ("agent-hooks", "data.decision.reason", TEXT),
    ("agent-hooks", "risk", (None, *OBJECT)),
    ("agent-hooks", "risk.score", (101, -1, 9.5, "95", None, True)),
    ("agent-hooks", "risk.level", (None, 5, "extreme", "Critical")),
    ("agent-hooks", "risk.factors", LISTED),
    ("agent-hooks", "risk.factors[0]", TEXT),
    ("agent-hooks", "metadata", (None, *OBJECT)),
    ("agent-hooks-result", "data.action.result", (None, *OBJECT)),
    ("agent-hooks-result", "data.action.result.success", FLAG),
    ("agent-hooks-result", "data.action.result.exit_code", ("0", 0.5, None, True)),
    ("agent-hooks-result", "data.action.result.output", TEXT),
    ("agent-hooks-compaction", "data.trigger", (None, 5, "never")),
    ("agent-hooks-compaction", "data.tokens_before", TOKENS),
    ("agent-hooks-compaction", "data.tokens_after", TOKENS),
    ("agent-hooks-compaction", "data.tokens_removed", TOKENS),
    ("agent-hooks-context", "data.tokens_used", TOKENS),
    ("agent-hooks-context", "data.tokens_limit", TOKENS),
    ("agent-hooks-context", "data.percentage_used", (101, -0.5, "75", None)),
    ("amplifier", "id", (GONE, *TEXT)),
    ("amplifier", "ts", (GONE, None, "soon", True, [1])),
    ("amplifier", "event", (GONE, *TEXT)),
    ("amplifier", "component", (GONE, *TEXT)),
    ("amplifier", "module", NAME),
    ("amplifier", "status", NAME),
    ("amplifier", "duration_ms", (1.5, "12", True, [1])),
    ("amplifier", "data", OBJECT),
    ("amplifier", "error", OBJECT),
    ("amplifier", "session_id", NAME),
    ("amplifier", "request_id", NAME),
    ("amplifier", "span_id", NAME),
]
VARIANTS = [(name, place, value) for name, place, values in BROKEN for value in values]


def shown(value):
    return "gone" if value is GONE else json.dumps(value)


def document(name):
    """The document of that name, out of the text or the vectors that it stands in."""
    found = {
        "openhook": lambda: json.loads(vector("openhook/examples/claude-session-end.json").read_text()),
        "openhook-first": lambda: only("001", "type")[0],
        "openhook-tool": lambda: json.loads(vector("openhook/examples/copilot-tool-end.json").read_text()),
        "openhook-file": lambda: json.loads(vector("openhook/examples/agent-trace-integration.json").read_text()),
        "discovery": lambda: only("000", "hooks")[0],
        "agent-hooks": lambda: only("002", "spec_version", "user")[0],
        "agent-hooks-result": lambda: only("002", "spec_version", "user")[1],
        "agent-hooks-context": lambda: only("002", "spec_version", "user")[2],
        "agent-hooks-compaction": lambda: only("002", "spec_version", "user")[3],
        "amplifier": lambda: json.loads(vector("amplifier/success.jsonl").read_text().splitlines()[2]),
    }
    return deepcopy(found[name]())


def broken(name, place, value):
    """The document with another value at a place, or with nothing there."""
    whole = document(name)
    *way, last = place.replace("[", ".").replace("]", "").split(".")
    part = whole
    for step in way:
        part = part[int(step) if isinstance(part, list) else step]
    if value is GONE:
        del part[last]
    else:
        part[int(last) if isinstance(part, list) else last] = value
    return whole


def verdict(name, given, *, strict=False):
    return check_documents(".openhook.json" if name == "discovery" else "-", [StreamLine(1, json.dumps(given).encode())], strict=strict)


def test_there_are_enough():
    """
    The table breaks ten documents in more than three hundred ways, no two of them the same.
    """
    assert 10 == len({name for name, _, _ in BROKEN})
    assert len(VARIANTS) == len({(name, place, shown(value)) for name, place, value in VARIANTS}) > 300


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _, _ in BROKEN))
def test_whole_documents_pass(name):
    """
    Before it is broken each document is right, so that what check finds afterwards is the fault alone.
    """
    assert [] == verdict(name, document(name), strict=True).problems


@pytest.mark.part(2)
@pytest.mark.covers("OH-2", "OH-3", "OH-6", "OH-7", "OH-8", "OH-9", "OH-10", "OH-26", "OH-27", "OH-31", "OH-32", "OH-33")
@cases(("name", "place", "value"), VARIANTS, by=str, ids=shown)
def test_a_fault_is_named_by_its_place(name, place, value):
    """
    A document with one fault is refused, and every problem that is reported lies at that fault.
    """
    found = verdict(name, broken(name, place, value))

    assert (False, {f"$.{place}"}) == (found.ok, {trouble.path for trouble in found.problems})


def test_a_document_without_its_mark_is_nobodys():
    """
    OpenHook is known by one key alone: without it there is nothing to name but the document itself.
    """
    found = verdict("openhook", broken("openhook", "openhook", GONE))

    assert ("unknown", ["$"]) == (found.kind, [trouble.path for trouble in found.problems])


@pytest.mark.parametrize("text", ["[]", "null", '"x"', "7", "{", '{"openhook": "0.1"', "", "\x00", '{"openhook": NaN}'])
def test_what_is_no_object_is_no_document(text):
    """
    Anything but a JSON object is refused as a whole.
    """
    found = check_documents("-", [StreamLine(1, text.encode())], strict=False)

    assert (False, ["$"]) == (found.ok, [trouble.path for trouble in found.problems])


@pytest.mark.parametrize("name", ["openhook", "openhook-tool", "openhook-file", "agent-hooks", "agent-hooks-result", "amplifier"])
def test_reading_refuses_only_with_a_place(name):
    """
    A broken document is either read as far as it goes or refused at the very place; nothing else is raised.
    """
    kind = name.partition("-")[0] if name.startswith("openhook") else name.removesuffix("-result")
    for _, place, value in [variant for variant in VARIANTS if variant[0] == name]:
        refused = refusal(load(kind), broken(name, place, value))
        # What is missing is missed by the object around it.
        assert refused in (None, f"$.{place}") or (value is GONE and f"$.{place}".startswith(refused))


def refusal(fmt, given):
    """Where reading stops, or None when it does not; then the document is kept."""
    try:
        record = fmt.read(given)
    except DocumentError as problem:
        return problem.path
    assert given == record.event.native
    return None
