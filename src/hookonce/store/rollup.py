"""Rollups: what a batch of records adds to the summaries by day, by hook and by session. Law: rollup = group-by."""

from collections.abc import Iterable
from math import ceil, log
from sqlite3 import Connection

from hookonce.model import HookRun, Stored
from hookonce.store.entry import columns

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
_BEFORE = "before_tool_execute"
_GROWTH = 1.25  # from one bucket of times to the next, so that a percentile is at most a quarter off
_SMALLEST = 0.1  # milliseconds

Row = list[float]


def add(connection: Connection, records: Iterable[Stored]) -> None:
    """Add records to the summaries, each summary once."""
    days: dict[tuple[str, ...], Row] = {}
    hooks: dict[tuple[str, str, int], Row] = {}
    sessions: dict[tuple[str, str], list[Stored]] = {}
    for record in records:
        _sum(days.setdefault(_day(record), [0.0] * 7), _numbers(record))
        for run in record.runs:
            key = (record.event.time[:10], run.hook, bucket(run.duration_ms or 0))
            _sum(hooks.setdefault(key, [0.0] * 5), _run(run))
        if (session := columns(record)[5]) is not None:
            sessions.setdefault((record.event.agent, session), []).append(record)
    connection.executemany(_DAYS, [(*key, *row) for key, row in days.items()])
    connection.executemany(_HOOKS, [(*key, *row) for key, row in hooks.items()])
    connection.executemany(_SESSIONS, [(*key, *_session(found)) for key, found in sessions.items()])


def _sum(into: Row, numbers: Iterable[float]) -> None:
    for index, number in enumerate(numbers):
        into[index] += number


def _day(record: Stored) -> tuple[str, ...]:
    """What a record is counted under."""
    event = record.event
    _, time, _, kind, agent, _, _, tool, _, model, place, _ = columns(record)
    counts = record.decision is not None and event.derived_from is None  # what follows from a refusal is none
    outcome = (record.decision.outcome or "") if record.decision is not None and counts else ""
    return (time or "")[:10], agent or "", model or "", place or "", tool or "", kind or "", outcome


def _numbers(record: Stored) -> list[float]:
    event = record.event
    usage = [getattr(event.usage, name) or 0 if event.usage is not None else 0 for name in TOKENS]
    result = event.tool.result if event.tool is not None else None
    return [1, *usage, (result.duration_ms or 0) if result is not None else 0]


def _run(run: HookRun) -> list[float]:
    return [1, run.failure is not None, run.outcome == "deny", run.duration_ms or 0, run.tokens or 0]


def _session(records: list[Stored]) -> tuple[str, str, int, int, int, str | None]:
    times = sorted(record.event.time for record in records)
    calls = sum(record.event.type == _BEFORE for record in records)
    refusals = sum(_day(record)[-1] == "deny" for record in records)
    place = next((place for record in records if (place := columns(record)[10])), None)
    return times[0], times[-1], len(records), calls, refusals, place


def bucket(ms: float) -> int:
    """The bucket of a time."""
    return max(0, ceil(log(max(ms, _SMALLEST) / _SMALLEST, _GROWTH)))


def upper(number: int) -> float:
    """The longest time of a bucket, in milliseconds."""
    return _SMALLEST * _GROWTH**number


_DAYS = """INSERT INTO days VALUES (?, ?, ?, ?, ?, ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER),
    CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER), ?)
    ON CONFLICT DO UPDATE SET events = events + excluded.events, input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens,
    cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
    cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
    reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens, tool_ms = tool_ms + excluded.tool_ms"""
_HOOKS = """INSERT INTO hooks VALUES (?, ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER), ?,
    CAST(? AS INTEGER))
    ON CONFLICT DO UPDATE SET runs = runs + excluded.runs, failures = failures + excluded.failures,
    refusals = refusals + excluded.refusals, ms = ms + excluded.ms, tokens = tokens + excluded.tokens"""
_SESSIONS = """INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET first = min(first, excluded.first), last = max(last, excluded.last),
    events = events + excluded.events, calls = calls + excluded.calls, refusals = refusals + excluded.refusals,
    project = coalesce(project, excluded.project)"""
