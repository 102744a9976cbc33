"""Session reaper: ends sessions whose end no agent reports, when their process is gone or they are idle.

A process that is gone has ended its sessions, at once where its agent does not report ends, else when that report
is overdue. Which process a session has is kept for the next daemon (`agent_process`); where nobody knows it, the
session ends when it has been idle for half an hour, as every other does.
"""

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from time import monotonic, time

from msgspec import Struct

from hookonce.base import settings, times
from hookonce.base.event_loop import EventLoop
from hookonce.model import Event
from hookonce.sessions.agent_process import (
    AgentProcess,
    ProcessAncestry,
    ProcessIdentity,
    find_ancestry,
    identify_process,
    is_running,
    load_process,
    remove_process,
    save_process,
)
from hookonce.sessions.derive.calls import SESSION_ENDS
from hookonce.sessions.derive.turns import BEGIN_EVENTS, IDLE_TIMEOUT_MS
from hookonce.sessions.recorder import Recorder, StoreAccess
from hookonce.store.entry import StoreEntry
from hookonce.store.query import open_sessions


class MonitoredSession(Struct):
    """An open session; `gone_at` is since when its process is gone, `last_call_at` its last call, both monotonic.

    `saved_process` is what was kept of its process, `saved_at` when we have kept it.
    """

    last_event_s: float = 0.0
    process: AgentProcess = AgentProcess()
    saved_process: AgentProcess = AgentProcess()
    saved_at: float = 0.0
    event: Event | None = None
    gone_at: float | None = None
    last_call_at: float | None = None

    def add_event(self, event: Event) -> None:
        """Take an event of the session."""
        self.event = event
        self.last_event_s = max(self.last_event_s, times.to_seconds(event.received or event.time) or 0.0)

    def add_call(self, ancestry: ProcessAncestry, *, is_restart: bool) -> None:
        """Take a call of the session."""
        self.process = self.process.add_call(ancestry, is_restart=is_restart)
        self.gone_at = None

    def load_process(self, key: tuple[str, str]) -> None:
        """Take what another process has kept since we have."""
        process = load_process(*key)
        if process.ancestry and process != self.saved_process:
            self.process = self.saved_process = process
            self.gone_at = None

    def save_process(self, key: tuple[str, str], now: float) -> None:
        """Keep the process for the next daemon, if it is another, or what is kept would be swept away as old."""
        if self.process.ancestry and (self.process != self.saved_process or now - self.saved_at > _SAVE_INTERVAL_S):
            self.process = self.saved_process = save_process(*key, self.process)
            self.saved_at = now


_MAX_SESSIONS = 512  # that are watched; who has been quiet for longest goes first
_SAVE_INTERVAL_S = 3600.0  # seconds after which the process of a session that goes on is kept once more
_MAX_CALLERS = 1024  # calls whose record has not come yet
_MAX_ANCESTRY_LOOKUPS = 16  # looks at the processes above a caller between two ticks: a storm of calls needs no more
_GONE_GRACE_S = 2.0  # seconds in which what an agent has said last is still on its way to us
END_GRACE_S = 90.0  # seconds in which an agent that tells its ends may still do so
_END_MARGIN_S = 120.0  # seconds in which a session that has rested for long enough is ended
_MS_PER_S = 1000  # milliseconds
_START_TYPES = BEGIN_EVENTS | {"session_start"}


