"""Rollup tables: counts by day, hook and session, updated with each batch of records. Law: rollup = group-by.

Days are those of UTC; tables of quarter hours beside them say which part of one belongs to another local day.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate, groupby
from math import ceil, log
from operator import itemgetter
from sqlite3 import Connection
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base import times
from hookonce.base.jsontext import dump
from hookonce.model import HookRun, Stored
from hookonce.store.entry import IndexColumns
from hookonce.store.usage import tokens
from hookonce.store.usage.tokens import NO_QUARTER, TOKEN_COLUMNS, UsageReports

_CALL_EVENT = "before_tool_execute"
_BUCKET_GROWTH = 1.25  # from one bucket of times to the next, so that a percentile is at most a quarter off
_MIN_BUCKET_MS = 0.1
_DATE_CHARS = 10
_MAX_DAY = "~"  # after every day


class _SessionCounters:
    """Counters of one session within a batch."""

    def __init__(self, time: str) -> None:
        self.first = self.last = time
        self.events = self.calls = self.refusals = 0
        self.project: str | None = None
        self.usage_reports: UsageReports = []

    def count_event(self, time: str, event_type: str, outcome: str | None, project: str | None) -> None:
        self.first, self.last = min(self.first, time), max(self.last, time)
        self.events += 1
        self.calls += event_type == _CALL_EVENT
        self.refusals += outcome == "deny"
        self.project = self.project or project


def add_records(connection: Connection, rows: Iterable[tuple[IndexColumns, Stored]]) -> None:
    """Add records, with their column values, to the rollup tables."""
    counts: Counter[tuple[str | int, ...]] = Counter()
    hooks: dict[tuple[str | int, ...], list[float]] = {}
    sessions: dict[tuple[str, str | None], _SessionCounters] = {}
    for column_values, record in rows:
        _, time, _, event_type, agent, session, _, tool, outcome, model, project, _ = column_values
        day, quarter = time[:_DATE_CHARS], _quarter_of(time)
        counts[day, quarter, agent, event_type, tool or "", outcome or ""] += 1
        for run in record.runs:
            bucket = duration_bucket(run.duration_ms or 0)
            _count_run(hooks.setdefault((day, quarter, run.hook, bucket), [0.0] * 5), run)
        counters = sessions.get((agent, session))
        if counters is None:
            counters = sessions[agent, session] = _SessionCounters(time)
        counters.count_event(time, event_type, outcome, project)
        tokens.collect_report(counters.usage_reports, record.event, day, quarter, model or "", project or "")
    _upsert_sums(connection, _UPSERT_COUNTS, "daily_counts", {key: (count,) for key, count in counts.items()})
    _upsert_sums(connection, _UPSERT_HOOKS, "hook_runs", hooks)
    session_rows = [
        (*key, row.first, row.last, row.events, row.calls, row.refusals, row.project)
        for key, row in sessions.items()
        if key[1] is not None
    ]
    connection.executemany(_UPSERT_SESSIONS, session_rows)
    for (agent, session), counters in sessions.items():
        tokens.add_session_usage(connection, agent, session or "", counters.usage_reports)


def _quarter_of(time: str) -> int:
    """The quarter hour of a time within its UTC day."""
    hour, minute = time[_DATE_CHARS + 1 : 13], time[14:16]
    return int(hour) * 4 + int(minute) // 15 if hour.isdecimal() and minute.isdecimal() else NO_QUARTER


def _upsert_sums(
    connection: Connection, statement: str, table: str, sums: Mapping[tuple[str | int, ...], Sequence[float]]
) -> None:
    """Add sums by quarter hour to their table, and by day to that of the days."""
    rows_by_day: dict[tuple[str | int, ...], Sequence[float]] = {}
    for (day, _, *key), numbers in sums.items():
        previous = rows_by_day.get((day, *key))
        rows_by_day[day, *key] = numbers if previous is None else [*map(sum, zip(previous, numbers, strict=True))]
    connection.executemany(statement.format(table, ""), [(*key, *row) for key, row in rows_by_day.items()])
    rows = [(*key, *row) for key, row in sums.items() if key[1] != NO_QUARTER]
    connection.executemany(statement.format(QUARTER_TABLES[table], "?, "), rows)


def _count_run(counters: list[float], run: HookRun) -> None:
    counters[0] += 1
    counters[1] += run.failure is not None
    counters[2] += run.outcome == "deny"
    counters[3] += run.duration_ms or 0
    counters[4] += run.tokens or 0


def duration_bucket(ms: float) -> int:
    """The histogram bucket of a duration."""
    return max(0, ceil(log(max(ms, _MIN_BUCKET_MS) / _MIN_BUCKET_MS, _BUCKET_GROWTH)))


def bucket_upper_ms(number: int) -> float:
    """The upper bound of a histogram bucket in milliseconds."""
    return _MIN_BUCKET_MS * _BUCKET_GROWTH**number


QUARTER_TABLES = {
    "daily_counts": "quarter_counts",
    "hook_runs": "quarter_hook_runs",
    "spend": "quarter_usage",
    "usage_by_project": "quarter_usage",
}
_UPSERT_COUNTS = """INSERT INTO {} VALUES (?, {}?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET events = events + excluded.events"""
_UPSERT_HOOKS = """INSERT INTO {} VALUES (?, {}?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER), ?,
    CAST(? AS INTEGER))
    ON CONFLICT DO UPDATE SET runs = runs + excluded.runs, failures = failures + excluded.failures,
    refusals = refusals + excluded.refusals, total_ms = total_ms + excluded.total_ms,
    tokens = tokens + excluded.tokens"""
_UPSERT_SESSIONS = """INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET first_time = min(first_time, excluded.first_time),
    last_time = max(last_time, excluded.last_time), events = events + excluded.events,
    calls = calls + excluded.calls, refusals = refusals + excluded.refusals,
    project = coalesce(project, excluded.project)"""


_AGENT_COUNTS = ("events", "calls", "refusals", "asks")
COUNT_COLUMNS = ("agent", "type", "tool", "outcome", "day")


class DayMove(NamedTuple):
    """Quarter hours of a UTC day, the last one exclusive, that belong to another local day."""

    day: str
    first_quarter: int
    end_quarter: int
    local_day: str


class RollupFilter(Struct, frozen=True, kw_only=True):
    """Filter of rollups: from the day of `since` until that of `until`, which counts if it has begun; one agent or all.

    Local days are UTC days with the `moves`; `local_days.load_local_filter` finds them.
    """

    since: str | None = None
    until: str | None = None
    agent: str | None = None
    is_local: bool = False
    moves: tuple[DayMove, ...] = ()
    undivided_days: frozenset[str] = frozenset()  # with a move, and counted before there were quarter hours


class HookCost(Struct, frozen=True, kw_only=True):
    """Runs, failures and durations of a hook. A percentile is its bucket's upper bound, at most a quarter too high."""

    hook: str
    runs: int
    failures: int
    refusals: int
    tokens: int
    mean_ms: float
    p50_ms: float
    p95_ms: float


