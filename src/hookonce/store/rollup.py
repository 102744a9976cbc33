"""Rollups: what a batch of records adds to the summaries by day, by hook and by session. Law: rollup = group-by."""

from collections import Counter
from collections.abc import Iterable
from math import ceil, log
from sqlite3 import Connection

from hookonce.model import HookRun, Stored
from hookonce.store import told
from hookonce.store.entry import Columns
from hookonce.store.told import Tellings

_BEFORE = "before_tool_execute"
_GROWTH = 1.25  # from one bucket of times to the next, so that a percentile is at most a quarter off
_SMALLEST = 0.1  # milliseconds
_DAY = 10  # characters

Row = list[float]


class _Session:
    """What a batch tells of one session."""

    def __init__(self, time: str) -> None:
        self.first = self.last = time
        self.events = self.calls = self.refusals = 0
        self.project: str | None = None
        self.told: Tellings = []


def add(connection: Connection, rows: Iterable[tuple[Columns, Stored]]) -> None:
    """Add records, each with what stands beside it, to the summaries."""
    counts: Counter[tuple[str, ...]] = Counter()
    hooks: dict[tuple[str, str, int], Row] = {}
    sessions: dict[tuple[str, str | None], _Session] = {}
    for beside, record in rows:
        _, time, _, kind, agent, session, _, tool, outcome, model, place, _ = beside
        day = time[:_DAY]
        counts[day, agent, kind, tool or "", outcome or ""] += 1
        for run in record.runs:
            _ran(hooks.setdefault((day, run.hook, bucket(run.duration_ms or 0)), [0.0] * 5), run)
        found = sessions.get((agent, session))
        if found is None:
            found = sessions[agent, session] = _Session(time)
        _seen(found, time, kind, outcome, place)
        told.note(found.told, record.event, day, model or "", place or "")
    connection.executemany(_COUNTS, [(*key, count) for key, count in counts.items()])
    connection.executemany(_HOOKS, [(*key, *row) for key, row in hooks.items()])
    connection.executemany(
        _SESSIONS, [(*key, *_session(found)) for key, found in sessions.items() if key[1] is not None]
    )
    for (agent, session), found in sessions.items():
        told.add(connection, agent, session or "", found.told)


def _seen(found: _Session, time: str, kind: str, outcome: str | None, place: str | None) -> None:
    found.first, found.last = min(found.first, time), max(found.last, time)
    found.events += 1
    found.calls += kind == _BEFORE
    found.refusals += outcome == "deny"
    found.project = found.project or place


def _session(found: _Session) -> tuple[str, str, int, int, int, str | None]:
    return found.first, found.last, found.events, found.calls, found.refusals, found.project


def _ran(row: Row, run: HookRun) -> None:
    row[0] += 1
    row[1] += run.failure is not None
    row[2] += run.outcome == "deny"
    row[3] += run.duration_ms or 0
    row[4] += run.tokens or 0


def bucket(ms: float) -> int:
    """The bucket of a time."""
    return max(0, ceil(log(max(ms, _SMALLEST) / _SMALLEST, _GROWTH)))


def upper(number: int) -> float:
    """The longest time of a bucket, in milliseconds."""
    return _SMALLEST * _GROWTH**number


_COUNTS = "INSERT INTO counts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET events = events + excluded.events"
_HOOKS = """INSERT INTO hooks VALUES (?, ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER), ?,
    CAST(? AS INTEGER))
    ON CONFLICT DO UPDATE SET runs = runs + excluded.runs, failures = failures + excluded.failures,
    refusals = refusals + excluded.refusals, ms = ms + excluded.ms, tokens = tokens + excluded.tokens"""
_SESSIONS = """INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET first = min(first, excluded.first), last = max(last, excluded.last),
    events = events + excluded.events, calls = calls + excluded.calls, refusals = refusals + excluded.refusals,
    project = coalesce(project, excluded.project)"""
