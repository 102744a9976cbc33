"""Session reaper: ends sessions whose end no agent reports, when their process is gone or they are idle.

A session belongs to the nearest process that has called us in it more than once: whatever is only started to run
a hook comes and goes. A process that is gone has ended its sessions, at once where its agent does not report
ends, else when that report is overdue. Of a session that was open before the daemon started nobody knows the
process; it ends when it has been idle for half an hour, as every other does.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from os.path import basename
from time import monotonic, time
from typing import NamedTuple

from msgspec import Struct

from hookonce.base import settings, times
from hookonce.base.event_loop import EventLoop
from hookonce.base.process_info import read_proc_stat
from hookonce.model import Event
from hookonce.sessions.derive.calls import SESSION_ENDS
from hookonce.sessions.derive.turns import BEGIN_EVENTS, IDLE_TIMEOUT_MS
from hookonce.sessions.recorder import Recorder, SessionKey, StoreAccess
from hookonce.store.entry import StoreEntry
from hookonce.store.query import open_sessions

_START_TIME_FIELD = 19  # where the moment of its start stands in what the system tells of a process
_MAX_ANCESTORS = 16  # processes above a client that are looked at
# What an agent starts a command with; it ends with the command, or is the one in which a person has started the agent.
_SHELLS = frozenset({"sh", "ash", "bash", "busybox", "dash", "env", "fish", "ksh", "mksh", "timeout", "zsh"})


class ProcessIdentity(NamedTuple):
    """Identity of a process: pids are reused, so its start time belongs to it."""

    pid: int
    start_time: str


ProcessAncestry = tuple[ProcessIdentity, ...]  # the nearest first


def parse_caller(field: bytes) -> ProcessIdentity | None:
    """Parse the caller of a client from its frame; None where the system does not tell."""
    pid, _, start_time = field.partition(b" ")
    return ProcessIdentity(int(pid), start_time.decode("ascii")) if pid.isdigit() and start_time.isdigit() else None


def find_ancestry(first: ProcessIdentity) -> ProcessAncestry:
    """Ancestry of a process, without shells and without init."""
    ancestry: list[ProcessIdentity] = []
    process: ProcessIdentity | None = first
    for _ in range(_MAX_ANCESTORS):
        if process is None or process.pid <= 1 or (stat := _stat_of(process)) is None:
            break
        if not _is_shell(process.pid):
            ancestry.append(process)
        parent_pid = int(stat[1])
        parent_stat = read_proc_stat(parent_pid)
        process = None if parent_stat is None else ProcessIdentity(parent_pid, parent_stat[_START_TIME_FIELD])
    return tuple(ancestry)


def is_running(process: ProcessIdentity) -> bool:
    """Whether a process still runs; a zombie does not."""
    stat = _stat_of(process)
    return stat is not None and stat[0] not in "ZX"


def _stat_of(process: ProcessIdentity) -> list[str] | None:
    stat = read_proc_stat(process.pid)
    return stat if stat is not None and stat[_START_TIME_FIELD] == process.start_time else None


def _is_shell(pid: int) -> bool:
    try:
        program = os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115
    except OSError:  # of somebody else, who starts no hooks of ours
        return False
    return basename(program) in _SHELLS  # noqa: PTH119


_MIN_AGENT_CALLS = 2  # calls by which a process is known to be the agent's


class MonitoredSession(Struct):
    """An open session; `gone_at` is since when its process is gone, `last_call_at` its last call, both monotonic."""

    last_event_s: float = 0.0
    ancestry: ProcessAncestry = ()
    call_count: int = 0
    event: Event | None = None
    gone_at: float | None = None
    last_call_at: float | None = None

    def add_event(self, event: Event) -> None:
        """Take an event of the session."""
        self.event = event
        self.last_event_s = max(self.last_event_s, times.to_seconds(event.received or event.time) or 0.0)

    def add_call(self, ancestry: ProcessAncestry, *, is_restart: bool) -> None:
        """Take a call: processes above all calls stay. A session that starts again may have moved to another one."""
        common = () if is_restart else tuple(process for process in self.ancestry if process in ancestry)
        self.ancestry = common or ancestry
        self.call_count = self.call_count + 1 if common else 1
        self.gone_at = None

    @property
    def process(self) -> ProcessIdentity | None:
        """The agent's own process, if that is known."""
        return self.ancestry[0] if self.ancestry and self.call_count >= _MIN_AGENT_CALLS else None


_MAX_SESSIONS = 512  # that are watched; who has been quiet for longest goes first
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
        self._sessions: OrderedDict[SessionKey, MonitoredSession] = OrderedDict()
        self._callers: OrderedDict[bytes, ProcessAncestry] = OrderedDict()
        self._ancestries: dict[bytes, ProcessAncestry] = {}
        self._lookups_left, self._has_loaded_open = _MAX_ANCESTRY_LOOKUPS, False

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
        live = ((parent, above) for parent, above in self._ancestries.items() if above and is_running(above[0]))
        self._ancestries = dict(live)
        if not settings.load().record or not self._store.run_with_recorder(self._sync_sessions):
            return
        processes = {session.process for session in self._sessions.values()} - {None}
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
        """Add sessions whose calls one-shot processes answered, and those that were open before the daemon started."""
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

    def _is_gone(self, agent: str, session: MonitoredSession, running: dict[ProcessIdentity, bool]) -> bool | None:
        """Whether its process is gone for long enough; None where its process is not known."""
        if session.process is None:
            return None
        if running[session.process]:
            session.gone_at = None
            return False
        session.gone_at = self._monotonic() if session.gone_at is None else session.gone_at
        grace_s = END_GRACE_S if self._reports_end(agent) else _GONE_GRACE_S
        return self._monotonic() - session.gone_at >= grace_s

    def _end_session(self, key: SessionKey, *, is_gone: bool | None) -> None:
        now = times.from_seconds(self._clock()) or times.now()
        if key in self._sessions and self._store.end_session(key, now=now, is_gone=is_gone):
            self._sessions.pop(key, None)