class SpendRow(Struct, frozen=True):
    """Tokens of calls in one input tier; `tokens` in the order of `TOKEN_COLUMNS`."""

    day: str
    agent: str
    model: str
    input_tier: int
    project: str
    tokens: tuple[int, ...]
    session: str = ""


def load_event_counts(connection: Connection, span: RollupFilter) -> dict[str, dict[str, int]]:
    """Number of events by agent, type, tool, outcome and day."""
    event_counts: dict[str, dict[str, int]] = {column: {} for column in COUNT_COLUMNS}
    for columns in (COUNT_COLUMNS[:-1], COUNT_COLUMNS[-1:]):  # grouped by days too, there would be many rows
        for names, (events,) in _load_sums(connection, span, "daily_counts", columns, ("sum(events)",)).items():
            for column, name in zip(columns, names, strict=True):
                event_counts[column][name] = event_counts[column].get(name, 0) + events
    return event_counts


def load_agent_counts(connection: Connection, span: RollupFilter) -> dict[str, dict[str, int]]:
    """Events, tool calls, refusals and questions of each agent."""
    conditions = ("TRUE", f"type = '{_CALL_EVENT}'", "outcome = 'deny'", "outcome = 'ask'")
    counts = tuple(f"sum(events * ({condition}))" for condition in conditions)
    rows = _load_sums(connection, span, "daily_counts", ("agent",), counts)
    return {agent: dict(zip(_AGENT_COUNTS, row, strict=True)) for (agent,), row in rows.items()}


