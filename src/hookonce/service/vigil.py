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
from hookonce.agents import canonical_event_of, config_events
from hookonce.config import settings
from hookonce.derive.calls import SESSION_ENDS
from hookonce.derive.ending import IDLE_TIMEOUT_MS, END_GRACE_MS
from hookonce.derive.turns import BEGIN_EVENTS
from hookonce.errors import HookonceError
from hookonce.journeys.record import SessionKey, Recorder
from hookonce.model import Event
from hookonce.runtime.loop import EventLoop
from hookonce.service.keeper import BackgroundStoreWriter
from hookonce.service.lineage import ProcessAncestry, ProcessIdentity, find_ancestry, parse_caller, is_running
from hookonce.service.watched import MonitoredSession
from hookonce.store.entry import StoreEntry
from hookonce.store.unended import open_sessions

_MAX_SESSIONS = 512  # that are watched; who has been quiet for longest goes first
_MAX_CALLERS = 1024  # calls whose record has not come yet
_MAX_ANCESTRY_LOOKUPS = 16  # looks at the processes above a caller between two ticks: a storm of calls needs no more
_GONE_GRACE_S = 2.0  # seconds in which what an agent has said last is still on its way to us
_END_MARGIN_S = 120.0  # seconds in which a session that has rested for long enough is ended
_MS_PER_S = 1000  # milliseconds
_START_TYPES = BEGIN_EVENTS | {"session_start"}


class SessionReaper:
    """Monitor of all sessions that have not ended."""

    def __init__(
        self,
        loop: EventLoop,
        store_writer: BackgroundStoreWriter,
        clock: Callable[[], float] = time,
        steady_clock: Callable[[], float] = monotonic,
    ) -> None:
        """Registers with the store writer; `clock` is wall time, `steady_clock` is monotonic."""
        self._loop, self._store_writer, self._clock, self._monotonic = loop, store_writer, clock, steady_clock
        self._sessions: OrderedDict[SessionKey, MonitoredSession] = OrderedDict()
        self._callers: OrderedDict[bytes, ProcessAncestry] = OrderedDict()
        self._ancestries: dict[bytes, ProcessAncestry] = {}
        self._lookups_left, self._has_loaded_open = _MAX_ANCESTRY_LOOKUPS, False
        store_writer.on_stored = self.handle_stored

    @property
    def has_open_sessions(self) -> bool:
        """Whether a session may still end that nobody else would notice."""
        latest = max((session.last_event_s for session in self._sessions.values()), default=0.0)
        return self._clock() - latest < IDLE_TIMEOUT_MS / _MS_PER_S + _END_MARGIN_S

    def record_caller(self, call_id: bytes, parent: bytes) -> None:
        """Remember the ancestry of a client's caller; both may be gone by the time its record is stored."""
        ancestry = self._ancestries.get(parent)
        if ancestry is None:
            caller_process = parse_caller(parent)
            if caller_process is None or self._lookups_left <= 0:
                return
            self._lookups_left -= 1
            ancestry = self._ancestries[parent] = find_ancestry(caller_process)
        if ancestry:
            self._callers[call_id] = ancestry
        if len(self._callers) > _MAX_CALLERS:
            self._callers.popitem(last=False)

    def handle_stored(self, entries: Sequence[StoreEntry]) -> None:
        """Take entries that were stored."""
        for event in (item.record.event for item in entries):
            ancestry = self._callers.pop(event.id.encode(), None)
            if event.session is None:
                continue
            if event.type in SESSION_ENDS:
                self._sessions.pop((event.agent, event.session), None)
            elif ancestry is not None:
                item = self._touch((event.agent, event.session), event)
                item.add_call(ancestry, is_restart=event.type == "session_start")
                item.last_call_at = self._monotonic()

    def _touch(self, key: SessionKey, event: Event) -> MonitoredSession:
        session = self._sessions.setdefault(key, MonitoredSession())
        session.add_event(event)
        self._sessions.move_to_end(key)
        while len(self._sessions) > _MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return session

    def check_sessions(self) -> None:
        """Every few seconds: end sessions whose process is gone or that are idle."""
        self._lookups_left = _MAX_ANCESTRY_LOOKUPS
        self._ancestries = {parent: ancestry for parent, ancestry in self._ancestries.items() if ancestry and is_running(ancestry[0])}
        if not settings.records() or not self._store_writer.run_with_recorder(self._sync_sessions):
            return
        running = {process: is_running(process) for session in self._sessions.values() if (process := session.process) is not None}
        for key, session in self._sessions.items():
            is_gone = self._is_process_gone(key[0], session, running)
            if is_gone or self._is_idle(session):
                self._loop.call_idle(partial(self._end_session, key, is_gone=is_gone))

    def _is_idle(self, session: MonitoredSession) -> bool:
        """Whether it is idle for long enough; time in which the machine slept does not count."""
        idle_s = IDLE_TIMEOUT_MS / _MS_PER_S
        was_awake = session.last_call_at is None or self._monotonic() - session.last_call_at >= idle_s
        return was_awake and self._clock() - session.last_event_s >= idle_s

    def _sync_sessions(self, recorder: Recorder) -> None:
        """Add sessions of calls that one-shot processes answered, and those that were open before the daemon started."""
        if not self._has_loaded_open:
            self._has_loaded_open = True
            for agent, session, last in [*open_sessions(recorder.writer.connection, SESSION_ENDS, _START_TYPES)][::-1]:
                self._sessions.setdefault((agent, session), MonitoredSession(times.to_seconds(last) or 0.0))
        for key, state in recorder.states.items():
            last_event, monitored_session = state.turns.last, self._sessions.get(key)
            if key[1] is None or last_event is None or state.turns.has_ended or not state.turns.has_begun:
                self._sessions.pop(key, None)
            elif monitored_session is None or monitored_session.event is not last_event:
                self._touch(key, last_event)

    def _is_process_gone(self, agent: str, session: MonitoredSession, running: dict[ProcessIdentity, bool]) -> bool | None:
        """Whether its process is gone for long enough; None where its process is not known."""
        if session.process is None:
            return None
        if running[session.process]:
            session.gone_at = None
            return False
        session.gone_at = self._monotonic() if session.gone_at is None else session.gone_at
        return self._monotonic() - session.gone_at >= (END_GRACE_MS / _MS_PER_S if reports_session_end(agent) else _GONE_GRACE_S)

    def _end_session(self, key: SessionKey, *, is_gone: bool | None) -> None:
        now = times.from_seconds(self._clock()) or times.now()
        if key in self._sessions and self._store_writer.end_session(key, now=now, is_gone=is_gone, tells=False):
            self._sessions.pop(key, None)


@cache
def reports_session_end(name: str) -> bool:
    """Whether an agent always reports the end of a session."""
    try:
        agent = agents.load(name)
    except HookonceError:
        return True  # nobody knows; it is given time
    return agent.ends == "told" and any(canonical_event_of(agent, native) == "session_end" for native in config_events(agent))
