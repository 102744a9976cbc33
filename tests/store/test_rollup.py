"""Summaries: what is counted when a record is kept is what would be found by counting all of them."""

from collections import Counter
from contextlib import closing
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce.base import ids
from hookonce.model import Decision, Event, HookRun, Origin, Stored, Tool, Usage
from hookonce.sessions.derive import token_usage
from hookonce.sessions.derive.token_usage import Spending
from hookonce.store import database
from hookonce.store.entry import build_entry
from hookonce.store.maintenance.erasure import erase_records
from hookonce.store.maintenance.rebuild import rebuild_summaries
from hookonce.store.rollup import (
    RollupFilter,
    bucket_upper_ms,
    duration_bucket,
    load_event_counts,
    load_hook_costs,
    load_spend,
    percentile,
)
from hookonce.store.usage import tokens as usage_tokens
from hookonce.store.usage.tokens import TOKEN_COLUMNS
from hookonce.store.writer import Writer
from hookonce.vocabulary.events import is_redundant
from tests.store.rows import expire_days


@pytest.fixture(autouse=True, scope="module")
def keys(tmp_path_factory):
    """A home for all of them, with its keys."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(autouse=True)
def home(request, tmp_path_factory, monkeypatch):
    """A home of its own for each test that tries one case."""
    if not hasattr(request.function, "hypothesis"):
        monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


TABLES = ("daily_counts", "token_usage", "usage_by_project", "spend", "hook_runs", "sessions")
DAYS = ["2026-11-13", "2026-11-14", "2026-11-15"]
few = st.sampled_from
maybe = lambda *values: few([None, *values])  # noqa: E731
usages = st.builds(Usage, **dict.fromkeys(TOKEN_COLUMNS, maybe(0, 1, 1000, 150_000, 300_000)))
tools = st.builds(Tool, name=few(["shell", "file_read"]), native=few(["x"]))
TYPES = ["before_tool_execute", "after_tool_execute", "after_model", "agent_stop", "agent_response", "session_end"]
runs = st.builds(
    HookRun,
    hook=few(["guard", "lint"]),
    duration_ms=maybe(0, 1, 7, 900),
    failure=maybe("timeout"),
    outcome=maybe("deny", "allow"),
    tokens=maybe(5),
)


@st.composite
def stored(draw):
    time = f"{draw(few(DAYS))}T10:00:0{draw(st.integers(0, 9))}Z"
    event = Event(
        id=ids.new_id(),
        schema="hookonce/1",
        type=draw(few(TYPES)),
        agent=draw(few(["codex", "cline"])),
        session=draw(maybe("s1", "s2")),
        time=time,
        time_source="agent",
        received=time,
        cwd=draw(maybe("/w", "/v")),
        model=draw(maybe("m1", "m2")),
        usage=draw(maybe()) if draw(st.booleans()) else draw(usages),
        tool=draw(st.none() | tools),
        origin=draw(maybe(Origin(via=["transcript"]), Origin(via=["x"]))),
        data=draw(few([{}, {}, {"finish_reason": "STOP"}, {"repeat": True}])),
    )
    decision = draw(st.none() | st.builds(Decision, outcome=maybe("deny", "allow", "ask")))
    return Stored(event=event, decision=decision, runs=draw(st.lists(runs, max_size=2)), level="minimal")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A new database for each example."""
    return lambda: tmp_path_factory.mktemp("store") / "events.db"


def summaries(connection):
    """Every summary row, by table."""
    return {name: sorted(map(repr, connection.execute(f"SELECT * FROM {name}"))) for name in TABLES}  # noqa: S608


def group_by(records):
    """Events by everything they are counted under, by hand."""
    return Counter(
        (
            one.event.time[:10],
            one.event.agent,
            one.event.type,
            one.event.tool.name if one.event.tool else "",
            (one.decision.outcome or "") if one.decision else "",
        )
        for one in records
    )


def totals(records):
    """What the sessions come to that the records are of, as their own state knows it."""
    sums = [0] * len(TOKEN_COLUMNS)
    whose = lambda one: (one.event.agent, one.event.session or "")  # noqa: E731
    for _, found in groupby(sorted(records, key=whose), key=whose):  # their order stays
        state = Spending()
        for one in found:
            state = state if is_redundant(one.event) else token_usage.update_spending(state, one.event)
        used = token_usage.total_usage(state)
        sums = [known + (getattr(used, name, 0) or 0) for known, name in zip(sums, TOKEN_COLUMNS, strict=True)]
    return sums


