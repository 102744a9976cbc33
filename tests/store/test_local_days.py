"""Local days of summaries: whatever the zone, they are what counting by hand would find."""

import time
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from hookonce.base import times
from hookonce.inspect.stats import build_cost_report, build_stats
from hookonce.model import Decision, Event, HookRun, Stored, Usage
from hookonce.store import database, schema
from hookonce.store.entry import build_entry
from hookonce.store.local_days import load_local_filter
from hookonce.store.maintenance.rebuild import rebuild_summaries
from hookonce.store.rollup import RollupFilter
from hookonce.store.writer import Writer

# East and west, half and quarter hours, clocks set at midnight, by half an hour and half a day away.
ZONES = [
    "UTC",
    "Europe/Berlin",
    "America/Los_Angeles",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "America/St_Johns",
    "Africa/Cairo",
    "America/Havana",
    "Pacific/Chatham",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
    "Asia/Beirut",
]
FIRST_DAYS = (
    "2026-03-07",
    "2026-03-28",
    "2026-04-04",
    "2026-04-23",
    "2026-10-30",
    "2026-10-24",
)  # around clocks that are set


def event_times():
    """Every 25 minutes of some days, so that each quarter of an hour has been met."""
    for day in FIRST_DAYS:
        begin = datetime.fromisoformat(f"{day}T00:07:00Z")
        yield from (times.format_time(begin + timedelta(minutes=25 * step)) for step in range(172))


def record(number, moment):
    event = Event(
        id=f"e{number}",
        schema="hookonce/1",
        type="agent_stop" if number % 3 else "before_tool_execute",
        agent=("codex", "cline")[number % 2],
        session=f"s{number // 40}",
        time=moment,
        time_source="agent",
        cwd=f"/w{number % 5}",
        model="gpt-5",
        usage=Usage(input_tokens=number + 1, output_tokens=1) if number % 3 else None,
    )
    runs = [HookRun(hook="guard", duration_ms=number % 7 + 1, failure="timeout" if number % 11 == 0 else None)]
    return Stored(
        event=event, decision=Decision(outcome="deny") if number % 4 == 0 else None, runs=runs, level="minimal"
    )


