"""A stream on its way from one vocabulary into another."""

import json

import pytest

from hookonce import agents, formats
from hookonce.base.ids import StreamIds
from hookonce.base.json_stream import TOO_DEEP, StreamLine
from hookonce.translation.pipeline import LineFault, Translation, TranslationPlan
from tests.cli.command import PAYLOAD, tagged
from tests.formats.material import payloads
from tests.shared import ABSENT, captures

READABLE = [name for name in formats.FORMATS if formats.load(name).read]


def translated(given, target="canonical", **plan):
    """The documents and faults of a stream, and the translation with what it counted."""
    walk = Translation(TranslationPlan(target=formats.load(target), **plan))
    made = []
    for outcome in walk.json_lines(numbered(given)):
        made += [outcome] if isinstance(outcome, LineFault) else map(json.loads, outcome.splitlines())
    return made, walk


def numbered(given):
    """Payloads as lines; bytes stay as they are."""
    return [StreamLine(n, one if type(one) is bytes else json.dumps(one).encode()) for n, one in enumerate(given, 1)]


def claude():
    """The agent that most payloads here are of."""
    return agents.load("claude-code")


def test_ids_follow_the_stream():
    """
    Stable ids of a translation are those that a stream gives to the bytes of its lines, repeated ones included.
    """
    given = [PAYLOAD, PAYLOAD, tagged(2), PAYLOAD]
    made, _ = translated(given, source=claude(), level="full", stable_ids=True)
    ids = StreamIds()

    assert [ids.next("claude-code", json.dumps(one).encode()) for one in given] == [one["event"]["id"] for one in made]


def test_everything_is_counted():
    """
    Lines read, events written, events left out by type and faults add up.
    """
    given = [PAYLOAD, b"oops", PAYLOAD | {"hook_event_name": "CwdChanged"}, PAYLOAD | {"hook_event_name": "New"}, {"a": 1}]
    walk = Translation(TranslationPlan(target=formats.load("openhook")))
    made = list(walk.json_lines(numbered(given)))

    assert [1, LineFault, 0, 0, LineFault] == [LineFault if isinstance(one, LineFault) else one.count(b"\n") for one in made]
    assert (4, 1) == (walk.read_count, walk.written_count)
    assert {"cwd_changed": 1, "vendor.claude-code.New": 1} == dict(walk.unwritten_types)
    assert [2, 5] == [one.line for one in made if isinstance(one, LineFault)]


def test_a_named_source_is_not_questioned():
    """
    With a source no line is identified: a payload that looks like another agent's is read as the named one's.
    """
    (made,), _ = translated([PAYLOAD], source=agents.load("qwen-code"), level="full")

    assert "qwen-code" == made["event"]["agent"]


@pytest.mark.skipif(not captures(), reason=ABSENT)
def test_all_captures_pass_in_one_stream():
    """
    Every recorded payload passes through one stream without --from and keeps its agent.
    """
    given = [(agent, json.loads(file.read_text(encoding="utf-8"))) for agent, _, file in captures()]

    made, walk = translated([payload for _, payload in given], level="full")

    nameless = [one for one in made if isinstance(one, LineFault) and "names no event" in one.message]
    assert [] == [one for one in made if isinstance(one, LineFault) and one not in nameless]
    assert {agent for agent, _ in given} == {one["event"]["agent"] for one in made if isinstance(one, dict)}
    assert len({one["event"]["id"] for one in made if isinstance(one, dict)}) == walk.written_count


def test_the_shape_tells_an_event_that_is_not_named():
    """
    Where identify knows the event of a nameless payload, translate reads it, with and without a source.
    """
    bare = {"sessionId": "c", "timestamp": 1794705505395, "cwd": "/p", "prompt": "go"}

    for source in (None, agents.load("copilot-cli")):
        (made,), _ = translated([bare], source=source, level="full")
        assert ("copilot-cli", "before_prompt") == (made["event"]["agent"], made["event"]["type"])
    (made,), _ = translated([bare], source=agents.load("copilot-cli"), event="userPromptTransformed", level="full")
    assert "prompt_transformed" == made["event"]["type"]


