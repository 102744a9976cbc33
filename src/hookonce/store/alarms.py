"""Alarms: what was done against a refusal, or may have been, and what goes round and round; of late."""

import sqlite3
from contextlib import closing
from time import time

from msgspec import Struct

from hookonce import times
from hookonce.errors import HookonceError
from hookonce.store import reader
from hookonce.store.query import Wanted, records
from hookonce.store.tally import Span, counts

VIOLATION, LOOP = "policy_violation", "retry_loop_detected"
_LATE = 24 * 60 * 60  # seconds
_MOST = 1000  # of each kind


class Newest(Struct, frozen=True, kw_only=True):
    """The last alarm."""

    id: str
    type: str
    time: str
    agent: str
    session: str | None = None


class Alarms(Struct, frozen=True, kw_only=True):
    """Alarms of the last 24 hours; of the violations some may be suspected only."""

    since: str
    violations: int = 0
    suspected: int = 0
    loops: int = 0
    newest: Newest | None = None


def alarms() -> Alarms:
    """What there is to look at; a record that cannot be read is told of elsewhere."""
    since = times.from_seconds(time() - _LATE) or times.EPOCH
    try:
        with closing(reader.opened()) as connection:
            known = counts(connection, Span(since=since))["type"]
            kinds = [kind for kind in (VIOLATION, LOOP) if known.get(kind)]
            wanted = [Wanted(type=kind, since=since, last=_MOST) for kind in kinds]
            found = [one.event for each in wanted for one in records(connection, each)]
    except (sqlite3.Error, OSError, HookonceError):
        found = []
    last = max(found, key=lambda event: (event.time, event.id), default=None)
    return Alarms(
        since=since,
        violations=sum(event.type == VIOLATION for event in found),
        suspected=sum(event.data.get("status") == "suspected" for event in found),
        loops=sum(event.type == LOOP for event in found),
        newest=None
        if last is None
        else Newest(id=last.id, type=last.type, time=last.time, agent=last.agent, session=last.session),
    )
