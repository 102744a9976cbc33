"""The keeper: puts what the journal holds into the store when nobody waits, and takes up what others have left."""

import sqlite3
from collections.abc import Callable
from time import monotonic

from hookonce.config import settings
from hookonce.errors import HookonceError
from hookonce.journeys.record import Key, Listener, Recorder
from hookonce.model import Object
from hookonce.runtime.loop import Loop
from hookonce.service.forgetting import Forgetter
from hookonce.store import database, log
from hookonce.store.checkpoint import EVERY, sign
from hookonce.store.entry import Entry
from hookonce.store.journal import Journal
from hookonce.store.tidy import Tidier
from hookonce.store.writer import Writer

_REST = 0.25  # seconds without a record after which they are kept: who comes through a second door adds to the first
_OLDEST = 1.0  # seconds after which they are kept all the same
_LATEST = 5.0  # and though calls come one after the other
_AT_ONCE = 16  # records in one turn of the loop
_ROOM = 0.02  # seconds for which we make room for those who call
_FILES = 16  # of others, as above
_MUCH = 512  # records at once when nobody is there any more
_PATIENCE = 0.02  # seconds that others may keep us waiting
_AGAIN = 5.0  # seconds until a store that could not be written is tried again
_CLEAR = 3600.0  # seconds between two looks for what is too old
_SIGN = 60.0  # seconds after which what is new is signed
_ENDS = frozenset({"session_end"})
_TROUBLE = (sqlite3.Error, OSError, HookonceError)


