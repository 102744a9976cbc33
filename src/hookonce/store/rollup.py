"""Rollup tables: counts by day, hook and session, updated with each batch of records. Law: rollup = group-by."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate, groupby
from math import ceil, log
from operator import itemgetter
from sqlite3 import Connection

from msgspec import Struct

from hookonce.model import HookRun, Stored
from hookonce.store.entry import IndexColumns
from hookonce.store.query import time_bound
from hookonce.store.usage import tokens
from hookonce.store.usage.tokens import TOKEN_COLUMNS, UsageReports

_CALL_EVENT = "before_tool_execute"
_BUCKET_GROWTH = 1.25  # from one bucket of times to the next, so that a percentile is at most a quarter off
_MIN_BUCKET_MS = 0.1
_DATE_CHARS = 10


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
    counts: Counter[tuple[str, ...]] = Counter()
    hooks: dict[tuple[str, str, int], list[float]] = {}
    sessions: dict[tuple[str, str | None], _SessionCounters] = {}
    for column_values, record in rows:
        _, time, _, event_type, agent, session, _, tool, outcome, model, project, _ = column_values
        day = time[:_DATE_CHARS]
        counts[day, agent, event_type, tool or "", outcome or ""] += 1
        for run in record.runs:
            _count_run(hooks.setdefault((day, run.hook, duration_bucket(run.duration_ms or 0)), [0.0] * 5), run)
        counters = sessions.get((agent, session))
        if counters is None:
            counters = sessions[agent, session] = _SessionCounters(time)
        counters.count_event(time, event_type, outcome, project)
        tokens.collect_report(counters.usage_reports, record.event, day, model or "", project or "")
    connection.executemany(_UPSERT_COUNTS, [(*key, count) for key, count in counts.items()])
    connection.executemany(_UPSERT_HOOKS, [(*key, *row) for key, row in hooks.items()])
    session_rows = [
        (*key, row.first, row.last, row.events, row.calls, row.refusals, row.project)
        for key, row in sessions.items()
        if key[1] is not None
    ]
    connection.executemany(_UPSERT_SESSIONS, session_rows)
    for (agent, session), counters in sessions.items():
        tokens.add_session_usage(connection, agent, session or "", counters.usage_reports)


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


_UPSERT_COUNTS = """INSERT INTO daily_counts VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET events = events + excluded.events"""
_UPSERT_HOOKS = """INSERT INTO hook_runs VALUES (?, ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER), ?,
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


class RollupFilter(Struct, frozen=True, kw_only=True):
    """Filter of rollups: days `since` (inclusive) and `until` (exclusive), one agent or all."""

    since: str | None = None
    until: str | None = None
    agent: str | None = None


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
    where, values = _build_span_where(span)
    event_counts: dict[str, dict[str, int]] = {column: {} for column in COUNT_COLUMNS}
    for columns_group in (COUNT_COLUMNS[:-1], COUNT_COLUMNS[-1:]):  # grouped by days too, there would be many rows
        columns = ", ".join(columns_group)
        statement = f"SELECT {columns}, sum(events) FROM daily_counts WHERE {where} GROUP BY {columns}"  # noqa: S608  our own words
        for *names, events in connection.execute(statement, values):
            for column, name in zip(columns_group, names, strict=True):
                event_counts[column][name] = event_counts[column].get(name, 0) + events
    return event_counts


def load_agent_counts(connection: Connection, span: RollupFilter) -> dict[str, dict[str, int]]:
    """Events, tool calls, refusals and questions of each agent."""
    where, values = _build_span_where(span)
    statement = f"""SELECT agent, sum(events), sum(events * (type = '{_CALL_EVENT}')), sum(events * (outcome = 'deny')),
        sum(events * (outcome = 'ask')) FROM daily_counts WHERE {where} GROUP BY agent"""  # noqa: S608  our own words
    rows = connection.execute(statement, values)
    return {agent: dict(zip(_AGENT_COUNTS, counts, strict=True)) for agent, *counts in rows}


def load_hook_costs(connection: Connection, span: RollupFilter) -> list[HookCost]:
    """Cost of each hook, the slowest first; not split by agent."""
    where, values = _build_span_where(RollupFilter(since=span.since, until=span.until))
    statement = f"""SELECT hook, duration_bucket, sum(runs), sum(failures), sum(refusals), sum(total_ms), sum(tokens)
        FROM hook_runs WHERE {where} GROUP BY 1, 2 ORDER BY 1, 2"""  # noqa: S608  our own words
    rows: dict[str, list[tuple[float, ...]]] = {}
    for hook, *numbers in connection.execute(statement, values):
        rows.setdefault(hook, []).append(tuple(numbers))
    total_ms = {hook: sum(row[4] for row in buckets) for hook, buckets in rows.items()}
    return [_build_hook_cost(hook, rows[hook]) for hook in sorted(rows, key=lambda hook: (-total_ms[hook], hook))]


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
    where, values = _build_span_where(span)
    table, project_column = ("usage_by_project", "project") if projects else ("spend", "''")
    columns = f"day, agent, model, input_tier, {project_column}, {', '.join(TOKEN_COLUMNS)}"
    statement = f"SELECT {columns} FROM {table} WHERE {where}"  # noqa: S608  our own words
    for day, agent, model, input_tier, project, *sums in connection.execute(statement, values):
        yield SpendRow(day, agent, model, input_tier, project, tuple(sums))


def load_session_spend(connection: Connection, span: RollupFilter) -> Iterator[SpendRow]:
    """The same by session; what belongs to none, or to one that was erased, has no session. Law: the sums are equal."""
    rest = {
        (entry.day, entry.agent, entry.model, entry.input_tier): entry.tokens
        for entry in load_spend(connection, span, projects=False)
    }
    statement = f"""SELECT agent, session, source, day, model, project, input_tier, {", ".join(TOKEN_COLUMNS)}
        FROM token_usage WHERE agent = coalesce(?, agent) ORDER BY agent, session"""  # noqa: S608  our own words
    rows = connection.execute(statement, (span.agent,))
    for (agent, session), session_rows in groupby(rows, key=itemgetter(0, 1)):
        for usage, counts in tokens.effective_usage({tokens.UsageKey(*row[2:7]): row[7:] for row in session_rows}):
            key = (usage.day, agent, usage.model, usage.input_tier)
            if session and key in rest:
                rest[key] = tuple(map(int.__sub__, rest[key], counts))
                yield SpendRow(*key, usage.project, counts, session)
    yield from (SpendRow(*key, "", counts) for key, counts in rest.items() if any(counts))


def _build_span_where(span: RollupFilter) -> tuple[str, list[str]]:
    parts, values = ["TRUE"], []
    if span.since is not None:
        parts.append("day >= ?")
        values.append(time_bound(span.since)[:_DATE_CHARS])
    if span.until is not None:  # a day that has begun by then is counted whole
        until = time_bound(span.until)
        parts.append("day < ?" if until[_DATE_CHARS:] in {"", "T00:00:00"} else "day <= ?")
        values.append(until[:_DATE_CHARS])
    if span.agent is not None:
        parts.append("agent = ?")
        values.append(span.agent)
    return " AND ".join(parts), values
