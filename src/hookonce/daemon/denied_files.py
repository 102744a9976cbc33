"""Watch on the files of denied writes: reports one that changes although no call was allowed to write it.

The rule. When a write or an edit was denied, its files are looked at before the answer leaves, and again four times
within a minute. A change in that time is reported as a file event, from which a suspected violation follows, but
only if no other call may have made it:
- in the same session no call was allowed between the denial and the change, whatever it was;
- in no other session was one allowed that may have written there: a shell, an unknown tool, or a write
  to a file of that name;
- no such call was still running when the denial was made.
Where there is such a call, nothing is reported. A person who changes the file by hand within that minute is
suspected as well; that is why it is a suspicion.
"""

import os
from os.path import basename, isabs
from sqlite3 import Connection
from time import monotonic, time

from msgspec import Struct

from hookonce.base import ids, settings, times
from hookonce.base.event_loop import EventLoop
from hookonce.daemon.store_writer import BackgroundStoreWriter
from hookonce.model import SCHEMA, Actor, Event, Origin, Record
from hookonce.sessions.derive.calls import CALL_START, file_paths, is_refused
from hookonce.sessions.recorder import Recorder
from hookonce.sessions.stored_records import redact_record
from hookonce.store.spool.journal import SpoolJournal
from hookonce.vocabulary.events import TOOL_END_EVENTS
from hookonce.vocabulary.tools import WRITE_TOOLS

_CHECK_DELAYS_S = (2.0, 10.0, 30.0, 58.0)  # seconds after the refusal; what is later than a minute is no violation
_SETTLE_S = 3.0  # seconds in which what has come by then is in the store, also if it was answered without us
_STORE_TIMEOUT_S = 180.0  # seconds after the refusal in which a store that cannot be asked is asked again
_MTIME_LAG_S = 0.05  # seconds by which the time of a file may be behind the system's clock
_MAX_FILES = 64  # files at a time
_MAX_FILES_PER_CALL = 8  # files of one call
_MAX_CALL_AGE_S = 600  # seconds after which a call that was never ended elsewhere is not taken for one that still runs
_DENIABLE_TYPES = frozenset({CALL_START, "permission_request"})
_READ_ONLY_TOOLS = frozenset({"file_read", "search", "find", "web_search", "web_fetch"})
_CALLS_SINCE_SQL = """SELECT type, session, tool, path FROM events WHERE seq > (SELECT seq FROM events WHERE id = ?)
    AND type IN (?, ?, ?) AND coalesce(outcome, '') <> 'deny' AND id <> ? AND coalesce(received, time) <= ?"""
FileStamp = tuple[int, int, int] | None  # of a file, None where there is none


class DeniedFile(Struct, frozen=True, kw_only=True):
    """A file that must not change: the denied event, and the file's stamp at that time."""

    event: Event
    path: str
    stamp: FileStamp
    denied_at: float
    index: int