def load_hook_costs(connection: Connection, span: RollupFilter) -> list[HookCost]:
    """Cost of each hook, the slowest first; not split by agent."""
    sums = ("sum(runs)", "sum(failures)", "sum(refusals)", "sum(total_ms)", "sum(tokens)")
    rows: dict[str, list[tuple[float, ...]]] = {}
    sums_by_bucket = _load_sums(connection, replace(span, agent=None), "hook_runs", ("hook", "duration_bucket"), sums)
    for (hook, bucket), numbers in sorted(sums_by_bucket.items()):
        rows.setdefault(hook, []).append((bucket, *numbers))
    total_ms = {hook: sum(row[4] for row in buckets) for hook, buckets in rows.items()}
    return [_build_hook_cost(hook, rows[hook]) for hook in sorted(rows, key=lambda hook: (-total_ms[hook], hook))]


def _load_sums(
    connection: Connection, span: RollupFilter, table: str, keys: Sequence[str], sums: Sequence[str]
) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Sums by some columns."""
    where, values = _build_span_where(span)
    columns = ", ".join((*keys, *sums))
    statement = f"SELECT {columns} FROM {table} WHERE {where} GROUP BY {', '.join(keys)}"  # noqa: S608  our own words
    rows = {row[: len(keys)]: row[len(keys) :] for row in connection.execute(statement, values)}
    moved_keys = [key for key in keys if key != "day"]
    for day, sign, row in _load_moved_rows(connection, span, table, moved_keys, sums, by_day="day" in keys):
        fields = iter(row)
        key = tuple(day if name == "day" else next(fields) for name in keys)
        change = tuple(sign * number for number in fields)
        rows[key] = tuple(map(sum, zip(rows[key], change, strict=True))) if key in rows else change
    if not span.moves:
        return rows
    # Only counts tell that all has gone elsewhere: of times, which are no whole numbers, a trace may be left.
    counts_by_key = {key: [number for number in numbers if type(number) is int] for key, numbers in rows.items()}
    return {key: numbers for key, numbers in rows.items() if any(counts_by_key[key])}


_MOVE_VALUES = ", ".join(f"json_extract(value, '$[{index}]')" for index in range(3))


def _load_moved_rows(
    connection: Connection, span: RollupFilter, table: str, keys: Sequence[str], sums: Sequence[str], *, by_day: bool
) -> Iterator[tuple[str, int, tuple[Any, ...]]]:
    """What local days have that UTC days have not (1), and the other way round (-1): the day, which, keys and sums."""
    first, end = _day_bounds(span)
    moves = [
        (move, goes_out, comes_in)
        for move in span.moves
        for goes_out, comes_in in [(first <= move.day < end, first <= move.local_day < end)]
        if goes_out != comes_in or (by_day and goes_out)
    ]
    if not moves:
        return
    columns = ", ".join(("number", *keys))
    statement = f"""WITH moves (number, utc_day, first_quarter, end_quarter)
        AS (SELECT key, {_MOVE_VALUES} FROM json_each(?))
        SELECT {columns}, {", ".join(sums)} FROM moves CROSS JOIN {QUARTER_TABLES[table]}
        ON day = utc_day AND quarter >= first_quarter AND quarter < end_quarter
        WHERE {"TRUE" if span.agent is None else "agent = ?"} GROUP BY {columns}"""  # noqa: S608  our own words
    values = [dump([move[:3] for move, *_ in moves]).decode(), *([] if span.agent is None else [span.agent])]
    for number, *row in connection.execute(statement, values):
        move, goes_out, comes_in = moves[number]
        if comes_in:
            yield move.local_day, 1, tuple(row)
        if goes_out:
            yield move.day, -1, tuple(row)


def _build_hook_cost(hook: str, rows: list[tuple[float, ...]]) -> HookCost:
    runs, failures, refusals, ms, tokens = (sum(row[index] for row in rows) for index in range(1, 6))
    run_counts = [(int(row[0]), int(row[1])) for row in rows]
    return HookCost(
        hook=hook,
        runs=int(runs),
        failures=int(failures),
        refusals=int(refusals),
        tokens=int(tokens),
        mean_ms=round(ms / runs, 3),
        p50_ms=round(percentile(run_counts, 0.5), 3),
        p95_ms=round(percentile(run_counts, 0.95), 3),
    )


def percentile(run_counts: list[tuple[int, int]], fraction: float) -> float:
    """Upper bound of the bucket in which that fraction of the runs has ended."""
    target_runs = fraction * sum(count for _, count in run_counts)
    totals = zip(run_counts, accumulate(count for _, count in run_counts), strict=True)
    return next((bucket_upper_ms(bucket) for (bucket, _), total in totals if total >= target_runs), 0.0)


def load_spend(connection: Connection, span: RollupFilter, *, projects: bool) -> Iterator[SpendRow]:
    """Tokens by day, agent, model and input tier, and by project if wanted; each call once."""
    keys = ("day", "agent", "model", "input_tier", *(("project",) if projects else ()))
    table, sums = "usage_by_project" if projects else "spend", tuple(f"sum({name})" for name in TOKEN_COLUMNS)
    if span.moves:
        for key, counts in _load_sums(connection, span, table, keys, sums).items():
            day, agent, model, input_tier, *project = key
            yield SpendRow(day, agent, model, input_tier, project[0] if project else "", counts)
        return
    where, values = _build_span_where(span)
    columns = f"day, agent, model, input_tier, {'project' if projects else repr('')}, {', '.join(TOKEN_COLUMNS)}"
    statement = f"SELECT {columns} FROM {table} WHERE {where}"  # noqa: S608  our own words
    for day, agent, model, input_tier, project, *counts in connection.execute(statement, values):
        yield SpendRow(day, agent, model, input_tier, project, tuple(counts))


def load_session_spend(connection: Connection, span: RollupFilter) -> Iterator[SpendRow]:
    """The same by session; what belongs to none, or to one that was erased, has no session. Law: the sums are equal."""
    rest = {
        (entry.day, entry.agent, entry.model, entry.input_tier): entry.tokens
        for entry in load_spend(connection, span, projects=False)
    }
    local_days = {
        (move.day, quarter): move.local_day
        for move in span.moves
        for quarter in range(move.first_quarter, move.end_quarter)
    }
    statement = f"""SELECT agent, session, source, day, quarter, model, project, input_tier, {", ".join(TOKEN_COLUMNS)}
        FROM token_usage WHERE agent = coalesce(?, agent) ORDER BY agent, session"""  # noqa: S608  our own words
    rows = connection.execute(statement, (span.agent,))
    for (agent, session), session_rows in groupby(rows, key=itemgetter(0, 1)):
        for usage, counts in tokens.effective_usage({tokens.UsageKey(*row[2:8]): row[8:] for row in session_rows}):
            day = local_days.get((usage.day, usage.quarter), usage.day)
            key = (day, agent, usage.model, usage.input_tier)
            if session and key in rest:
                rest[key] = tuple(map(int.__sub__, rest[key], counts))
                yield SpendRow(*key, usage.project, counts, session)
    yield from (SpendRow(*key, "", counts) for key, counts in rest.items() if any(counts))


def find_utc_days(span: RollupFilter) -> list[str]:
    """The days of a local span that were counted before there were quarter hours, and are UTC days therefore."""
    first, end = _day_bounds(span)
    return sorted(day for day in span.undivided_days if first <= day < end)


def _day_bounds(span: RollupFilter) -> tuple[str, str]:
    """The first day of a span, and the one after its last; a day that has begun is counted whole."""
    zone = None if span.is_local else UTC
    since, until = (times.parse_time(text) if text else None for text in (span.since, span.until))
    end = _MAX_DAY
    if until is not None:
        until_day = until.astimezone(zone).date()
        starts_there = (times.local_day_start(until_day) if span.is_local else _utc_midnight(until_day)) == until
        end = str(until_day) if starts_there or until_day == date.max else str(until_day + timedelta(days=1))
    return "" if since is None else str(since.astimezone(zone).date()), end


def _utc_midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _build_span_where(span: RollupFilter) -> tuple[str, list[str]]:
    first, end = _day_bounds(span)
    conditions = [("day >= ?", first or None), ("day < ?", end if end != _MAX_DAY else None), ("agent = ?", span.agent)]
    parts = [(part, value) for part, value in conditions if value is not None]
    return " AND ".join(["TRUE", *(part for part, _ in parts)]), [value for _, value in parts]