@given(st.lists(stored(), max_size=12), st.data())
@settings(max_examples=20)
def test_a_summary_is_what_counting_would_find(place, records, data):
    """
    However the records came in batches, and whoever counts: at append, by hand, or again.
    """
    cut = data.draw(st.integers(0, len(records)))
    with Writer(place()) as writer:
        for some in (records[:cut], records[cut:], records[:1]):  # what comes twice is counted once
            writer.append([build_entry(one) for one in some])
        connection = writer.connection
        kept = {tuple(row[:5]): row[5] for row in connection.execute("SELECT * FROM daily_counts")}
        before = summaries(connection)
        assert len(records) == rebuild_summaries(writer)
        assert before == summaries(connection)

    assert group_by(records) == kept


@given(st.lists(stored(), max_size=12), st.data())
@settings(max_examples=30)
def test_each_token_is_spent_once(place, records, data):
    """
    What is spent is the sum of what the sessions have used, however they came in batches, by project or not.
    """
    cut = data.draw(st.integers(0, len(records)))
    with Writer(place()) as writer:
        for some in (records[:cut], records[cut:]):
            writer.append([build_entry(one) for one in some])
        ways = [[one.tokens for one in load_spend(writer.connection, RollupFilter(), projects=way)] for way in (True, False)]

    for found in ways:
        assert totals(records) == [sum(numbers) for numbers in zip(*found, strict=True)] or totals(records) == [0] * 5
        assert all(any(numbers) and min(numbers) >= 0 for numbers in found)


@given(st.lists(stored(), max_size=12))
@settings(max_examples=20)
def test_what_is_told_adds_up(place, records):
    with Writer(place()) as writer:
        writer.append([build_entry(one) for one in records])
        found, costs = load_event_counts(writer.connection, RollupFilter()), load_hook_costs(writer.connection, RollupFilter())

    assert {len(records)} == {sum(table.values()) for table in found.values()} | {len(records)}
    assert Counter(one.event.agent for one in records) == found["agent"]
    ran = [run for one in records for run in one.runs]
    assert Counter(run.hook for run in ran) == {one.hook: one.runs for one in costs}
    assert sum(run.tokens or 0 for run in ran) == sum(one.tokens for one in costs)


@pytest.mark.parametrize(
    ("usage", "over"),
    [
        (Usage(input_tokens=32_000), 0),
        (Usage(input_tokens=32_001), 32_000),
        (Usage(input_tokens=1, cache_read_tokens=272_000), 272_000),
        (Usage(input_tokens=200_001, cache_read_tokens=200_000), 200_000),
    ],
    ids=str,
)
def test_a_long_request_is_counted_apart(usage, over):
    """
    A call of the model; of a whole turn nobody knows how long its requests were.
    """
    with Writer() as writer:
        for kind in ("after_model", "agent_stop"):
            one = example()
            event = replace(one.event, type=kind, session=kind, usage=usage, model=kind)
            writer.append([build_entry(replace(one, event=event))])
        kept = {(one.model, one.input_tier) for one in load_spend(writer.connection, RollupFilter(), projects=True)}

    assert {("after_model", over), ("agent_stop", 0)} == kept


def test_a_number_that_no_database_holds_is_no_reason_to_lose_a_record():
    with Writer() as writer:
        for number in (10**30, -5):
            one = example()
            writer.append([build_entry(replace(one, event=replace(one.event, type="agent_stop", usage=Usage(input_tokens=number))))])
        assert [10**12] == [one.tokens[0] for one in load_spend(writer.connection, RollupFilter(), projects=False)]


@given(st.integers(0, 10**6))
def test_a_step_is_the_last_that_is_exceeded(tokens):
    assert max([0, *(one for one in usage_tokens.INPUT_TIERS if one < tokens)]) == usage_tokens.find_input_tier(tokens)