@pytest.mark.parametrize("depth", [10, 300, 900, 5000])
@pytest.mark.parametrize("target", list(formats.FORMATS))
@pytest.mark.parametrize("level", ["full", "minimal"])
def test_depth_is_carried_or_told(depth, target, level):
    """
    However deep a payload is, each format carries it or says that it is too deep, and carries the next.
    """
    deep = json.dumps(PAYLOAD)[:-1].encode() + b', "x": ' + b"[" * depth + b"]" * depth + b"}"
    walk = Translation(TranslationPlan(target=formats.load(target), source=claude(), level=level))
    writes = tagged(2) | {"tool_name": "Write", "tool_input": {"file_path": "/a", "content": "b"}, "hook_event_name": "PostToolUse"}

    first, second = walk.json_lines([StreamLine(1, deep), StreamLine(2, json.dumps(writes).encode())])

    assert isinstance(first, bytes) or first == LineFault(line=1, message=TOO_DEEP)
    assert b"s2" in second or target == "agent-trace"
    assert depth > 10 or isinstance(first, bytes)
    assert depth < 5000 or isinstance(first, LineFault)


def test_depth_is_not_counted_as_written():
    """
    An event that turns out to be too deep when it is written is a fault alone.
    """
    deep = json.dumps(PAYLOAD)[:-1].encode() + b', "x": ' + b'{"a":' * 300 + b"1" + b"}" * 301
    walk = Translation(TranslationPlan(target=formats.load("otel"), source=claude(), level="full"))

    outcomes = list(walk.json_lines([StreamLine(1, deep)]))

    assert (isinstance(outcomes[0], LineFault), walk.written_count) in {(True, 0), (False, 1)}


@pytest.mark.parametrize("target", READABLE)
def test_a_user_is_named_on_request(target):
    """
    The user of the plan is in the record that comes back from every format that has a place for people.
    """
    (made,), _ = translated([PAYLOAD], target, source=claude(), user="dev1")
    (back,), _ = translated([made], source=formats.load(target), level="full")

    expected = None if "user" in formats.load(target).lacks else "dev1"
    assert expected == (back["event"].get("user") or {}).get("id")


def test_received_is_written_beside_the_agents_own_time():
    """
    A received time becomes the time of events without one, and never replaces the agent's.
    """
    timed = {"session_id": "g", "hook_event_name": "BeforeModel", "llm_request": {}, "timestamp": "2026-01-02T03:04:05Z"}

    made, _ = translated([PAYLOAD, timed], received="2026-05-05T05:05:05Z", level="full")

    told = [tuple(one["event"][key] for key in ("time", "time_source", "received")) for one in made]
    assert [
        ("2026-05-05T05:05:05Z", "received", "2026-05-05T05:05:05Z"),
        ("2026-01-02T03:04:05Z", "agent", "2026-05-05T05:05:05Z"),
    ] == told


@pytest.mark.part(2)
@pytest.mark.parametrize("name", READABLE)
def test_documents_of_a_format_pass_unchanged_through_themselves(name):
    """
    A → A is the same document, for everything that A writes at full privacy.
    """
    given = [payload for agent, _, payload in payloads() if agent == "claude-code"]
    first, walk = translated(given, name, source=claude(), level="full")

    again, folded = translated(first, name, source=formats.load(name), level="full")

    assert first == again
    assert len(first) == walk.written_count == folded.written_count


def test_a_strict_plan_refuses_repeated_keys():
    """
    Duplicate keys are looked for only where the plan is strict.
    """
    twice = b'{"hook_event_name":"Stop","session_id":"a","session_id":"b"}'

    (lenient,), _ = translated([twice], source=claude(), level="full")
    (strict,), _ = translated([twice], source=claude(), strict=True)

    assert "b" == lenient["event"]["session"]
    assert LineFault(line=1, message="duplicate key 'session_id'") == strict


@pytest.mark.parametrize("source", ["ocsf", "agent-trace"])
def test_what_is_never_read_is_refused(source):
    """
    Documents of a format without a reader are refused line by line, whether named or identified.
    """
    (made,), _ = translated([{"a": 1}], source=formats.load(source))

    assert "can be written but not read" in made.message


def test_a_transcript_of_another_agent_is_named():
    """
    A payload read as one agent's whose transcript lies in another's directory is read as told, and said so.
    """
    payload = {"session_id": "s", "hook_event_name": "SessionEnd", "transcript_path": "/home/u/.claude/projects/x.jsonl"}
    walk = Translation(TranslationPlan(source=agents.load("gemini-cli"), target=formats.load("openhook")))

    walk.translate_line(StreamLine(1, json.dumps(payload).encode()))

    assert ["read as Gemini CLI, although the transcript is in .claude"] == list(walk.notes)