RECORDS = [record(number, moment) for number, moment in enumerate(event_times())]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """One store for all zones."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        with Writer() as writer:
            writer.append([build_entry(one) for one in RECORDS])
    return folder


@pytest.fixture
def set_zone(home, monkeypatch):
    """Live in another zone for a while."""
    monkeypatch.setenv("HOME", str(home))

    def set_to(name):
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield set_to
    monkeypatch.undo()
    time.tzset()


def days_of(records, zone):
    local = (datetime.fromisoformat(one.event.time).astimezone(ZoneInfo(zone)) for one in records)
    return Counter(moment.date().isoformat() for moment in local)


def in_span(one, zone, since, until):
    day = datetime.fromisoformat(one.event.time).astimezone(ZoneInfo(zone)).date().isoformat()
    return since <= day < until


@pytest.mark.parametrize("zone", ZONES)
def test_days_are_those_of_the_zone(set_zone, zone):
    set_zone(zone)
    with closing(database.open_reader()) as connection:
        found = build_stats(connection, load_local_filter(connection))
        costs = build_cost_report(connection, load_local_filter(connection), "day", lambda row: row.tokens[0])

    assert days_of(RECORDS, zone) == {day.name: day.events for day in found.days}
    tokens = Counter()
    for one in RECORDS:
        for day in days_of([one], zone):
            tokens[day] += one.event.usage.input_tokens if one.event.usage else 0
    assert +tokens == {row.name: row.input_tokens for row in costs.rows}
    assert costs.total.micro_dollars == sum(tokens.values())
    assert [] == found.utc_days == costs.utc_days


@pytest.mark.parametrize("zone", ZONES)
def test_a_span_begins_and_ends_with_local_days(set_zone, zone):
    """
    All that is counted by something else than days, too; a day that has begun is counted whole.
    """
    set_zone(zone)
    since, until = (datetime(2026, 3, day, tzinfo=ZoneInfo(zone)).astimezone(UTC) for day in (8, 30))
    expected = [one for one in RECORDS if in_span(one, zone, "2026-03-08", "2026-03-30")]
    with closing(database.open_reader()) as connection:
        span = load_local_filter(connection, since=times.format_time(since), until=times.format_time(until))
        found = build_stats(connection, span)
        later = load_local_filter(connection, since=times.format_time(since + timedelta(hours=1)))
        costs = {
            by: build_cost_report(connection, span, by, lambda row: row.tokens[0])
            for by in ("project", "session", "agent")
        }
        codex = build_stats(
            connection, load_local_filter(connection, since=span.since, until=span.until, agent="codex")
        )

    assert len(expected) == found.events == sum(agent.events for agent in found.agents)
    assert Counter(one.event.type for one in expected) == {kind.name: kind.events for kind in found.types}
    assert sum(one.decision is not None for one in expected) == sum(agent.refusals for agent in found.agents)
    (hook,) = found.hooks
    failures = sum(run.failure is not None for one in expected for run in one.runs)
    assert (len(expected), failures) == (hook.runs, hook.failures)
    assert hook.mean_ms == pytest.approx(sum(one.runs[0].duration_ms for one in expected) / len(expected), abs=0.001)
    assert sum(one.event.agent == "codex" for one in expected) == codex.events
    assert min(days_of(expected, zone)) == min(day.name for day in build_stats_days(later) if day.name >= "2026-03-08")
    spent = Counter()
    for one in expected:
        spent[one.event.cwd] += one.event.usage.input_tokens if one.event.usage else 0
    assert spent == {row.name: row.input_tokens for row in costs["project"].rows}
    assert {sum(spent.values())} == {report.total.input_tokens for report in costs.values()}
    assert "unknown" not in {row.name for row in costs["session"].rows}


def build_stats_days(span):
    with closing(database.open_reader()) as connection:
        return build_stats(connection, span).days


def test_utc_stays_utc(set_zone):
    set_zone("Asia/Kathmandu")
    assert days_of(RECORDS, "UTC") == {day.name: day.events for day in build_stats_days(RollupFilter())}


def test_a_zone_that_no_quarter_hour_fits_is_told(set_zone):
    """
    Nothing is counted nearly right: the days are those of UTC, and that is said.
    """
    set_zone("XXX-5:07")
    with closing(database.open_reader()) as connection:
        span = load_local_filter(connection)

    assert not span.is_local
    assert days_of(RECORDS, "UTC") == {day.name: day.events for day in build_stats_days(span)}


def test_days_of_an_older_version_are_named_until_they_are_counted_again(set_zone, tmp_path, monkeypatch):
    set_zone("Asia/Kolkata")
    monkeypatch.setenv("HOME", str(tmp_path))
    with Writer() as writer:
        writer.append([build_entry(one) for one in RECORDS[:172]])
        for table in ("quarter_counts", "quarter_hook_runs", "quarter_usage", "token_usage"):
            writer.connection.execute(f"DELETE FROM {table}")  # noqa: S608
        for statement in schema.MIGRATIONS[4]:
            if statement.startswith("INSERT INTO undivided_days"):
                writer.connection.execute(statement)
        before = build_stats(writer.connection, load_local_filter(writer.connection))
        rebuild_summaries(writer)
        after = build_stats(writer.connection, load_local_filter(writer.connection))

    assert days_of(RECORDS[:172], "UTC") == {day.name: day.events for day in before.days}
    assert sorted(days_of(RECORDS[:172], "UTC")) == before.utc_days
    assert (days_of(RECORDS[:172], "Asia/Kolkata"), []) == (
        {day.name: day.events for day in after.days},
        after.utc_days,
    )


@pytest.mark.parametrize("size", [1, 7, 1032])
def test_quarter_hours_come_to_the_same_however_they_are_counted(tmp_path, monkeypatch, size):
    """
    In batches of any size, and again from the rows; together they are the sums of the days.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    tables = ("quarter_counts", "quarter_hook_runs", "quarter_usage", "token_usage")
    records = RECORDS[:: 1 if size > 100 else 40]
    with Writer() as writer:
        connection = writer.connection
        for start in range(0, len(records), size):
            writer.append([build_entry(one) for one in records[start : start + size]])
        before = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables}  # noqa: S608
        rebuild_summaries(writer)
        after = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables}  # noqa: S608
        by_day = connection.execute("SELECT day, agent, type, tool, outcome, sum(events) FROM quarter_counts GROUP BY 1, 2, 3, 4, 5")

        assert before == after
        assert by_day.fetchall() == connection.execute("SELECT * FROM daily_counts").fetchall()
        assert len({(one.event.time[:13], int(one.event.time[14:16]) // 15) for one in records}) == len(
            connection.execute("SELECT DISTINCT day, quarter FROM quarter_counts").fetchall()
        )
