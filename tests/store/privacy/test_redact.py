"""What leaves the process at each level of privacy."""

import hmac
import re
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import decode
from hookonce.model import SCHEMA, Actor, Decision, Digest, Event, Gap, Record, Result, Risk, Tool, User
from hookonce.store.privacy.redact import LEVELS, digest, redact
from hookonce.vocabulary.tools import ARGUMENTS, DATA_FIELDS
from tests.cli.command import PAYLOAD
from tests.formats.material import records

MARK = re.compile("sha256:[0-9a-f]{64}")
RECORDS = list(records())[::3]
BARE = Event(id="e", schema=SCHEMA, type="before_prompt", agent="codex", time="2026-01-01T00:00:00Z", time_source="agent")


def kept(level, native=False, **fields):
    """An event with these fields, as it may be kept."""
    return redact(Record(event=replace(BARE, **fields)), level, native=native)


def written(**fields):
    """A tool call of file_write."""
    return Tool(name="file_write", native="Write", **fields)


def test_full_keeps_everything_but_secrets():
    """
    At full nothing changes but that the level is written down; of the recordings, one agent's tell an API key.
    """
    for record in RECORDS:
        stored = redact(record, "full")
        assert "full" == stored.level
        if stored.gaps:
            assert {"masked"} == {gap.strategy for gap in stored.gaps}
            assert {"opencode"} == {stored.event.agent}
        else:
            assert record.event == stored.event


@pytest.mark.parametrize("wrong", [{"hash": "some text"}, {"hash": "sha256:some text"}, {"length": "some text"}, {"lines": ["some text"]}])
def test_what_only_has_the_keys_of_a_digest_is_none(wrong):
    """
    A text in its place is left out like any other; a real digest stays as it is.
    """
    real = {"hash": "sha256:" + "0" * 64, "length": 3, "lines": 1}
    result = Result(ok=True, output=real | wrong)

    assert "some text" not in str(to_builtins(kept("minimal", data={"response": real | wrong}, tool=written(result=result))))
    assert real == kept("minimal", data={"response": real}).event.data["response"]


@pytest.mark.parametrize("value", ["blue", 5, None, {"more": "blue"}, ["blue"]])
def test_a_key_that_is_a_sentence_is_a_text(value):
    """
    Such as a question above its answer, whatever that is; the name of a field stays.
    """
    question = "Which colour do you like best?"
    fields = {question: value, "colour_name": value}

    for record in (kept("minimal", data=fields), kept("minimal", tool=Tool(name="ask", native="ask", input={"answers": fields} | fields))):
        assert "Which" not in str(to_builtins(record))
        assert "colour_name" in str(to_builtins(record))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("place", ["data", "tool"])
def test_a_secret_that_is_a_key_is_in_no_gap(level, place):
    """
    The name of a field may be a secret: neither the record nor the gap of its value tells it.
    """
    secret = "ghp_" + "a1B2c3" * 6
    fields = {secret: "a text"}
    record = kept(level, **({"data": fields} if place == "data" else {"tool": Tool(name="x", native="x", input=fields)}))

    assert secret not in str(to_builtins(record))
    assert "masked" in {gap.strategy for gap in record.gaps}


@pytest.mark.parametrize("level", LEVELS)
def test_facts_are_never_touched(level):
    """
    Ids, times, types, names, the working directory and the outcome are the same at every level.
    """
    for record in RECORDS:
        before, after = record.event, redact(record, level).event
        for name in ("id", "type", "agent", "session", "turn", "time", "time_source", "cwd", "model", "usage", "mode"):
            assert getattr(before, name) == getattr(after, name)
        if before.tool is not None:
            assert (before.tool.name, before.tool.native, before.tool.call_id) == (
                after.tool.name,
                after.tool.native,
                after.tool.call_id,
            )
            for name in ("ok", "exit_code", "duration_ms"):
                assert getattr(before.tool.result, name, None) == getattr(after.tool.result, name, None)


@pytest.mark.parametrize(("level", "told"), [("minimal", Digest), ("standard", Digest), ("full", str)])
def test_prompts(level, told):
    """
    A prompt is a digest below full.
    """
    assert told is type(kept(level, prompt="do it").event.prompt)


