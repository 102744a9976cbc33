"""Transcript tailer: follows session files chunk by chunk while idle, and twice after the end, for the last lines."""

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic

from msgspec.structs import replace

from hookonce.agents.transcripts.accumulator import TranscriptReader
from hookonce.agents.transcripts.types import ToolOutcome
from hookonce.base import paths, settings, times
from hookonce.base.event_loop import EventLoop
from hookonce.model import Event, Object, Tool
from hookonce.sessions import transcript_cursors
from hookonce.sessions.derive.calls import SESSION_ENDS, has_result, model_call_id
from hookonce.sessions.recorder import Recorder, StoreAccess
from hookonce.sessions.transcript_events import outcome_result
from hookonce.sessions.transcripts import SessionTranscripts, TranscriptChunkReader, TranscriptPaths
from hookonce.store.entry import StoreEntry, build_entry
from hookonce.store.query import RecordFilter, find_records
from hookonce.vocabulary.events import TOOL_END_EVENTS

_READ_DELAY_S = 1.0  # seconds after an event in which its agent has written about it
_FINAL_READ_DELAYS_S = [2.0, 8.0]  # seconds until each of the looks after the end
_IDLE_SESSION_S = 600.0  # seconds after which a session of which nothing was heard is read to its end
_BUSY_RETRY_S = 0.25  # seconds for which we make room for those who wait
_STORE_RETRY_S = 5.0  # seconds until a store that could not be written is tried again
_MAX_BUSY_RETRIES = 20  # times that we make room
_MAX_END_READ_BYTES = 4 << 20  # bytes that are read before an end is kept, which sums up
_MAX_SHUTDOWN_READ_BYTES = 16 << 20  # bytes that are read when we leave
_MAX_SESSIONS = 256
_RESUME_WINDOW, _MAX_RESUME_ROWS = timedelta(days=1), 200  # what is looked through when we begin


