"""Recorder: entries ─ completed by their session's state ─ store (hash chain) ─ derived records ─ store, hook queue.

States of the last 256 sessions are cached. An older session is replayed from its last 300 records; what it came to
before those is restored from the store's summaries. Derived events of live sessions are queued for hooks.
"""

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from sqlite3 import Connection
from typing import Protocol, TypeVar

from msgspec.structs import replace

from hookonce.agents import AGENTS
from hookonce.agents import load as load_agent
from hookonce.agents.compaction import compaction_threshold
from hookonce.base import settings, times
from hookonce.errors import HookonceError
from hookonce.model import Event, Record, Stored, Usage
from hookonce.secrets import log
from hookonce.sessions.derive.calls import SESSION_ENDS, OpenCalls
from hookonce.sessions.derive.context_window import reported_window
from hookonce.sessions.derive.state import (
    SessionState,
    add_session_facts,
    complete_event,
    derive_before_end,
    derive_events,
    rebuild_state,
)
from hookonce.sessions.derive.token_usage import Spending
from hookonce.sessions.derive.turns import AgentPredicate, derive_end
from hookonce.sessions.stored_records import append_session_logs
from hookonce.store import hook_queue
from hookonce.store.entry import StoreEntry, build_entry
from hookonce.store.privacy.redact import Level
from hookonce.store.query import RecordFilter, find_records
from hookonce.store.spool.ingest import IngestResult, ingest_spool
from hookonce.store.spool.lookup import find_row
from hookonce.store.usage.prices import window_of
from hookonce.store.usage.tokens import TOKEN_COLUMNS, TokenCounts, usage_by_source
from hookonce.store.writer import Writer
from hookonce.vocabulary.events import DERIVED_EVENTS, is_imported
from hookonce.vocabulary.usage_sources import TRANSCRIPT, is_from_transcript

_SESSION_SUMMARY_SQL = "SELECT first_time, calls FROM sessions WHERE agent = ? AND session = ?"


def restore_long_session(connection: Connection, agent: str, session: str, state: SessionState) -> SessionState:
    """Restore start, calls and tokens of a session that has more records than were replayed."""
    row = connection.execute(_SESSION_SUMMARY_SQL, (agent, session)).fetchone()
    if row is None:  # the summaries are being made anew
        return state
    totals = {"first": row[0], "actions": row[1], "prompts": state.turns.prompts or 1}
    # What was read first is not its beginning.
    turns = replace(state.turns, **totals, has_begun=True, pending_start=None)
    counts = usage_by_source(connection, agent, session)
    sums = {source: _usage_of_source(source, numbers) for source, numbers in counts.items()}
    return replace(state, turns=turns, spending=Spending(sums=sums))


def _usage_of_source(source: str, numbers: TokenCounts) -> Usage:
    """Token counts as an event has them; in transcripts those of the cache are part of the input."""
    counts = {name: count or None for name, count in zip(TOKEN_COLUMNS, numbers, strict=True)}
    input_tokens, output_tokens, *_ = numbers
    return Usage(**counts, total_tokens=input_tokens + output_tokens if source == TRANSCRIPT else None)


_MAX_SESSIONS = 256  # that are remembered; an older one is read again when it goes on
_MAX_REPLAY_RECORDS = 300  # records of such a session; what it came to before is summed up
_TRIM_INTERVAL_ROWS = 256  # derived events that are queued between two looks at how many wait
SessionKey = tuple[str, str | None]
ExtraWrite = Callable[[Connection], object]
Answer = TypeVar("Answer")
STORE_ERRORS = (sqlite3.Error, OSError, HookonceError)  # of the store: what was to be kept is tried again


class RecordListener(Protocol):
    """Listener of a recorder, which may know more of sessions (from transcripts) than hooks tell."""

    def before_append(self, recorder: "Recorder", entries: Sequence[StoreEntry], /) -> Sequence[StoreEntry]:
        """Called before entries are stored; what should be there before them may be stored now.

        Returns the entries, completed by what it knows of them.
        """

    def after_append(self, entries: Sequence[StoreEntry], /) -> None:
        """Called after entries were stored."""