@pytest.mark.covers("AH-54", "AH-55")
@pytest.mark.parametrize(("level", "hidden"), [("minimal", True), ("standard", True), ("full", False)])
@pytest.mark.parametrize("output", ["secret", {"stdout": "secret", "code": 3}, ["secret"], 7, False])
def test_results(level, hidden, output):
    """
    What a tool gave back and its error leave only at full, whatever shape they have.
    """
    tool = written(result=Result(ok=False, output=output, error="secret too"))

    result = kept(level, tool=tool).event.tool.result

    assert hidden == (type(result.output) is dict and set(result.output) == {"hash", "length", "lines"})
    assert hidden == isinstance(result.error, Digest)
    assert hidden == ("secret" not in str(to_builtins(result)))


@pytest.mark.parametrize(("level", "shown"), [("minimal", False), ("standard", True), ("full", True)])
def test_arguments(level, shown):
    """
    At minimal an argument is shown if its class is harmless; standard shows all of them.
    """
    tool = written(input={"path": "/a", "content": "secret", "unheard_of": ["secret", 1]}, native_input={"content": "secret"})

    after = kept(level, tool=tool).event.tool

    assert "/a" == after.input["path"]
    assert shown == ("secret" in str(after.input))
    assert 1 == after.input["unheard_of"][1]
    assert (after.native_input is None) == (level != "full")


@pytest.mark.parametrize("tool", sorted(ARGUMENTS))
def test_every_argument_obeys_its_class(tool):
    """
    Each canonical argument of each tool is kept or left out at minimal as the table of classes says.
    """
    given = dict.fromkeys(ARGUMENTS[tool], "some-text")

    after = kept("minimal", tool=Tool(name=tool, native=tool, input=given)).event.tool.input

    assert {name: kind not in {"text", "content"} for name, kind in ARGUMENTS[tool].items()} == {
        name: value == "some-text" for name, value in after.items()
    }


@pytest.mark.parametrize("tool", sorted(ARGUMENTS))
def test_contents_are_left_out_at_standard(tool):
    """
    At standard tool input stays, but for what the table of classes calls content.
    """
    given = dict.fromkeys((*ARGUMENTS[tool], "unheard_of"), "some text")

    after = kept("standard", tool=Tool(name=tool, native=tool, input=given)).event.tool.input

    hidden = {name for name, kind in ARGUMENTS[tool].items() if kind == "content"}
    assert hidden == {name for name, value in after.items() if value != "some text"}


@pytest.mark.parametrize("level", ["minimal", "standard"])
def test_details(level):
    """
    What an event tells beside its own fields is left out below full unless the table knows it to be harmless.
    """
    after = kept(level, data=dict.fromkeys((*DATA_FIELDS, "response", "unheard_of"), "some-text")).event.data

    shown = {name for name, value in after.items() if value == "some-text"}
    assert {name for name, kind in DATA_FIELDS.items() if kind not in {"text", "identity", "failure"}} == shown
    assert {"response", "unheard_of"}.isdisjoint(shown)


@pytest.mark.parametrize("name", ["mcp:gh/create_issue", "SomeTool"])
def test_tools_that_nobody_knows_show_no_text(name):
    """
    No argument of an MCP tool or an unknown tool is harmless.
    """
    given = {"command": "secret", "path": "secret", "deep": {"url": ["secret"]}, "count": 3}

    after = kept("minimal", tool=Tool(name=name, native=name, input=given)).event.tool.input

    assert "secret" not in str(after)
    assert (given.keys(), 3) == (after.keys(), after["count"])


@pytest.mark.parametrize(("level", "named"), [("minimal", False), ("standard", False), ("full", True)])
def test_people(level, named):
    """
    Users and human actors are named only at full; what agents are called is no secret.
    """
    human = kept(level, user=User(id="dev1"), actor=Actor(type="user", id="dev1", name="Dev")).event
    agent = kept(level, actor=Actor(type="ai_agent", id="sub-1", name="helper")).event

    assert named == ("dev1" in str(to_builtins(human)))
    assert ("user", "helper") == (human.actor.type, agent.actor.name)


@pytest.mark.parametrize(
    ("level", "expected"),
    [("minimal", set()), ("standard", set()), ("full", {"context", "message", "input", "output"})],
)
def test_decision_merge(level, expected):
    """
    Outcome, reason and risk stay; what a decision adds or replaces is left out as the thing itself would be.
    """
    decision = Decision(
        outcome="allow",
        reason="because",
        context="secret context",
        system_message="secret message",
        updated_input={"path": "/b", "content": "secret input"},
        updated_output={"stdout": "secret output"},
    )
    record = Record(event=replace(BARE, tool=written()), decision=decision, risk=Risk(score=3))

    stored = redact(record, level, native=False)

    assert ("allow", "because", 3, "/b") == (
        stored.decision.outcome,
        stored.decision.reason,
        stored.risk.score,
        stored.decision.updated_input["path"],
    )
    text = str(to_builtins(stored.decision))
    assert expected == {word for word in ("context", "message", "input", "output") if f"secret {word}" in text}