def test_wrong_summaries_are_put_right_and_progress_is_told():
    with Writer() as writer:
        writer.append([build_entry(example(number)) for number in range(20)])
        right = summaries(writer.connection)
        for name in TABLES:
            writer.connection.execute(f"DELETE FROM {name}")  # noqa: S608
        writer.connection.execute("INSERT INTO hook_runs VALUES ('2026-01-01', 'ghost', 1, 1, 1, 1, 1.0, 1)")
        told = []
        assert 20 == rebuild_summaries(writer, lambda *numbers: told.append(numbers))

        assert right == summaries(writer.connection)
        assert (20, 20) == told[-1]


def test_a_count_that_fails_changes_nothing():
    with Writer() as writer:
        writer.append([build_entry(example(number)) for number in range(3)])
        right = summaries(writer.connection)

        def broken(*_):
            raise OSError("the disk is gone")

        with pytest.raises(OSError, match="the disk is gone"):
            rebuild_summaries(writer, broken)
        assert right == summaries(writer.connection)
        assert 3 == rebuild_summaries(writer)


def test_others_write_while_all_is_counted_again():
    with Writer() as writer, Writer(lock_timeout_s=0.1) as other:
        writer.append([build_entry(example(number)) for number in range(3)])
        late = [build_entry(example(9))]

        def meanwhile(*_):
            if late:
                other.append([late.pop()])

        assert 4 == rebuild_summaries(writer, meanwhile)
        assert 4 == sum(load_event_counts(writer.connection, RollupFilter())["agent"].values())


def test_days_that_were_removed_stay_counted():
    """
    Their records are gone, so nobody could count them again.
    """
    with Writer() as writer:
        old = [example(number, day="2026-11-01") for number in range(3)]
        writer.append([build_entry(one) for one in [*old, example(4), example(5)]])
        right = summaries(writer.connection)
        assert expire_days(writer, "2026-11-10")
        rebuild_summaries(writer)

        assert right == summaries(writer.connection)


def test_erased_records_are_counted_without_what_they_said():
    with Writer() as writer:
        found = [example(0), example(1)]
        writer.append([build_entry(one) for one in found])
        erase_records(writer, [found[0].event.id])
        rebuild_summaries(writer)

        assert {"codex": 2} == load_event_counts(writer.connection, RollupFilter())["agent"]
        assert [1] == [one.runs for one in load_hook_costs(writer.connection, RollupFilter())]
        assert [("/w",)] == writer.connection.execute("SELECT project FROM sessions").fetchall()


def example(number=0, day="2026-11-15"):
    """A call with a hook."""
    event = Event(
        id=ids.new_id(),
        schema="hookonce/1",
        type="before_tool_execute",
        agent="codex",
        session=f"{day} s{number % 2}",
        time=f"{day}T10:00:{number:02}Z",
        time_source="agent",
        received=f"{day}T10:00:{number:02}Z",
        cwd="/w",
        tool=Tool(name="shell", native="Bash"),
        usage=Usage(input_tokens=number),
    )
    return Stored(event=event, runs=[HookRun(hook="guard", duration_ms=2**number)], level="minimal")


@given(st.lists(st.floats(0.2, 100_000), min_size=1, max_size=50), few([0.5, 0.95]))
def test_a_percentile_is_never_too_low_and_at_most_a_quarter_too_high(values, part):
    sizes = sorted(Counter(map(duration_bucket, values)).items())
    exact = sorted(values)[max(0, -(-int(part * 100) * len(values) // 100) - 1)]

    assert exact * 0.999 <= percentile(sizes, part) <= exact * 1.26
    assert all(bucket_upper_ms(duration_bucket(value)) >= value * 0.999 for value in values)


@pytest.mark.parametrize(
    ("span", "days"),
    [
        ({}, DAYS),
        ({"since": "2026-11-14T00:00:00Z"}, DAYS[1:]),
        ({"since": "2026-11-14T12:00:00Z"}, DAYS[1:]),
        ({"until": "2026-11-14T00:00:00Z"}, DAYS[:1]),
        ({"until": "2026-11-14T12:00:00Z"}, DAYS[:2]),
        ({"agent": "cline"}, []),
    ],
    ids=str,
)
def test_summaries_know_whole_days(span, days):
    with Writer() as writer:
        writer.append([build_entry(example(number, day)) for number, day in enumerate(DAYS)])

    with closing(database.open_reader()) as connection:
        assert days == sorted(load_event_counts(connection, RollupFilter(**span))["day"])