class TranscriptTailer:
    """Tailer of the transcripts of all open sessions."""

    def __init__(
        self,
        loop: EventLoop,
        store: StoreAccess,
        find_reader: Callable[[str], TranscriptReader | None],
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        """`find_reader` finds the transcript reader of an agent by its name."""
        self._loop, self._store, self._find_reader, self._is_busy = loop, store, find_reader, is_busy
        self._sessions: OrderedDict[tuple[str, str], SessionTranscripts] = OrderedDict()
        self._queue: deque[tuple[SessionTranscripts, str, bool]] = deque()
        self._paths, self._reader = TranscriptPaths(), TranscriptChunkReader()
        self._is_scheduled, self._busy_retries, self._has_resumed, self._is_stopping = False, 0, False, False
        self.remember_payload = self._paths.remember

    def before_append(self, recorder: Recorder, entries: Sequence[StoreEntry], /) -> Sequence[StoreEntry]:
        """Before a session's end is stored, which sums the session up, read its files as far as they go.

        The end of a call that came without a result gets it from there.
        """
        complete_entries = self._complete_results(recorder, entries)
        for entry in entries:
            event = entry.record.event
            session = self._find_session(event) if event.type in SESSION_ENDS else None
            if session is not None:
                self._note_pending(recorder, session, entries)
                self._reader.read_all(recorder, session, _MAX_END_READ_BYTES)
        return complete_entries

    def _complete_results(self, recorder: Recorder, entries: Sequence[StoreEntry]) -> Sequence[StoreEntry]:
        outcomes: dict[tuple[str, str], dict[str, ToolOutcome]] = {}
        complete_entries = []
        for entry in entries:
            event = entry.record.event
            session = self._find_session(event) if _lacks_result(event) else None
            if session is not None and event.tool is not None:
                key = (session.agent, session.session)
                if key not in outcomes:
                    outcomes[key] = self._reader.peek_outcomes(recorder, session)
                ids = (event.tool.call_id, model_call_id(event))
                outcome = next((outcomes[key][call_id] for call_id in ids if call_id in outcomes[key]), None)
                entry = entry if outcome is None else _add_outcome(entry, event.tool, outcome)  # noqa: PLW2901
            complete_entries.append(entry)
        return complete_entries

    def _note_pending(
        self, recorder: Recorder, session: SessionTranscripts, entries: Sequence[StoreEntry] = ()
    ) -> None:
        """Note what was reported of a session and is not stored yet: what its file tells of that has to wait."""
        reported_events = (*self._store.pending_events(), *(entry.record.event for entry in entries))
        own_events = (one for one in reported_events if (one.agent, one.session) == (session.agent, session.session))
        events = [event for event in own_events if not recorder.has_event(event.id)]
        ends = [event for event in events if event.type in TOOL_END_EVENTS]
        ids = [*(event.tool.call_id for event in ends if event.tool is not None), *map(model_call_id, ends)]
        session.pending_calls = frozenset(call_id for call_id in ids if call_id is not None)
        session.pending_since = min((event.time for event in events), default=None)

    def after_append(self, entries: Sequence[StoreEntry], /) -> None:
        """Schedule a read of the files of these entries' sessions."""
        for entry in entries:
            if (session := self._find_session(entry.record.event)) is not None:
                session.add_event(entry.record.event, _FINAL_READ_DELAYS_S)
                self._schedule_read(session, _READ_DELAY_S)

    def _find_session(self, event: Event) -> SessionTranscripts | None:
        if event.session is None or (event.origin is not None and event.origin.format is not None):
            return None  # imported
        reader = self._find_reader(event.agent)
        if reader is None:
            return None
        key = (event.agent, event.session)
        session = self._sessions.get(key)
        named_paths = self._paths.paths_of(event) or self._locate_file(reader, event)
        if session is None and named_paths:
            session = self._sessions[key] = SessionTranscripts(*key, reader)
        if session is not None:
            self._sessions.move_to_end(key)
            for path in named_paths:
                session.add_path(path)
        while len(self._sessions) > _MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return session

    def _locate_file(self, reader: TranscriptReader, event: Event) -> list[str]:
        """The file of a session that no payload names; an id that would lead elsewhere has none.

        The agent's environment may name its folder. A file that is not this user's is refused as any other.
        """
        session = event.session or ""
        is_name = session.strip(".") != "" and not {"/", "\0"} & set(session)
        if reader.locate is None or not is_name:
            return []
        path = reader.locate(paths.home(), session, self._paths.environment_of(event))
        return [] if path is None else [str(path)]

    def maintain(self) -> None:
        """Periodic: resume sessions of an earlier daemon, and finish sessions that are idle."""
        if not self._has_resumed and settings.load().record:
            self._store.run_with_recorder(self._resume_sessions)
        for session in list(self._sessions.values()):
            if session.due_at is None and not session.is_over and monotonic() - session.last_event_at > _IDLE_SESSION_S:
                session.remaining_reads = []
                self._schedule_read(session, 0)

    def _resume_sessions(self, recorder: Recorder) -> None:
        self._has_resumed = True
        connection = recorder.writer.connection
        since = times.format_time(datetime.now(UTC) - _RESUME_WINDOW)
        for record in find_records(connection, RecordFilter(since=since, last=_MAX_RESUME_ROWS)):
            if (session := self._find_session(record.event)) is not None:
                session.update_context(record.event)
                self._schedule_read(session, _READ_DELAY_S)
        for cursor in transcript_cursors.list_transcripts(connection, since, _MAX_RESUME_ROWS):
            if (session := self._sessions.get((cursor.agent, cursor.session or ""))) is not None:
                session.add_path(str(cursor.path))

    def _schedule_read(self, session: SessionTranscripts, seconds: float) -> None:
        moment = monotonic() + seconds
        if session.due_at is None or moment < session.due_at:
            session.due_at = moment
            self._loop.call_at(moment, partial(self._queue_files, session, moment))

    def _queue_files(self, session: SessionTranscripts, moment: float) -> None:
        """Queue all files of a session, unless that was done meanwhile or is being done."""
        if session.due_at != moment:
            return
        session.due_at = None
        if self._is_queued(session):
            self._schedule_read(session, _READ_DELAY_S)
            return
        self._queue += [(session, path, session.remaining_reads == []) for path in session.files]
        self._schedule_step()

    def _is_queued(self, session: SessionTranscripts) -> bool:
        return any(other is session for other, _, _ in self._queue)

    def _schedule_step(self, seconds: float = 0.0) -> None:
        if self._is_scheduled or self._is_stopping:
            return
        self._is_scheduled = True
        self._loop.call_later(seconds, partial(self._loop.call_idle, self._run_step))

    def _run_step(self) -> None:
        """Read one chunk of one file, if no caller waits."""
        self._is_scheduled = False
        if not self._queue:
            return
        if self._is_busy() and self._busy_retries < _MAX_BUSY_RETRIES:
            self._busy_retries += 1
            self._schedule_step(_BUSY_RETRY_S)
            return
        self._busy_retries = 0
        if not self._store.run_with_recorder(self._read_next):
            self._schedule_step(_STORE_RETRY_S)
        elif self._queue:
            self._schedule_step()

    def _read_next(self, recorder: Recorder) -> None:
        session, path, is_last = self._queue[0]
        next_paths: list[str] = []
        if settings.load().record:
            self._note_pending(recorder, session)
            next_paths, _ = self._reader.read_chunk(recorder, session, path, is_last=is_last)
        self._queue.popleft()
        self._queue.extendleft((session, next_path, is_last) for next_path in next_paths)
        if self._is_queued(session):
            return
        if session.remaining_reads:
            self._schedule_read(session, session.remaining_reads.pop(0))
        elif session.is_over and self._sessions.get((session.agent, session.session)) is session:
            del self._sessions[session.agent, session.session]

    def stop(self) -> None:
        """Stop: what is there is read at the very end, up to a limit."""
        self._is_stopping = True
        self._queue.clear()

    def read_before_close(self, recorder: Recorder) -> None:
        """Read the files of sessions that were active lately, up to a limit."""
        remaining_bytes = _MAX_SHUTDOWN_READ_BYTES
        for session in reversed(self._sessions.values()):
            if monotonic() - session.last_event_at < _IDLE_SESSION_S and settings.load().record:
                remaining_bytes = self._reader.read_all(recorder, session, remaining_bytes, is_last=session.is_over)

    def status(self) -> Object:
        """The transcripts' part of the status report."""
        return {"sessions": len(self._sessions)} | self._reader.status()


def _lacks_result(event: Event) -> bool:
    """Whether the end of a call does not say if it succeeded, and a session file may."""
    has_id = event.tool is not None and event.tool.call_id is not None
    return event.type in TOOL_END_EVENTS and has_id and not has_result(event)


def _add_outcome(entry: StoreEntry, tool: Tool, outcome: ToolOutcome) -> StoreEntry:
    complete_tool = replace(tool, result=outcome_result(outcome, tool.result))
    return build_entry(replace(entry.record, event=replace(entry.record.event, tool=complete_tool)))
