"""Rollup tables: counts by day, hook and session, updated with each batch of records. Law: rollup = group-by."""

from collections import Counter
from collections.abc import Iterable
from math import ceil, log
from sqlite3 import Connection

from hookonce.model import HookRun, Stored
from hookonce.store import told
from hookonce.store.entry import IndexColumns
from hookonce.store.told import UsageReports

_CALL_EVENT = "before_tool_execute"
_BUCKET_GROWTH = 1.25  # from one bucket of times to the next, so that a percentile is at most a quarter off
_MIN_BUCKET_MS = 0.1  # milliseconds
_DAY_CHARS = 10  # characters

HookCounters = list[float]


class _SessionCounters:
    """Counters of one session within a batch."""

    def __init__(self, time: str) -> None:
        self.first = self.last = time
        self.events = self.calls = self.refusals = 0
        self.project: str | None = None
        self.usage_reports: UsageReports = []


def add_records(connection: Connection, rows: Iterable[tuple[IndexColumns, Stored]]) -> None:
    """Add records, with their column values, to the rollup tables."""
    counts: Counter[tuple[str, ...]] = Counter()
    hooks: dict[tuple[str, str, int], HookCounters] = {}
    sessions: dict[tuple[str, str | None], _SessionCounters] = {}
    for column_values, record in rows:
        _, time, _, event_type, agent, session, _, tool, outcome, model, project, _ = column_values
        day = time[:_DAY_CHARS]
        counts[day, agent, event_type, tool or "", outcome or ""] += 1
        for run in record.runs:
            _count_run(hooks.setdefault((day, run.hook, duration_bucket(run.duration_ms or 0)), [0.0] * 5), run)
        counters = sessions.get((agent, session))
        if counters is None:
            counters = sessions[agent, session] = _SessionCounters(time)
        _count_event(counters, time, event_type, outcome, project)
        told.collect_report(counters.usage_reports, record.event, day, model or "", project or "")
    connection.executemany(_UPSERT_COUNTS, [(*key, count) for key, count in counts.items()])
    connection.executemany(_UPSERT_HOOKS, [(*key, *row) for key, row in hooks.items()])
    connection.executemany(
        _UPSERT_SESSIONS, [(*key, *_session_values(counters)) for key, counters in sessions.items() if key[1] is not None]
    )
    for (agent, session), counters in sessions.items():
        told.add_session_usage(connection, agent, session or "", counters.usage_reports)


def _count_event(counters: _SessionCounters, time: str, event_type: str, outcome: str | None, project: str | None) -> None:
    counters.first, counters.last = min(counters.first, time), max(counters.last, time)
    counters.events += 1
    counters.calls += event_type == _CALL_EVENT
    counters.refusals += outcome == "deny"
    counters.project = counters.project or project


def _session_values(counters: _SessionCounters) -> tuple[str, str, int, int, int, str | None]:
    return counters.first, counters.last, counters.events, counters.calls, counters.refusals, counters.project


def _count_run(counters: HookCounters, run: HookRun) -> None:
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


_UPSERT_COUNTS = "INSERT INTO counts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET events = events + excluded.events"
_UPSERT_HOOKS = """INSERT INTO hooks VALUES (?, ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER), ?,
    CAST(? AS INTEGER))
    ON CONFLICT DO UPDATE SET runs = runs + excluded.runs, failures = failures + excluded.failures,
    refusals = refusals + excluded.refusals, ms = ms + excluded.ms, tokens = tokens + excluded.tokens"""
_UPSERT_SESSIONS = """INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET first = min(first, excluded.first), last = max(last, excluded.last),
    events = events + excluded.events, calls = calls + excluded.calls, refusals = refusals + excluded.refusals,
    project = coalesce(project, excluded.project)"""
