"""Alarms: what was done against a refusal, or may have been, and what goes round and round; of late."""

import sqlite3
from contextlib import closing
from time import time

from msgspec import Struct

from hookonce import times
from hookonce.errors import HookonceError
from hookonce.store import reader
from hookonce.store.query import RecordFilter, find_records
from hookonce.store.tally import RollupFilter, load_event_counts

VIOLATION_EVENT, LOOP_EVENT = "policy_violation", "retry_loop_detected"
_ALARM_WINDOW_S = 24 * 60 * 60  # seconds
_MAX_ALARMS_PER_TYPE = 1000  # of each kind


class NewestAlarm(Struct, frozen=True, kw_only=True):
    """The newest alarm."""

    id: str
    type: str
    time: str
    agent: str
    session: str | None = None


class Alarms(Struct, frozen=True, kw_only=True):
    """Policy violations and retry loops of the last 24 hours; some violations are only suspected."""

    since: str
    violations: int = 0
    suspected: int = 0
    loops: int = 0
    newest: NewestAlarm | None = None


def load_alarms() -> Alarms:
    """Load the alarms of the last 24 hours; none from a store that cannot be read."""
    since = times.from_seconds(time() - _ALARM_WINDOW_S) or times.EPOCH_TEXT
    try:
        with closing(reader.open_reader()) as connection:
            counts_by_type = load_event_counts(connection, RollupFilter(since=since))["type"]
            event_types = [event_type for event_type in (VIOLATION_EVENT, LOOP_EVENT) if counts_by_type.get(event_type)]
            filters = [RecordFilter(type=event_type, since=since, last=_MAX_ALARMS_PER_TYPE) for event_type in event_types]
            events = [record.event for record_filter in filters for record in find_records(connection, record_filter)]
    except (sqlite3.Error, OSError, HookonceError):
        events = []
    newest = max(events, key=lambda event: (event.time, event.id), default=None)
    return Alarms(
        since=since,
        violations=sum(event.type == VIOLATION_EVENT for event in events),
        suspected=sum(event.data.get("status") == "suspected" for event in events),
        loops=sum(event.type == LOOP_EVENT for event in events),
        newest=None
        if newest is None
        else NewestAlarm(id=newest.id, type=newest.type, time=newest.time, agent=newest.agent, session=newest.session),
    )