class SessionReaper:
    """Monitor of all sessions that have not ended."""

    def __init__(
        self,
        loop: EventLoop,
        store: StoreAccess,
        reports_end: Callable[[str], bool],
        clock: Callable[[], float] = time,
        steady_clock: Callable[[], float] = monotonic,
    ) -> None:
        """`reports_end`: whether the agent of that name always reports ends. `clock` is wall time."""
        self._loop, self._store, self._reports_end = loop, store, reports_end
        self._clock, self._monotonic = clock, steady_clock
        self._sessions: OrderedDict[tuple[str, str], MonitoredSession] = OrderedDict()
        self._callers: OrderedDict[bytes, ProcessAncestry] = OrderedDict()
        self._ancestries: dict[int, tuple[ProcessIdentity, ProcessAncestry]] = {}  # of callers and agents, by pid
        self._lookups_left, self._loaded_version = _MAX_ANCESTRY_LOOKUPS, None  # type: tuple[int, object]

    @property
    def has_open_sessions(self) -> bool:
        """Whether a session may still end that nobody else would notice."""
        latest = max((session.last_event_s for session in self._sessions.values()), default=0.0)
        return self._clock() - latest < IDLE_TIMEOUT_MS / _MS_PER_S + _END_MARGIN_S

    def record_caller(self, call_id: bytes, parent: bytes) -> None:
        """Remember the ancestry of a client's caller, before the answer: with it a shell that called us ends."""
        pid = int(parent) if parent.isdigit() else 0
        if pid not in self._ancestries:
            caller_process = identify_process(pid) if self._lookups_left > 0 else None
            if caller_process is None:
                return
            self._lookups_left -= 1
            ancestry = find_ancestry(pid, self._ancestries)
            self._ancestries[pid] = caller_process, ancestry
            if ancestry:  # a shell of the next call has the same one above it
                self._ancestries[ancestry[0].pid] = ancestry[0], ancestry
        if ancestry := self._ancestries[pid][1]:
            self._callers[call_id] = ancestry
        if len(self._callers) > _MAX_CALLERS:
            self._callers.popitem(last=False)

    def handle_entry(self, entry: StoreEntry) -> None:
        """Take an entry of a call as soon as it is in the journal; its process is kept once nobody waits."""
        event = entry.record.event
        ancestry = self._callers.pop(event.id.encode(), None)
        if event.session is not None and (ancestry is not None or event.type in SESSION_ENDS):
            self._loop.call_idle(partial(self._handle_call, (event.agent, event.session), event, ancestry or ()))

    def _handle_call(self, key: tuple[str, str], event: Event, ancestry: ProcessAncestry) -> None:
        if event.type in SESSION_ENDS:
            self._sessions.pop(key, None)
            remove_process(*key)
            return
        session = self._touch(key, event)
        session.add_call(ancestry, is_restart=event.type == "session_start")
        session.last_call_at = self._monotonic()
        session.save_process(key, session.last_call_at)

    def _touch(self, key: tuple[str, str], event: Event) -> MonitoredSession:
        session = self._monitor(key)
        session.add_event(event)
        self._sessions.move_to_end(key)
        while len(self._sessions) > _MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return session

    def _monitor(self, key: tuple[str, str]) -> MonitoredSession:
        """The session, with what is kept of its process."""
        session = self._sessions.setdefault(key, MonitoredSession())
        session.load_process(key)
        return session

    def check_sessions(self) -> None:
        """Every few seconds: end sessions whose process is gone or that are idle."""
        self._lookups_left = _MAX_ANCESTRY_LOOKUPS
        self._ancestries = {pid: entry for pid, entry in self._ancestries.items() if entry[1] and is_running(entry[0])}
        if not settings.load().record or not self._store.run_with_recorder(self._sync_sessions):
            return
        processes = {session.process.identity for session in self._sessions.values()} - {None}
        running = {process: is_running(process) for process in processes if process is not None}
        for key, session in self._sessions.items():
            is_gone = self._is_gone(key[0], session, running)
            if is_gone or self._is_idle(session):
                self._loop.call_idle(partial(self._end_session, key, is_gone=is_gone))

    def _is_idle(self, session: MonitoredSession) -> bool:
        """Whether it is idle for long enough; time in which the machine slept does not count."""
        idle_s = IDLE_TIMEOUT_MS / _MS_PER_S
        was_awake = session.last_call_at is None or self._monotonic() - session.last_call_at >= idle_s
        return was_awake and self._clock() - session.last_event_s >= idle_s

    def _sync_sessions(self, recorder: Recorder) -> None:
        """Add sessions whose calls one-shot processes answered, and those that others have stored, also before us."""
        version = recorder, recorder.data_version()
        if version != self._loaded_version:
            self._loaded_version = version
            for agent, name, last in [*open_sessions(recorder.writer.connection, SESSION_ENDS, _START_TYPES)][::-1]:
                session = self._monitor((agent, name))
                session.last_event_s = max(session.last_event_s, times.to_seconds(last) or 0.0)
        for (agent, session_name), state in recorder.states.items():
            if session_name is None:
                continue
            key, last_event = (agent, session_name), state.turns.last
            monitored_session = self._sessions.get(key)
            if last_event is None or state.turns.has_ended or not state.turns.has_begun:
                self._sessions.pop(key, None)
            elif monitored_session is None or monitored_session.event is not last_event:
                self._touch(key, last_event)

    def _is_gone(self, agent: str, session: MonitoredSession, running: dict[ProcessIdentity, bool]) -> bool | None:
        """Whether its process is gone for long enough; None where its process is not known."""
        identity = session.process.identity
        if identity is None:
            return None
        if running[identity]:
            session.gone_at = None
            return False
        session.gone_at = self._monotonic() if session.gone_at is None else session.gone_at
        grace_s = END_GRACE_S if self._reports_end(agent) else _GONE_GRACE_S
        return self._monotonic() - session.gone_at >= grace_s

    def _end_session(self, key: tuple[str, str], *, is_gone: bool | None) -> None:
        now = times.from_seconds(self._clock()) or times.now()
        if key in self._sessions and self._store.end_session(key, now=now, is_gone=is_gone):
            self._sessions.pop(key, None)
            remove_process(*key)
