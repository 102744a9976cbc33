"""record: Record ─ redact ─ spool ─ completed by its session ─ store (chain) ─ what follows from it ─ store."""

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from sqlite3 import Connection
from typing import Protocol

from msgspec.structs import replace

from hookonce.config import settings
from hookonce.derive.ending import overdue
from hookonce.derive.step import State, completed, remembered, step
from hookonce.errors import HookonceError
from hookonce.journeys.long_sessions import before_these
from hookonce.journeys.stored import captured
from hookonce.model import Record, Stored
from hookonce.store import log
from hookonce.store.entry import Entry, entry
from hookonce.store.fold import Folded, fold
from hookonce.store.prices import window_of
from hookonce.store.query import Wanted, records
from hookonce.store.writer import Writer

_SESSIONS = 256  # that are remembered; an older one is read again when it goes on
_READ = 300  # records of such a session; what it came to before is summed up
Key = tuple[str, str | None]
TROUBLE = (sqlite3.Error, OSError, HookonceError)  # of the store: what was to be kept is tried again


class Listener(Protocol):
    """One who knows more of sessions than is told to us, and wants to know what is."""

    def hears(self, recorder: "Recorder", entries: Sequence[Entry], /) -> None:
        """These are about to be kept; what should be there before them may be kept now."""

    def heard(self, entries: Sequence[Entry], /) -> None:
        """These were kept."""


class Recorder:
    """One who keeps: everything that is appended is seen by its session, and what follows from it is appended too."""

    def __init__(self, writer: Writer, listener: Listener | None = None) -> None:
        """Nothing is remembered yet."""
        self.writer = writer
        writer.told = captured
        self._listener = listener
        self._states: OrderedDict[Key, State] = OrderedDict()

    def keep(self, entries: Sequence[Entry]) -> int:
        """Keep entries and what follows from them, all in one step or not at all; how many are new."""
        self._tell(lambda listener: listener.hears(self, entries))
        new = self.add(entries)
        self._tell(lambda listener: listener.heard(entries))
        return new

    def _tell(self, what: Callable[[Listener], object]) -> None:
        """Whoever listens keeps nothing out of the record, whatever it stumbles over."""
        try:
            if self._listener is not None:
                what(self._listener)
        except TROUBLE:
            raise
        except Exception as problem:  # noqa: BLE001  as above
            log.write(f"record: {log.trace(problem)}")

    def add(self, entries: Sequence[Entry], beside: Callable[[Connection], object] | None = None) -> int:
        """The same without telling anybody; `beside` writes what has to be true exactly if they are kept."""
        try:
            return self.writer.append(entries, self, beside)
        except TROUBLE:
            self._states.clear()  # of rows that are not there
            raise
        except Exception as problem:  # noqa: BLE001  one record that we do not understand must not keep out the others
            self._states.clear()
            return self._apart(entries, beside, problem)

    def _apart(
        self, entries: Sequence[Entry], beside: Callable[[Connection], object] | None, problem: Exception
    ) -> int:
        """Keep entries in smaller steps, until the one is alone of which nobody can say what follows; nothing does."""
        if beside is None and len(entries) > 1:
            half = len(entries) // 2
            return self.add(entries[:half]) + self.add(entries[half:])
        log.write(f"record: what follows from {len(entries)} records is not known: {log.trace(problem)}")
        return self.writer.append(entries, None, beside)

    def end(self, key: Key, *, now: str, gone: bool | None, tells: bool) -> tuple[bool, int]:
        """Keep the end of a session if it has one by now: whether it is over, and how many records are new.

        What was imported is for others to end.
        """
        state = self._known(key)
        last = state.turns.last
        if last is None or state.turns.ended or not state.turns.begun or (last.origin and last.origin.format):
            return True, 0
        found = self._overdue(key, now=now, gone=gone, tells=tells)
        if found is None:
            return False, 0
        known = [entry(_kept(found))]
        self._tell(lambda listener: listener.hears(self, known))  # files may tell more of what it came to
        found = self._overdue(key, now=now, gone=gone, tells=tells) or found
        after, more = step(self._known(key), found)
        new = self.writer.append([entry(_kept(record)) for record in (found, *more)])
        self._states[key] = after
        self._tell(lambda listener: listener.heard(known))
        return True, new

    def _overdue(self, key: Key, *, now: str, gone: bool | None, tells: bool) -> Record | None:
        state = self._known(key)
        waits = bool(state.calls.open)
        return overdue(state.turns, state.spending, now=now, gone=gone, tells=tells, waits=waits)

    @property
    def states(self) -> Mapping[Key, State]:
        """What is remembered of sessions, of those that were heard of last."""
        return self._states

    def fold(self, most: int | None = None) -> Folded:
        """Take up what others have left in the spool."""
        return fold(self.keep, most)

    def before(self, one: Entry) -> Entry:
        """An entry with what only its session knows; what is of none stays as it is."""
        if one.record.event.session is None:
            return one
        event = completed(self._state(one), one.record.event)
        return one if event is one.record.event else entry(replace(one.record, event=event))

    def after(self, one: Entry) -> list[Entry]:
        """What follows from an entry that is new."""
        key = _key(one)
        state, found = step(self._state(one), one.record, _window(one.record))
        if key[1] is not None:  # what is of no session has nothing in common
            self._states[key] = state
        while len(self._states) > _SESSIONS:
            self._states.popitem(last=False)
        return [entry(_stored(record, one.record)) for record in found]

    def _state(self, one: Entry) -> State:
        return self._known(_key(one))

    def _known(self, key: Key) -> State:
        if key[1] is None:
            return State()
        known = self._states.get(key)
        if known is None:
            known = self._states[key] = self._read(key)
        self._states.move_to_end(key)
        return known

    def _read(self, key: Key) -> State:
        agent, session = key
        connection = self.writer.connection
        found = list(records(connection, Wanted(agent=agent, session=session, last=_READ)))
        state = remembered(found)
        return state if len(found) < _READ or session is None else before_these(connection, agent, session, state)


def _key(one: Entry) -> Key:
    return one.record.event.agent, one.record.event.session


def _window(record: Stored) -> int | None:
    """How much context the model of a record takes; prices that cannot be read tell that elsewhere."""
    if record.event.type != "after_model":
        return None
    try:
        return window_of(record.event.model)
    except HookonceError:
        return None


def _kept(record: Record) -> Stored:
    """What follows from what was kept of a session has nothing in it that was left out there."""
    return Stored(event=record.event, decision=record.decision, risk=record.risk, level=settings.privacy())


def _stored(record: Record, like: Stored) -> Stored:
    """What follows from a redacted record has nothing in it that was left out there."""
    return Stored(event=record.event, decision=record.decision, risk=record.risk, level=like.level)
