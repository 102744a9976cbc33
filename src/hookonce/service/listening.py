"""Listening: the session files that agents name are read when nobody waits, a piece at a time, also after the end.

An agent writes its last lines after it has said that the session is over: they are looked for again, and again.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic

from hookonce import times
from hookonce.config import settings
from hookonce.derive.calls import OVER
from hookonce.journeys.record import Recorder
from hookonce.model import Event, Object
from hookonce.runtime.loop import Loop
from hookonce.service.keeper import Keeper
from hookonce.service.pieces import Pieces
from hookonce.service.thread import Names, Thread, reader_of
from hookonce.store import cursors
from hookonce.store.entry import Entry
from hookonce.store.query import Wanted, records

_REST = 1.0  # seconds after an event in which its agent has written about it
_LAST = [2.0, 8.0]  # seconds until each of the looks after the end
_QUIET = 600.0  # seconds after which a session of which nothing was heard is read to its end
_BUSY = 0.25  # seconds for which we make room for those who wait
_TROUBLE = 5.0  # seconds until a store that could not be written is tried again
_PATIENCE = 20  # times that we make room
_AT_THE_END = 4 << 20  # bytes that are read before an end is kept, which sums up
_LEAVING = 16 << 20  # bytes that are read when we leave
_THREADS = 256
_YESTERDAY, _ROWS = timedelta(days=1), 200  # what is looked through when we begin


class Listening:
    """All sessions whose files are followed."""

    def __init__(self, loop: Loop, keeper: Keeper, is_busy: Callable[[], bool] = lambda: False) -> None:
        """Be told by the keeper of all that is kept."""
        self._loop, self._keeper, self._is_busy = loop, keeper, is_busy
        self._threads: OrderedDict[tuple[str, str], Thread] = OrderedDict()
        self._queue: deque[tuple[Thread, str, bool]] = deque()
        self._names, self._pieces = Names(), Pieces()
        self._turns, self._waited, self._knows_others, self._hurries = False, 0, False, False
        self.note = self._names.note
        keeper.listener, keeper.leaving = self, self._leave

    def hears(self, recorder: Recorder, entries: Sequence[Entry], /) -> None:
        """Before an end is kept, which says what a session came to, its files are read as far as they go."""
        for one in entries:
            if one.record.event.type in OVER and (thread := self._thread(one.record.event)) is not None:
                self._pieces.catch_up(recorder, thread, _AT_THE_END)

    def heard(self, entries: Sequence[Entry], /) -> None:
        """Look at the files of these sessions soon."""
        for one in entries:
            if (thread := self._thread(one.record.event)) is not None:
                thread.tell(one.record.event, _LAST)
                self._due(thread, _REST)

    def _thread(self, event: Event) -> Thread | None:
        reader = reader_of(event)
        if reader is None or event.session is None:
            return None
        key = (event.agent, event.session)
        thread, names = self._threads.get(key), self._names.of(event)
        if thread is None and names:
            thread = self._threads[key] = Thread(*key, reader)
        if thread is not None:
            self._threads.move_to_end(key)
            for name in names:
                thread.add(name)
        while len(self._threads) > _THREADS:
            self._threads.popitem(last=False)
        return thread

    def tend(self) -> None:
        """From time to time: what was not read when we were not there, and sessions of which nothing was heard."""
        if not self._knows_others and settings.records():
            self._keeper.ask(self._take_over)
        for thread in list(self._threads.values()):
            if thread.due is None and not thread.is_over and monotonic() - thread.heard > _QUIET:
                thread.looks = []
                self._due(thread, 0)

    def _take_over(self, recorder: Recorder) -> None:
        self._knows_others = True
        connection = recorder.writer.connection
        since = times.text_of(datetime.now(UTC) - _YESTERDAY)
        for record in records(connection, Wanted(since=since, last=_ROWS)):
            if (thread := self._thread(record.event)) is not None:
                thread.know(record.event)
                self._due(thread, _REST)
        for place in cursors.since(connection, since, _ROWS):
            known = self._threads.get((place.agent, place.session or ""))
            if known is not None:
                known.add(str(place.path))

    def _due(self, thread: Thread, seconds: float) -> None:
        moment = monotonic() + seconds
        if thread.due is None or moment < thread.due:
            thread.due = moment
            self._loop.at(moment, partial(self._look, thread, moment))

    def _look(self, thread: Thread, moment: float) -> None:
        """Read all files of a session, unless that was done meanwhile, or is being done."""
        if thread.due != moment:
            return
        thread.due = None
        if self._is_queued(thread):
            self._due(thread, _REST)
            return
        self._queue += [(thread, name, thread.looks == []) for name in thread.files]
        self._go_on()

    def _is_queued(self, thread: Thread) -> bool:
        return any(one is thread for one, _, _ in self._queue)

    def _go_on(self, seconds: float = 0.0) -> None:
        if self._turns or self._hurries:
            return
        self._turns = True
        self._loop.at(monotonic() + seconds, partial(self._loop.later, self._turn))

    def _turn(self) -> None:
        """Read one piece of one file, if nobody waits for us."""
        self._turns = False
        if not self._queue:
            return
        if self._is_busy() and self._waited < _PATIENCE:
            self._waited += 1
            self._go_on(_BUSY)
            return
        self._waited = 0
        if not self._keeper.ask(self._next):
            self._go_on(_TROUBLE)
        elif self._queue:
            self._go_on()

    def _next(self, recorder: Recorder) -> None:
        thread, name, last = self._queue[0]
        more = self._pieces.read(recorder, thread, name, last=last)[0] if settings.records() else []
        self._queue.popleft()
        self._queue.extendleft((thread, one, last) for one in more)
        if not self._is_queued(thread):
            self._done(thread)

    def _done(self, thread: Thread) -> None:
        """All files of a session were read, as they are now."""
        if thread.looks:
            self._due(thread, thread.looks.pop(0))
        elif thread.is_over and self._threads.get((thread.agent, thread.session)) is thread:
            del self._threads[thread.agent, thread.session]

    def hurry(self) -> None:
        """We are leaving: what is there is read at the very end, and only so much of it."""
        self._hurries = True
        self._queue.clear()

    def _leave(self, recorder: Recorder) -> None:
        left = _LEAVING
        for thread in reversed(self._threads.values()):
            if monotonic() - thread.heard < _QUIET and settings.records():
                left = self._pieces.catch_up(recorder, thread, left, last=thread.is_over)

    def status(self) -> Object:
        """What is told about it."""
        return {"sessions": len(self._threads)} | self._pieces.status()
