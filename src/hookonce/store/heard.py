"""When an agent has last called, by what is kept of it: what we have read or concluded ourselves is no call."""

from contextlib import closing
from sqlite3 import Connection

from hookonce import times
from hookonce.model import Event
from hookonce.store import reader, spool
from hookonce.store.query import Wanted, records

_SESSIONS = 5  # of the agent, the newest
_TAIL = 64  # records of each
_OWN = frozenset({"transcript", "hookonce"})  # through which no agent comes


def heard(agent: str) -> float | None:
    """The moment, in seconds; None if it has never called, as far as the record goes back."""
    with closing(reader.opened()) as connection:
        kept = [moment for event in _last(connection, agent) if (moment := _moment(event)) is not None]
    waiting = [one.event for one in spool.records() if one.event.agent == agent]
    return max([*kept, *(moment for event in waiting if (moment := _moment(event)) is not None)], default=None)


def _last(connection: Connection, agent: str) -> list[Event]:
    """The last call of each of its newest sessions."""
    newest = "SELECT session FROM sessions WHERE agent = ? ORDER BY last DESC LIMIT ?"
    found = []
    for (session,) in connection.execute(newest, (agent, _SESSIONS)).fetchall():
        tail = [one.event for one in records(connection, Wanted(agent=agent, session=session, last=_TAIL))]
        found += [event for event in tail[::-1] if event.derived_from is None and not _is_own(event)][:1]
    return found


def _is_own(event: Event) -> bool:
    return event.origin is not None and not _OWN.isdisjoint(event.origin.via)


def _moment(event: Event) -> float | None:
    return times.seconds(event.received or event.time)