def test_the_payload_itself_leaves_only_whole_or_as_an_outline():
    """
    Below full the native payload is an outline without texts, or not there at all if nobody wants it.
    """
    event = decode(agents.load("claude-code"), PAYLOAD | {"n": [1, None, True]}, id="e")

    outline, none = (redact(Record(event=event), "minimal", native=native).event.native for native in (True, False))

    assert None is none
    assert (event.native.keys(), [1, None, True]) == (outline.keys(), outline["n"])
    assert "ls" not in str(outline)
    assert to_builtins(digest("ls")) == outline["tool_input"]["command"]


def test_every_loss_is_written_down():
    """
    Each text that is left out has a gap with its place, and gaps that were there before stay.
    """
    event = replace(
        BARE,
        prompt="p",
        data={"response": "r", "reason": "kept"},
        tool=written(input={"path": "/a", "content": "c"}, result=Result(output="o", error="e")),
        user=User(id="u"),
        native={"a": "b"},
    )
    before = Gap(where="$.x", strategy="carried")

    stored = redact(Record(event=event, gaps=[before]), "minimal")

    assert [before] == stored.gaps[:1]
    assert {
        "$.event.prompt": "hashed",
        "$.event.data.response": "hashed",
        "$.event.tool.input.content": "hashed",
        "$.event.tool.result.output": "hashed",
        "$.event.tool.result.error": "hashed",
        "$.event.user": "removed",
        "$.event.native": "hashed",
    } == {gap.where: gap.strategy for gap in stored.gaps[1:]}


@pytest.mark.parametrize("level", ["minimal", "standard"])
def test_redacting_twice_changes_nothing(level):
    """
    What was left out once is not hashed again.
    """
    for record in RECORDS:
        once = redact(record, level)
        assert once.event == redact(once, level).event


@pytest.mark.parametrize("key", [b"k", b"k" * 32, b"k" * 100])
def test_keyed_hashes_are_those_of_the_standard_library(key):
    """
    With a key a hash is an HMAC with SHA-256, and tells nothing to whoever has only the text.
    """
    made = digest("some text", key)

    assert f"sha256:{hmac.new(key, b'some text', 'sha256').hexdigest()}" == made.hash
    assert made.hash != digest("some text").hash
    assert (9, 1) == (made.length, made.lines)


def test_keyed_hashes_are_marked_as_such():
    """
    Every place that was hashed with a key says so; without one, none does.
    """
    event = replace(
        BARE,
        prompt="p",
        data={"response": "r"},
        tool=written(input={"content": "c"}, result=Result(output="o", error="e")),
        native={"a": "b"},
    )

    keyed, plain = (redact(Record(event=event), "minimal", key).gaps for key in (b"key", None))

    assert 6 == len(keyed) == len(plain)
    assert {("hashed", "keyed")} == {(gap.strategy, gap.note) for gap in keyed}
    assert {("hashed", None)} == {(gap.strategy, gap.note) for gap in plain}


def test_no_plain_hash_is_left_where_there_is_a_key():
    """
    The same text has the same hash in every place, and another one than without the key.
    """
    for record in RECORDS:
        plain, keyed = (str(to_builtins(redact(record, "minimal", key).event)) for key in (None, b"key"))
        assert set(MARK.findall(plain)).isdisjoint(MARK.findall(keyed))


@given(st.text(alphabet=st.characters(codec=None)))
def test_a_digest_tells_hash_length_and_lines(text):
    """
    A digest is the SHA-256 of the text in UTF-8, its length in characters and its number of lines.
    """
    made = digest(text)

    assert f"sha256:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}" == made.hash
    assert (len(text), len(text.splitlines())) == (made.length, made.lines)


@given(st.recursive(st.text(alphabet="äx\ud800", min_size=1), lambda inner: st.lists(inner) | st.dictionaries(st.just("k"), inner)))
def test_no_text_survives_in_any_shape(value):
    """
    However deep a text lies in an argument, a detail, an output or the payload, minimal leaves it out.
    """
    tool = written(input={"content": value}, result=Result(output=value))

    record = Record(event=replace(BARE, data={"response": value}, tool=tool, native={"a": value}))
    event = redact(record, "minimal").event

    assert not any(mark in str(to_builtins(event)) for mark in ("ä", "\ud800"))
