"""When an agent has last called, by what is kept of it: what we have read or concluded ourselves is no call."""

from contextlib import closing
from sqlite3 import Connection

from hookonce import times
from hookonce.model import Event
from hookonce.store import reader, spool
from hookonce.store.query import RecordFilter, find_records

_MAX_RECENT_SESSIONS = 5  # of the agent, the newest
_SESSION_TAIL_RECORDS = 64  # records of each
_OWN_SOURCES = frozenset({"transcript", "hookonce"})  # through which no agent comes


def last_call_time(agent: str) -> float | None:
    """Time of an agent's last call in seconds; None if unknown. Transcript and derived events are no calls."""
    with closing(reader.open_reader()) as connection:
        store_times = [moment for event in _last_calls(connection, agent) if (moment := _event_seconds(event)) is not None]
    spool_events = [record.event for record in spool.load_records() if record.event.agent == agent]
    return max([*store_times, *(moment for event in spool_events if (moment := _event_seconds(event)) is not None)], default=None)


def _last_calls(connection: Connection, agent: str) -> list[Event]:
    statement = "SELECT session FROM sessions WHERE agent = ? ORDER BY last DESC LIMIT ?"
    calls = []
    for (session,) in connection.execute(statement, (agent, _MAX_RECENT_SESSIONS)).fetchall():
        tail = [record.event for record in find_records(connection, RecordFilter(agent=agent, session=session, last=_SESSION_TAIL_RECORDS))]
        calls += [event for event in tail[::-1] if event.derived_from is None and not _is_own_event(event)][:1]
    return calls


def _is_own_event(event: Event) -> bool:
    return event.origin is not None and not _OWN_SOURCES.isdisjoint(event.origin.via)


def _event_seconds(event: Event) -> float | None:
    return times.to_seconds(event.received or event.time)