class Keeper:
    """Everything that is in the journal and not in the store yet."""

    def __init__(self, loop: Loop, journal: Journal, is_busy: Callable[[], bool] = lambda: False) -> None:
        """Nothing yet; the store is opened when there is something to keep."""
        self._loop, self._journal, self._is_busy = loop, journal, is_busy
        self._pending: dict[str, Entry] = {}
        self._first = self._last = self._signed = monotonic()
        self._cleared = 0.0  # when we last looked for what is too old
        self._recorder: Recorder | None = None
        self._tidier, self._forgetter = Tidier(), Forgetter(loop, self.ask)
        self.listener: Listener | None = None
        self.leaving: Callable[[Recorder], object] = lambda _: None  # has something to keep before we go
        self._waits, self._new, self._ended = False, 0, False
        self._inode = 0  # of the database that is open
        self.kept, self.problem = 0, None  # type: tuple[int, str | None]
        self.noticed: Callable[[list[Entry]], object] = lambda _: None  # is told what was kept of our own calls
        journal.kept, journal.forgotten = self._add, lambda event: self._pending.pop(event, None)
        journal.left = self._left

    def _add(self, entry: Entry) -> None:
        self._last = monotonic()
        if not self._pending:
            self._first = self._last
        self._pending[entry.record.event.id] = entry
        self._ended |= entry.record.event.type in _ENDS
        self._wait(_REST)

    def _left(self) -> None:
        """A file of the journal is full, and others take it up; while nothing can be kept nobody needs it twice."""
        if self.problem is not None:
            self._pending.clear()

    def _wait(self, seconds: float) -> None:
        if not self._waits:
            self._waits = True
            self._loop.at(monotonic() + seconds, self._look)

    def _look(self) -> None:
        """See whether there is time now; while records come one after the other, those who wait come first."""
        self._waits = False
        now = monotonic()
        if self._pending and (now - self._last >= _REST or now - self._first > _OLDEST):
            self._loop.later(self._commit)
        elif self._pending:
            self._wait(_REST)

    def _commit(self) -> None:
        """Keep a part of it, unless somebody calls; the journal begins anew when everything is kept."""
        if self._is_busy() and monotonic() - self._first < _LATEST:
            self._wait(_ROOM)
            return
        self._keep_some()

    def _keep_some(self) -> None:
        part = list(self._pending.values())[:_AT_ONCE]
        if not part or not self._safely(lambda recorder: self._keep(recorder, part)):
            return
        if self._pending:
            self._loop.later(self._commit)
        else:
            self._journal.begin_anew()

    @property
    def is_done(self) -> bool:
        """Whether everything is in the store, or nothing can be put there now."""
        return not self._pending or self.problem is not None

    def hurry(self) -> None:
        """Keep some of it now."""
        if not self.is_done:
            self._keep_some()

    def _keep(self, recorder: Recorder, part: list[Entry]) -> None:
        """Keep some of ours, and before them what others have left: it may be what a session began with."""
        new = recorder.fold(_FILES).records + recorder.keep(part)
        self._new += new
        self._tidier.wrote(new)
        self.kept += len(part)
        self._journal.found(one.record.event.id for one in part)
        for one in part:
            self._pending.pop(one.record.event.id, None)
        self.noticed(part)

    def tend(self) -> None:
        """From time to time: take up what others have left, and sign what is new."""
        self._journal.look()
        if settings.records() or database.file().exists():  # who wants no record has none made
            self._safely(self._tend)

    def _tend(self, recorder: Recorder) -> None:
        found = recorder.fold(_FILES)
        self._new += found.records
        self._tidier.wrote(found.records)
        if found.records:
            self._loop.later(self.tend)
        if monotonic() - self._cleared > _CLEAR:
            self._cleared = monotonic()
            self._forgetter.begin()
        due = self._ended or self._new >= EVERY or monotonic() - self._signed > _SIGN
        if self._new and due and not self._pending:
            sign(recorder.writer.connection)
            self._new, self._ended, self._signed = 0, False, monotonic()

    def ask(self, work: Callable[[Recorder], object]) -> bool:
        """Do something with the store, in which the newest records may not be yet; whether it could be done."""
        return self._safely(work)

    def end(self, key: Key, *, now: str, gone: bool | None, tells: bool) -> bool:
        """Keep the end of a session if it has one by now, and nothing of it waits to be kept; whether it is over."""
        found: list[tuple[bool, int]] = []
        waiting = (one.record.event for one in self._pending.values())
        if any((event.agent, event.session) == key for event in waiting):
            return False
        self.ask(lambda recorder: found.append(recorder.end(key, now=now, gone=gone, tells=tells)))
        over, new = found[0] if found else (False, 0)
        self._new, self._ended = self._new + new, self._ended or new > 0
        return over

    def close(self) -> None:
        """Keep all that is left, and sign it."""
        while self._pending and self._safely(self._keep_much):
            pass
        if not self._pending:
            self._journal.begin_anew()
            self._safely(self.leaving)
        if self._new:
            self._safely(lambda recorder: sign(recorder.writer.connection))
        self._tidier.close()
        if self._recorder is not None:
            self._recorder.writer.close()

    def _keep_much(self, recorder: Recorder) -> None:
        self._keep(recorder, list(self._pending.values())[:_MUCH])

    def _safely(self, work: Callable[[Recorder], object]) -> bool:
        """Do something with the store; where that fails nothing is lost, for the journal has it: it is tried again."""
        try:
            if self._recorder is not None and self._inode != _inode():  # somebody has put another in its place
                self._recorder.writer.close()
                self._recorder = None
            if self._recorder is None:
                writer = Writer(durability=settings.durability(), patience=_PATIENCE)
                self._recorder = Recorder(writer, self.listener)
                self._inode = _inode()
            work(self._recorder)
        except _TROUBLE as problem:
            if self.problem is None:
                log.write(f"daemon: the store cannot be written, records stay in the spool: {problem}")
            self.problem = str(problem)
            self._open_again()
            return False
        self.problem = None
        return True

    def _open_again(self) -> None:
        if self._recorder is not None:
            self._recorder.writer.close()
            self._recorder = None
        self._last = monotonic()
        self._wait(_AGAIN)

    def status(self) -> Object:
        """What is told about it."""
        return {"kept": self.kept, "waiting": len(self._pending), "problem": self.problem}


def _inode() -> int:
    """By which the database is known; 0 if there is none."""
    try:
        return database.file().stat().st_ino
    except OSError:
        return 0
