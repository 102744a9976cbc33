"""Session list in the order of the last event, and the timeline of one session step by step."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from sqlite3 import Connection
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce.agents import AGENTS
from hookonce.agents import load as load_agent
from hookonce.agents.compaction import compaction_threshold
from hookonce.base import times
from hookonce.dispatch.select import ACTION_EVENTS
from hookonce.errors import HookonceError
from hookonce.inspect.summary import HOOK_ERROR_TYPE, record_subject
from hookonce.model import Record, Usage
from hookonce.sessions.derive.calls import is_refused, subagent_name
from hookonce.sessions.derive.summary import FileStats, SessionCall, SubagentActivity, summarize_session
from hookonce.store.query import RecordFilter, time_bound
from hookonce.store.usage.prices import window_of
from hookonce.store.usage.tokens import load_session_tokens
from hookonce.vocabulary.events import EVENTS

_FIELDS = ("agent", "session", "project", "first", "last", "events", "calls", "refusals")
_SELECT_ASKS = """SELECT agent, session, count(*) FROM events
    WHERE time BETWEEN ? AND ? AND outcome = 'ask' GROUP BY agent, session"""
_COLUMNS = "agent, session, project, first_time, last_time, events, calls, refusals"


class SessionRow(Struct, frozen=True, kw_only=True):
    """A session in short. Tokens that nobody has told are null, never 0."""

    agent: str
    session: str
    project: str | None
    first: str
    last: str
    seconds: float | None
    events: int
    calls: int
    refusals: int
    asks: int
    input_tokens: int | None
    output_tokens: int | None


def list_sessions(connection: Connection, query: RecordFilter) -> Iterator[SessionRow]:
    """The sessions that fit; of `last` many only the newest. One counts if it lived between the two times."""
    where, values = _where_clause(query)
    text = f"SELECT {_COLUMNS} FROM sessions WHERE {where} ORDER BY last_time DESC, session LIMIT ?"  # noqa: S608
    values.append(-1 if query.last is None else query.last)
    rows = [dict(zip(_FIELDS, row, strict=True)) for row in connection.execute(text, values).fetchall()]
    asks = _count_asks(connection, rows)
    for fields in reversed(rows):
        tokens = load_session_tokens(connection, fields["agent"], fields["session"]) or {}
        fields |= {name: tokens.get(name) for name in ("input_tokens", "output_tokens")}
        fields["asks"] = asks[fields["agent"], fields["session"]]
        yield SessionRow(**fields, seconds=elapsed_seconds(fields["first"], fields["last"]))


def _count_asks(connection: Connection, rows: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """How often the user was to be asked, by agent and session; looked for in the time of these sessions."""
    if not rows:
        return Counter()
    span = (min(row["first"] for row in rows), max(row["last"] for row in rows))
    rows_by_session = connection.execute(_SELECT_ASKS, span)
    return Counter({(agent, session): count for agent, session, count in rows_by_session})


def _where_clause(query: RecordFilter) -> tuple[str, list[str | int]]:
    filters = (
        ("agent = ?", query.agent),
        ("session = ?", query.session),
        ("project GLOB ?", query.project),
        ("last_time >= ?", None if query.since is None else time_bound(query.since)),
        ("first_time < ?", None if query.until is None else time_bound(query.until)),
    )
    conditions = [(part, value) for part, value in filters if value is not None]
    return " AND ".join(["TRUE", *(part for part, _ in conditions)]), [value for _, value in conditions]


def elapsed_seconds(first: str, last: str) -> float | None:
    """Seconds from one time to another; None if one of them is none."""
    begin, end = times.to_seconds(first), times.to_seconds(last)
    return None if begin is None or end is None else round(end - begin, 3)


_MAX_DEPTH = 8


class TimelineStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line: when, how deep within sub-agents, what, and what became of it."""

    id: str
    time: str
    type: str
    depth: int = 0
    subagent: str | None = None
    tool: str | None = None
    what: str = ""
    call: SessionCall | None = None
    decision: str | None = None
    reason: str | None = None
    hook: str | None = None  # that failed, if this is what the step tells


class Timeline(Struct, frozen=True, kw_only=True):
    """A session as it is shown."""

    agent: str
    session: str | None
    project: str | None
    first: str | None
    last: str | None
    ended: str | None
    turns: int
    calls: int
    failed: int
    refused: int
    asks: int
    usage: Usage | None
    models: list[str]
    compaction_limit: int | None
    files: dict[str, FileStats]
    subagents: dict[str, SubagentActivity]
    steps: list[TimelineStep]


