"""The vigil over sessions: an end that no agent tells is noticed, by its process or by its silence.

A session belongs to the nearest process that has called us in it more than once: whatever is only started to run a
hook comes and goes. One that is gone has ended its sessions, at once where its agent has no word for the end, else
when that word is overdue. Of a session that was open before we were there nobody knows the process; it ends when it
has rested for half an hour, as every other does.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cache, partial
from time import monotonic, time

from hookonce import agents, times
from hookonce.agents import kind_of, natives
from hookonce.config import settings
from hookonce.derive.calls import OVER
from hookonce.derive.ending import IDLE, LATE
from hookonce.derive.turns import BEGINNINGS
from hookonce.errors import HookonceError
from hookonce.journeys.record import Key, Recorder
from hookonce.model import Event
from hookonce.runtime.loop import Loop
from hookonce.service.keeper import Keeper
from hookonce.service.lineage import Lineage, Process, above, caller, is_there
from hookonce.service.watched import Watched
from hookonce.store.entry import Entry
from hookonce.store.unended import unended

_SESSIONS = 512  # that are watched; who has been quiet for longest goes first
_CALLERS = 1024  # calls whose record has not come yet
_WALKS = 16  # looks at the processes above a caller between two ticks: a storm of calls needs no more
_SOON = 2.0  # seconds in which what an agent has said last is still on its way to us
_MARGIN = 120.0  # seconds in which a session that has rested for long enough is ended
_SECOND = 1000  # milliseconds
_STARTS = BEGINNINGS | {"session_start"}


class Vigil:
    """All sessions that have not ended, as far as we have heard of them."""

    def __init__(
        self,
        loop: Loop,
        keeper: Keeper,
        clock: Callable[[], float] = time,
        steady: Callable[[], float] = monotonic,
    ) -> None:
        """Be told by the keeper of all that is kept; `clock` is what people read, `steady` never goes back."""
        self._loop, self._keeper, self._clock, self._steady = loop, keeper, clock, steady
        self._open: OrderedDict[Key, Watched] = OrderedDict()
        self._callers: OrderedDict[bytes, Lineage] = OrderedDict()
        self._above: dict[bytes, Lineage] = {}
        self._walks, self._has_looked_back = _WALKS, False
        keeper.noticed = self.noticed

    @property
    def is_waiting(self) -> bool:
        """Whether a session may still end of which nobody else would know."""
        latest = max((one.last for one in self._open.values()), default=0.0)
        return self._clock() - latest < IDLE / _SECOND + _MARGIN

    def called(self, name: bytes, parent: bytes) -> None:
        """A client has called, and says who has called it; both may be gone by the time its record is kept."""
        lineage = self._above.get(parent)
        if lineage is None:
            first = caller(parent)
            if first is None or self._walks <= 0:
                return
            self._walks -= 1
            lineage = self._above[parent] = above(first)
        if lineage:
            self._callers[name] = lineage
        if len(self._callers) > _CALLERS:
            self._callers.popitem(last=False)

    def noticed(self, entries: Sequence[Entry]) -> None:
        """These calls were kept."""
        for event in (one.record.event for one in entries):
            lineage = self._callers.pop(event.id.encode(), None)
            if event.session is None:
                continue
            if event.type in OVER:
                self._open.pop((event.agent, event.session), None)
            elif lineage is not None:
                one = self._seen((event.agent, event.session), event)
                one.called(lineage, anew=event.type == "session_start")
                one.heard = self._steady()

    def _seen(self, key: Key, event: Event) -> Watched:
        one = self._open.setdefault(key, Watched())
        one.seen(event)
        self._open.move_to_end(key)
        while len(self._open) > _SESSIONS:
            self._open.popitem(last=False)
        return one

    def tick(self) -> None:
        """Every few seconds: see who is gone, and what has rested for too long."""
        self._walks = _WALKS
        self._above = {told: lineage for told, lineage in self._above.items() if lineage and is_there(lineage[0])}
        if not settings.records() or not self._keeper.ask(self._look):
            return
        there = {process: is_there(process) for one in self._open.values() if (process := one.process) is not None}
        for key, one in self._open.items():
            gone = self._is_gone(key[0], one, there)
            if gone or self._has_rested(one):
                self._loop.later(partial(self._end, key, gone=gone))

    def _has_rested(self, one: Watched) -> bool:
        """Whether it has been quiet for so long; while the machine slept nobody could have said anything."""
        rest = IDLE / _SECOND
        awake = one.heard is None or self._steady() - one.heard >= rest
        return awake and self._clock() - one.last >= rest

    def _look(self, recorder: Recorder) -> None:
        """Sessions that we were not called in: those of calls that were answered without us, and older ones."""
        if not self._has_looked_back:
            self._has_looked_back = True
            for agent, session, last in [*unended(recorder.writer.connection, OVER, _STARTS)][::-1]:
                self._open.setdefault((agent, session), Watched(times.seconds(last) or 0.0))
        for key, state in recorder.states.items():
            last_event, one = state.turns.last, self._open.get(key)
            if key[1] is None or last_event is None or state.turns.ended or not state.turns.begun:
                self._open.pop(key, None)
            elif one is None or one.event is not last_event:
                self._seen(key, last_event)

    def _is_gone(self, agent: str, one: Watched, there: dict[Process, bool]) -> bool | None:
        """Whether its agent is gone, and nothing more will be heard of it; None where nobody knows its process."""
        if one.process is None:
            return None
        if there[one.process]:
            one.gone = None
            return False
        one.gone = self._steady() if one.gone is None else one.gone
        return self._steady() - one.gone >= (LATE / _SECOND if tells(agent) else _SOON)

    def _end(self, key: Key, *, gone: bool | None) -> None:
        """Keep its end, unless something was heard of it meanwhile."""
        now = times.from_seconds(self._clock()) or times.now()
        if key in self._open and self._keeper.end(key, now=now, gone=gone, tells=False):
            self._open.pop(key, None)


@cache
def tells(name: str) -> bool:
    """Whether an agent always tells that a session has ended."""
    try:
        agent = agents.load(name)
    except HookonceError:
        return True  # nobody knows; it is given time
    return agent.ends == "told" and any(kind_of(agent, native) == "session_end" for native in natives(agent))
