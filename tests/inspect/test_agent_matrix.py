"""What is known of an agent's hooks, on one sheet."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec import to_builtins
from msgspec.structs import replace

from hookonce import agents, formats
from hookonce.agents.certificates import CERTIFICATES
from hookonce.formats.schema import load_schema
from hookonce.inspect.agent_matrix import build_sheet, group_rows
from hookonce.model import Point, Record
from hookonce.vocabulary.decision_merge import CAPABILITIES
from tests.dispatch.pipeline_cases import goldens

NAMES = list(agents.AGENTS)
ABLE = NAMES
WORDS = {"prevent": "prevents", "retry": "retries", "rewrite": "rewrites", "context": "context"}
FATES = st.sampled_from(["open", "closed"])
POINTS = st.builds(
    Point,
    capabilities=st.frozensets(st.sampled_from(list(WORDS))),
    ask=st.sampled_from(["native", "denies_headless", "ignored", "fatal", "none"]),
    rewrite=st.sampled_from(["whole", "merge", "fields", None]),
    install=st.sampled_from(["default", "opt-in", "never"]),
    why=st.none() | st.text(),
    hard_timeout_s=st.none() | st.integers(1, 600),
)


def changed(name, **more):
    """An agent with other columns in its configuration."""
    agent = agents.load(name)
    return replace(agent, config=replace(agent.config, **more))


UNSEEN = {"antigravity": {"session.start"}}  # documented, and in no payload that we have
LEVELS = dict.fromkeys(NAMES, 3) | {"antigravity": 1}  # which tells no prompts
DERIVED = {
    "amp": {"session.end"},
    "antigravity": {"session.end"},
    "kiro": {"session.end"},
    "vs-code-copilot": {"session.end"},
    "windsurf": {"session.start", "session.end"},
}


@pytest.mark.covers("OH-17", "OH-43", "OH-44")
def test_every_agent_reaches_its_openhook_level_through_hookonce():
    """
    What is said to be told is in a payload of the agent; what is derived is told by none.
    """
    told = defaultdict(set)
    for agent, native, payload, _ in goldens():
        event = agents.decode(agents.load(agent), payload, native)
        told[agent] |= {document["type"] for document in formats.load("openhook").write(Record(event=event))}
    reaches = {name: build_sheet(agents.load(name)).openhook for name in NAMES}

    assert LEVELS == {name: reach.level for name, reach in reaches.items()}
    for name, reach in reaches.items():
        sources = {source: {kind for kind, found in reach.events.items() if found == source} for source in ("told", "derived", "no")}
        assert DERIVED.get(name, set()) == sources["derived"], name
        assert told[name] <= sources["told"], name
        assert sources["told"] - told[name] <= {"file.write"} | UNSEEN.get(name, set()), name
        assert sources["no"] == ({"prompt.submit"} if name == "antigravity" else set())


@pytest.mark.parametrize("name", NAMES)
def test_every_configured_event_has_one_row(name):
    """
    Each event that can be configured, or that the table describes, has exactly one row with its canonical name.
    """
    agent = agents.load(name)
    points = agent.config.points

    rows = build_sheet(agent).points

    assert len(rows) == len({row.event for row in rows})
    assert {row.event for row in rows} == {*agents.config_events(agent), *points}
    assert all(row.canonical == agents.canonical_event_of(agent, row.event) for row in rows)


@pytest.mark.parametrize("name", NAMES)
def test_every_row_bears_the_mark_of_its_table_unless_it_is_proven(name):
    """
    No row claims more than the agent's table and its certificate do, and a proven one names the version.
    """
    agent = agents.load(name)
    found = build_sheet(agent)

    assert {agent.proof} == {row.proof for row in build_sheet(agent, proofs={}).points}
    assert (name in CERTIFICATES) == (found.certificate is not None)
    for row in found.points:
        version = CERTIFICATES[name].version if row.proof == "proven" else None
        assert (version, True) == (row.proven_on, row.proof in ("proven", agent.proof))


@given(POINTS)
def test_a_row_says_what_its_point_says(point):
    """
    Nothing of a point is left out or made stronger; one without powers observes.
    """
    (row,) = build_sheet(changed("claude-code", points={"Stop": point}), "agent_stop").points

    assert [WORDS[word] for word in WORDS if word in point.capabilities] == [word for word in row.powers if word != "observes"]
    assert ("observes" in row.powers) == (not point.capabilities)
    assert (point.ask, point.rewrite or "no", point.install) == (row.ask, row.rewrite, row.install)
    assert (point.why, point.hard_timeout_s) == (row.why, row.cap)


@given(FATES, FATES, st.frozensets(st.sampled_from(list(WORDS))))
def test_only_tool_calls_are_said_to_fail_closed(crash, late, can):
    """
    The tables speak of tool calls: elsewhere a killed hook counts as open, and where no hook has a say nothing is told.
    """
    points = {"PreToolUse": Point(capabilities=can), "Stop": Point(capabilities=can)}
    made = build_sheet(changed("claude-code", points=points, crash=crash, on_timeout=late))
    rows = {row.event: row for row in made.points}
    told = bool(can & {"prevent", "retry"})

    assert ((crash, late) if told else (None, None)) == (rows["PreToolUse"].crash, rows["PreToolUse"].late)
    assert (("open", "open") if told else (None, None)) == (rows["Stop"].crash, rows["Stop"].late)
    assert told == ("Stop" in made.config.failure.open_at)
    assert (told and "open" in (crash, late)) == ("PreToolUse" in made.config.failure.open_at)


@pytest.mark.parametrize("name", ABLE)
def test_every_capability_is_answered(name):
    """
    Each capability of the canon is a yes or a no, as the agent's table has it.
    """
    agent = agents.load(name)

    found = build_sheet(agent).config.capabilities

    assert list(CAPABILITIES) == list(found)
    assert agent.config.capabilities == {one for one, there in found.items() if there}


@pytest.mark.parametrize(
    ("name", "unit", "least"),
    [("claude-code", "seconds", None), ("gemini-cli", "milliseconds", None), ("qwen-code", "milliseconds", 1000), ("windsurf", None, None)],
)
def test_timeouts_name_their_unit(name, unit, least):
    """
    A timeout is in seconds or milliseconds, or an entry cannot have one.
    """
    timeouts = build_sheet(agents.load(name)).config.timeouts

    assert (unit, least) == (timeouts.unit, timeouts.least)


@pytest.mark.parametrize("name", NAMES)
def test_a_sheet_is_what_its_schema_says(name):
    """
    The sheet of every agent is valid under the published schema, and no key is optional.
    """
    published = load_schema("agents")

    assert [] == list(Draft202012Validator(published).iter_errors(to_builtins(build_sheet(agents.load(name)))))
    for shape in published["$defs"].values():
        assert sorted(shape["properties"]) == sorted(shape["required"])


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_one_kind_become_one(name):
    """
    Grouping keeps every native name once, and puts together only rows that say the same.
    """
    rows = build_sheet(agents.load(name)).points
    groups = group_rows(rows)

    assert sorted(row.event for row in rows) == sorted(native for natives, _ in groups for native in natives)
    for natives, row in groups:
        assert all(row == replace(one, event=row.event) for one in rows if one.event in natives)


def test_points_that_differ_stay_apart():
    """
    Two native events of one canonical kind are one group only while a hook can do the same at both.
    """
    same = {"pre_read_code": Point(capabilities=frozenset({"prevent"})), "pre_write_code": Point(capabilities=frozenset({"prevent"}))}
    other = same | {"pre_write_code": Point(capabilities=frozenset({"prevent"}), ask="native")}

    for points, expected in ((same, 2), (other, 3)):
        assert expected == len(group_rows(build_sheet(changed("windsurf", points=points), "before_tool_execute").points))