class DeniedFileWatcher:
    """Watcher of the files of calls that were denied within the last minute."""

    def __init__(self, loop: EventLoop, store_writer: BackgroundStoreWriter, journal: SpoolJournal) -> None:
        self._loop, self._store_writer, self._journal = loop, store_writer, journal
        self._files: dict[tuple[str, str], DeniedFile] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether a file is being watched."""
        return bool(self._files)

    def watch_record(self, record: Record) -> None:
        """Start watching the files of a record if its call was denied."""
        event = record.event
        if event.type not in _DENIABLE_TYPES or not is_refused(record) or len(self._files) >= _MAX_FILES:
            return
        if not settings.load().record:
            return
        for index, path in enumerate(file_paths(event)[:_MAX_FILES_PER_CALL]):
            key = (event.id, path)
            if not isabs(path) or key in self._files:  # noqa: PTH117
                continue
            try:
                denied_file = DeniedFile(
                    event=event, path=path, stamp=stamp_of(path), denied_at=monotonic(), index=index
                )
            except (OSError, ValueError):
                continue  # nobody can see it from here
            self._files[key] = denied_file
            self._loop.call_at(denied_file.denied_at + _CHECK_DELAYS_S[0], lambda key=key: self._check_file(key, 0))  # type: ignore[misc]

    def _check_file(self, key: tuple[str, str], number: int) -> None:
        denied_file = self._files[key]
        try:
            current_stamp = stamp_of(denied_file.path)
        except (OSError, ValueError):
            current_stamp = denied_file.stamp
        if current_stamp != denied_file.stamp:
            changed_at = times.from_seconds(_change_time(denied_file.path)) or times.now()
            self._loop.call_later(
                _SETTLE_S, lambda: self._judge_change(key, changed_at, exists=current_stamp is not None)
            )
        elif number + 1 < len(_CHECK_DELAYS_S):
            self._loop.call_at(
                denied_file.denied_at + _CHECK_DELAYS_S[number + 1], lambda: self._check_file(key, number + 1)
            )
        else:
            del self._files[key]

    def _judge_change(self, key: tuple[str, str], changed_at: str, *, exists: bool) -> None:
        denied_file = self._files[key]
        event_type = "file_deleted" if not exists else "file_created" if denied_file.stamp is None else "file_saved"

        def work(recorder: Recorder) -> None:
            if not _is_explained(recorder, denied_file, changed_at):
                self._append_event(denied_file, event_type, changed_at)

        if self._store_writer.run_with_recorder(work) or monotonic() - denied_file.denied_at > _STORE_TIMEOUT_S:
            del self._files[key]
        else:  # somebody else holds the store
            self._loop.call_later(_SETTLE_S, lambda: self._judge_change(key, changed_at, exists=exists))

    def _append_event(self, denied_file: DeniedFile, event_type: str, changed_at: str) -> None:
        event = denied_file.event
        change_event = Event(
            id=ids.derive_id(event.id, event_type, str(denied_file.index)),
            schema=SCHEMA,
            type=event_type,
            agent=event.agent,
            agent_version=event.agent_version,
            session=event.session,
            time=changed_at,
            time_source="received",
            received=times.now(),
            cwd=event.cwd,
            actor=Actor(type="system"),
            data={"path": denied_file.path, "watched": True},
            origin=Origin(via=["hookonce"]),
        )
        self._journal.append(redact_record(Record(event=change_event)))


def stamp_of(path: str) -> FileStamp:
    """Stamp of a file: mtime, size and inode; None where there is no file."""
    try:
        stat = os.stat(path)  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _change_time(path: str) -> float:
    """Change time (ctime, which no program can set); now, for a file that is gone."""
    try:
        return min(os.stat(path).st_ctime, time())  # noqa: PTH116
    except OSError:
        return time()


def _is_explained(recorder: Recorder, denied_file: DeniedFile, changed_at: str) -> bool:
    return _may_have_written(recorder.writer.connection, denied_file, changed_at) or _has_running_writer(
        recorder, denied_file
    )


def _may_have_written(connection: Connection, denied_file: DeniedFile, changed_at: str) -> bool:
    """Whether a call was allowed meanwhile that may have written the file."""
    event = denied_file.event
    latest = times.from_seconds((times.to_seconds(changed_at) or 0.0) + _MTIME_LAG_S) or changed_at
    for event_type, session, tool, path in connection.execute(
        _CALLS_SINCE_SQL, (event.id, CALL_START, *sorted(TOOL_END_EVENTS), event.id, latest)
    ):
        is_same_session = session == event.session
        if is_same_session and event_type in TOOL_END_EVENTS and tool in WRITE_TOOLS:
            continue  # how some agents tell that a refused call has failed; what was let through has begun before
        if (is_same_session and event_type == CALL_START) or not _is_harmless(
            tool, (path,) if path else (), denied_file.path
        ):
            return True
    return False


def _is_harmless(tool: str | None, files: tuple[str, ...], denied_path: str) -> bool:
    """Whether a tool only reads, or writes files of other names."""
    names = {basename(path) for path in files}  # noqa: PTH119
    return tool in _READ_ONLY_TOOLS or (tool in WRITE_TOOLS and bool(names) and basename(denied_path) not in names)  # noqa: PTH119


def _has_running_writer(recorder: Recorder, denied_file: DeniedFile) -> bool:
    session_key = denied_file.event.agent, denied_file.event.session
    denied_s = times.to_seconds(denied_file.event.time) or 0.0
    for key, state in recorder.states.items():
        for call in (call for open_calls in state.calls.open.values() for call in open_calls):
            began_s = times.to_seconds(call.time) or 0.0
            if began_s > denied_s or _is_harmless(call.tool, call.paths, denied_file.path):
                continue
            if key == session_key or denied_s - began_s < _MAX_CALL_AGE_S:
                return True
    return False
