"""record: Record ─ redact ─ spool ─ completed by its session ─ store (chain) ─ what follows from it ─ store."""

from collections import OrderedDict
from collections.abc import Sequence

from msgspec.structs import replace

from hookonce.derive.step import State, completed, remembered, step
from hookonce.model import Record, Stored
from hookonce.store.entry import Entry, entry
from hookonce.store.fold import Folded, fold
from hookonce.store.query import Wanted, records
from hookonce.store.writer import Writer

_SESSIONS = 256  # that are remembered; an older one is read again when it goes on
_READ = 500  # records of such a session
Key = tuple[str, str | None]


class Recorder:
    """One who keeps: everything that is appended is seen by its session, and what follows from it is appended too."""

    def __init__(self, writer: Writer) -> None:
        """Nothing is remembered yet."""
        self.writer = writer
        self._states: OrderedDict[Key, State] = OrderedDict()

    def keep(self, entries: Sequence[Entry]) -> int:
        """Keep entries and what follows from them, all in one step or not at all; how many are new."""
        try:
            return self.writer.append(entries, self)
        except BaseException:
            self._states.clear()  # of rows that are not there
            raise

    def fold(self, most: int | None = None) -> Folded:
        """Take up what others have left in the spool."""
        return fold(self.keep, most)

    def before(self, one: Entry) -> Entry:
        """An entry with what only its session knows."""
        event = completed(self._state(one), one.record.event)
        return one if event is one.record.event else entry(replace(one.record, event=event))

    def after(self, one: Entry) -> list[Entry]:
        """What follows from an entry that is new."""
        key = _key(one)
        state, found = step(self._state(one), one.record)
        self._states[key] = state
        while len(self._states) > _SESSIONS:
            self._states.popitem(last=False)
        return [entry(_stored(record, one.record)) for record in found]

    def _state(self, one: Entry) -> State:
        key = _key(one)
        known = self._states.get(key)
        if known is None:
            known = self._states[key] = self._read(key)
        self._states.move_to_end(key)
        return known

    def _read(self, key: Key) -> State:
        agent, session = key
        if session is None:
            return State()
        found = records(self.writer.connection, Wanted(agent=agent, session=session, last=_READ))
        return remembered(found)


def _key(one: Entry) -> Key:
    return one.record.event.agent, one.record.event.session


def _stored(record: Record, like: Stored) -> Stored:
    """What follows from a redacted record has nothing in it that was left out there."""
    return Stored(event=record.event, decision=record.decision, risk=record.risk, level=like.level)