class StoreAccess(Protocol):
    """Access to the store where another owns the recorder, and reopens it when it fails."""

    def run_with_recorder(self, work: "Callable[[Recorder], object]", /) -> bool:
        """Run a function with the recorder; whether the store could be used."""

    def end_session(self, key: SessionKey, *, now: str, is_gone: bool | None) -> bool:
        """Store the implicit end of a session that is overdue; whether the session is over."""

    def pending_events(self) -> Iterable[Event]:
        """Events that are recorded and not stored yet."""


class Recorder:
    """Appends entries to the store, with the records that follow from each in its session."""

    def __init__(
        self,
        writer: Writer,
        reports_start: AgentPredicate,
        listener: RecordListener | None = None,
        has_hooks: Callable[[Event], bool] = lambda _: True,
    ) -> None:
        """`reports_start`: whether the agent of that name reports session starts.

        `has_hooks`: whether there may be a hook for a derived event, by its type and folder; else it is not queued.
        """
        self.writer, self._listener, self._reports_start, self._has_hooks = writer, listener, reports_start, has_hooks
        self.states: OrderedDict[SessionKey, SessionState] = OrderedDict()  # of those that were active last
        self.has_queued = False  # whether hooks have something to be asked about
        self._untrimmed_rows = _TRIM_INTERVAL_ROWS  # what others have queued may be too much already
        self._live_ids: set[str] = set()  # derived events of this transaction that happened now
        self._known_version = self.data_version()

    def data_version(self) -> int:
        """A number that changes when another process has written to the store."""
        version: int = self.writer.connection.execute("PRAGMA data_version").fetchone()[0]
        return version

    def _forget_outdated(self) -> None:
        """Forget the states of sessions to which another process may have added."""
        if (version := self.data_version()) != self._known_version:
            self._known_version = version
            self.states.clear()

    def record(self, entries: Sequence[StoreEntry]) -> int:
        """Store entries and derived records in one transaction, and notify the listener; how many are new.

        With a listener the end of a session begins a transaction of its own: what the session's files tell of calls
        before it is stored between them.
        """
        parts = [0, len(entries)]
        if self._listener is not None:
            kinds = [entry.record.event.type for entry in entries]
            parts[1:1] = [index for index, kind in enumerate(kinds) if index and kind in SESSION_ENDS]
        return sum(self._record_part(entries[start:end]) for start, end in pairwise(parts))

    def _record_part(self, entries: Sequence[StoreEntry]) -> int:
        entries = self._notify(lambda listener: listener.before_append(self, entries)) or entries
        new_count = self.append(entries)
        self._notify(lambda listener: listener.after_append(entries))
        return new_count

    def _notify(self, notify: Callable[[RecordListener], Answer]) -> Answer | None:
        """Notify the listener, for what it says; its errors keep nothing out of the store."""
        try:
            return notify(self._listener) if self._listener is not None else None
        except STORE_ERRORS:
            raise
        except Exception as problem:  # noqa: BLE001  as above
            log.write(f"record: {log.format_trace(problem)}")
            return None

    def has_event(self, event_id: str) -> bool:
        """Whether an event is stored."""
        statement = "SELECT 1 FROM events WHERE id = ?"
        return self.writer.connection.execute(statement, (event_id,)).fetchone() is not None

    def open_calls(self, agent: str, session: str | None) -> OpenCalls:
        """The calls of a session of whose outcome something may still be told."""
        return self._session_state((agent, session)).calls

    def append(self, entries: Sequence[StoreEntry], extra: ExtraWrite | None = None) -> int:
        """The same without notification; `extra` writes in the same transaction."""
        self._live_ids.clear()
        self._forget_outdated()
        try:
            return self.writer.append(entries, self, extra, self._handle_new_records)
        except STORE_ERRORS:
            self.states.clear()  # of rows that are not there
            raise
        except Exception as problem:  # noqa: BLE001  one record that we do not understand must not keep out the others
            self.states.clear()
            return self._append_in_halves(entries, extra, problem)

    def _append_in_halves(self, entries: Sequence[StoreEntry], extra: ExtraWrite | None, problem: Exception) -> int:
        """Append in halves, until the entry is alone whose derivation fails; that one is stored without."""
        if extra is None and len(entries) > 1:
            half = len(entries) // 2
            return self.append(entries[:half]) + self.append(entries[half:])
        log.write(f"record: what follows from {len(entries)} records is not known: {log.format_trace(problem)}")
        return self.writer.append(entries, None, extra, append_session_logs)

    def _handle_new_records(self, records: list[Stored]) -> None:
        """Queue derived events for hooks, in the transaction that stores them, and append to logs."""
        live_events = [record.event for record in records if record.event.id in self._live_ids]
        # Files are looked at to find that out, and others wait.
        samples = {(event.type, event.cwd): event for event in live_events}
        hooked_keys = {key for key, event in samples.items() if self._has_hooks(event)}
        queue_ids = [event.id for event in live_events if (event.type, event.cwd) in hooked_keys]
        self._live_ids.clear()
        if queue_ids:
            hook_queue.enqueue_events(self.writer.connection, queue_ids, times.now())
            self.has_queued = True
            self._untrimmed_rows += len(queue_ids)
            if self._untrimmed_rows > _TRIM_INTERVAL_ROWS:
                self._untrimmed_rows = 0
                if lost_count := hook_queue.trim_queue(self.writer.connection):
                    log.write(f"record: no hook was asked about {lost_count} derived events; too many wait")
        append_session_logs(records)

    def end_session(self, key: SessionKey, *, now: str, is_gone: bool | None) -> tuple[bool, int]:
        """Store the overdue end of a session that was not imported: whether it is over, how many records are new."""
        self._forget_outdated()
        state = self._session_state(key)
        last = state.turns.last
        if last is None or state.turns.has_ended or not state.turns.has_begun or is_imported(last):
            return True, 0
        end_record = self._overdue_end(key, now=now, is_gone=is_gone)
        if end_record is None:
            return False, 0
        level = settings.load().privacy
        end_entries = [_derived_entry(end_record, level)]
        # Files may tell more of what it came to.
        self._notify(lambda listener: listener.before_append(self, end_entries))
        end_record = self._overdue_end(key, now=now, is_gone=is_gone) or end_record
        end_entry = _derived_entry(end_record, level)
        entries = [*self.precede_entries(end_entry), end_entry, *self.derive_entries(end_entry)]
        self._live_ids = {entry.record.event.id for entry in entries}
        try:
            new_count = self.writer.append(entries, on_new_records=self._handle_new_records)
        except BaseException:
            self.states.clear()  # as above
            raise
        self._notify(lambda listener: listener.after_append(end_entries))
        return True, new_count

    def _overdue_end(self, key: SessionKey, *, now: str, is_gone: bool | None) -> Record | None:
        state = self._session_state(key)
        busy = bool(state.calls.open)
        record = derive_end(state.turns, state.spending, now=now, is_process_gone=is_gone, has_open_call=busy)
        return record and replace(record, event=add_session_facts(state, record.event))

    def complete_live_end(self, event: Event, records: Iterable[Record]) -> Event:
        """A session's end that is not stored yet, completed by the session; `records` may be newer than what is stored.

        A start that its agent has not told is stored, and queued for hooks, before they hear of the end.
        """
        if event.session is None:
            return event
        self._forget_outdated()
        key = (event.agent, event.session)
        state, derived_records = self._session_state(key), list[Record]()
        for record in records:
            is_of_session = (record.event.agent, record.event.session) == key and record.event.type != event.type
            if is_of_session and find_row(self.writer.connection, record.event.id) is None:
                state, more = derive_events(state, record, reports_start=self._reports_start)
                derived_records += more
        derived_records += derive_before_end(state, event)[1]
        self._store_start(record for record in derived_records if record.event.type == "session_start")
        return complete_event(state, event)

    def _store_start(self, records: Iterable[Record]) -> None:
        """Store a derived start at once; what it follows from is on its way, and derives it again under the same id."""
        entries = [_derived_entry(record, settings.load().privacy) for record in records]
        self._live_ids = {entry.record.event.id for entry in entries}
        self.writer.append(entries, on_new_records=self._handle_new_records)

    def ingest_spool(self, max_records: int | None = None) -> IngestResult:
        """Ingest the spool into the store."""
        return ingest_spool(self.record, max_records)

    def complete_entry(self, entry: StoreEntry) -> StoreEntry:
        """The entry completed by its session; one without a session stays as it is."""
        event = entry.record.event
        if event.session is None:
            return entry
        complete = complete_event(self._session_state((event.agent, event.session)), event)
        return entry if complete is event else build_entry(replace(entry.record, event=complete))

    def precede_entries(self, entry: StoreEntry) -> list[StoreEntry]:
        """Entries that belong before a session's end and are not there."""
        event = entry.record.event
        if event.session is None or event.type not in SESSION_ENDS:
            return []
        key = (event.agent, event.session)
        self.states[key], records = derive_before_end(self._session_state(key), event)
        if _is_live(event, self.states[key]):
            self._live_ids |= {record.event.id for record in records}
        return [_derived_entry(record, entry.record.level) for record in records]

    def derive_entries(self, entry: StoreEntry) -> list[StoreEntry]:
        """Entries derived from a new entry."""
        record, key = entry.record, (entry.record.event.agent, entry.record.event.session)
        state = self._session_state(key)
        limit = _compaction_limit(record.event, state)
        state, records = derive_events(state, record, limit, reports_start=self._reports_start)
        if _is_live(record.event, state):
            self._live_ids |= {derived_record.event.id for derived_record in records}
            if _is_transcript_only(record.event):
                self._live_ids.add(record.event.id)
        if key[1] is not None:  # what is of no session has nothing in common
            self.states[key] = state
        while len(self.states) > _MAX_SESSIONS:
            self.states.popitem(last=False)
        return [_derived_entry(derived_record, record.level) for derived_record in records]

    def _session_state(self, key: SessionKey) -> SessionState:
        if key[1] is None:
            return SessionState()
        state = self.states.get(key)
        if state is None:
            state = self.states[key] = self._replay_session(key)
        self.states.move_to_end(key)
        return state

    def _replay_session(self, key: SessionKey) -> SessionState:
        agent, session = key
        connection = self.writer.connection
        records = list(find_records(connection, RecordFilter(agent=agent, session=session, last=_MAX_REPLAY_RECORDS)))
        state = rebuild_state(records, self._reports_start)
        if session is None or len(records) < _MAX_REPLAY_RECORDS:
            return state
        return restore_long_session(connection, agent, session, state)