def build_timeline(records: Iterable[Record]) -> Timeline:
    """Build the timeline of a session from its records, which come in their order."""
    all_records = list(records)
    session, session_calls = summarize_session(all_records)
    calls = {call.id: call for call in session_calls}  # of a refused call that ran all the same, how it ended counts
    ends = {call.end for call in calls.values()}  # what ends a call stands where the call began, and nowhere else
    first_records = (record for record in all_records if record.event.id not in ends)
    return Timeline(
        agent=session.agent,
        session=session.session,
        project=session.cwd,
        first=session.started_at,
        last=session.last,
        ended=session.end.reason or session.end.type if session.end is not None else None,
        turns=session.turns,
        calls=session.calls,
        failed=session.failed_calls,
        refused=sum(call.refused for call in calls.values()),
        asks=sum(_is_ask(record) for record in all_records),
        usage=session.usage,
        models=list(session.models),
        compaction_limit=_find_compaction_limit(all_records, session.agent),
        files=session.files,
        subagents=session.children,
        steps=list(_timeline_steps(first_records, all_records, calls, session.children)),
    )


def _find_compaction_limit(records: list[Record], agent: str) -> int | None:
    """The size at which the context is compacted, as it was told last or by the agent's table; None if unknown."""
    events = (record.event for record in reversed(records) if record.event.type == "context_until_compaction")
    event = next(events, None)
    limit = event.data.get("tokens_limit") if event is not None else None
    if type(limit) is int or agent not in AGENTS:
        return limit if type(limit) is int else None
    models = (
        record.event.model for record in reversed(records) if record.event.model and record.event.subagent is None
    )
    model = next(models, None)
    with suppress(HookonceError):  # prices that cannot be read are told by doctor
        return compaction_threshold(load_agent(agent), model, window_of(model))
    return None


def _is_ask(record: Record) -> bool:
    return record.decision is not None and record.decision.outcome == "ask" and record.event.derived_from is None


def _timeline_steps(
    records: Iterable[Record],
    all_records: list[Record],
    calls: dict[str, SessionCall],
    children: dict[str, SubagentActivity],
) -> Iterator[TimelineStep]:
    records_by_id = {record.event.id: record for record in all_records}
    for record in records:
        step, event = _timeline_step(record, calls.get(record.event.id), children), record.event
        if event.data.get("error_type") == HOOK_ERROR_TYPE and type(hook := event.data.get("hook")) is str:
            effect = _failure_effect(records_by_id.get(event.derived_from or ""), hook)
            step = replace(step, hook=hook, what=f"the hook {hook} failed ({event.data.get('error')}){effect}")
        yield step


def _failure_effect(origin: Record | None, hook: str) -> str:
    """What became of a call because one of its hooks failed, as far as that is known."""
    if origin is None or origin.event.type not in ACTION_EVENTS:
        return ""
    if any(run.hook == hook and run.failure is not None and run.outcome == "deny" for run in origin.runs):
        return ", so the call was refused"
    return "" if is_refused(origin) or _is_ask(origin) else ", so the call was let through without its answer"


def _timeline_step(record: Record, call: SessionCall | None, children: dict[str, SubagentActivity]) -> TimelineStep:
    event, decision = record.event, record.decision
    name = subagent_name(event)
    return TimelineStep(
        id=event.id,
        time=event.time,
        type=event.type,
        depth=_subagent_depth(name, children),
        subagent=name,
        tool=event.tool.name if event.tool is not None else None,
        what=record_subject(record),
        call=call,
        decision="deny" if is_refused(record) else decision.outcome if decision is not None else None,
        reason=decision.reason if decision is not None else None,
    )


def _subagent_depth(name: str | None, children: dict[str, SubagentActivity]) -> int:
    depth = 0
    while name is not None and depth < _MAX_DEPTH:
        depth += 1
        child = children.get(name)
        name = child.parent if child is not None and child.parent in children else None
    return depth


def describe_step(step: TimelineStep) -> str:
    """Describe a step in words."""
    row = EVENTS.get(step.type)
    return row.meaning if row is not None else step.type.removeprefix("vendor.")