def _is_live(event: Event, state: SessionState) -> bool:
    """Whether an event happened while we were there: it was not imported, nor read in a file that tells of before."""
    if is_imported(event) or not is_from_transcript(event):
        return not is_imported(event)
    first = state.turns.first
    return first is not None and times.elapsed_ms(event.time, first) == 0


def _is_transcript_only(event: Event) -> bool:
    """Whether an event was read in a transcript and no agent reports it: a failed model call, a compaction."""
    is_ours = event.data.get("derived") is True or event.type in DERIVED_EVENTS
    return is_ours and is_from_transcript(event) and event.data.get("repeat") is not True


def _compaction_limit(event: Event, state: SessionState) -> int | None:
    """Tokens at which the agent of an event compacts; unreadable prices, which have windows, are named elsewhere."""
    window = reported_window(event) or state.context.window
    if (window is None and event.type != "after_model") or event.agent not in AGENTS:
        return None
    with suppress(HookonceError):
        model = event.model or state.model
        return compaction_threshold(load_agent(event.agent), model, window or window_of(model))
    return None


def _derived_entry(record: Record, level: Level) -> StoreEntry:
    """A derived record needs no redaction: it has nothing that was left out of its sources."""
    return build_entry(Stored(event=record.event, decision=record.decision, risk=record.risk, level=level))
