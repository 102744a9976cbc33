"""Files of refused calls: whether one changes although nobody was allowed to write it.

The rule. When a write or an edit was refused, its files are looked at before the answer leaves, and again four times
within a minute. A change in that time is told as an event of the file, from which a suspected violation follows, but
only if nothing else is known that may have made it:
- in the same session no call was let through between the refusal and the change, whatever it was;
- in no other session was one let through that may have written there: a shell, a tool that nobody knows, or a write
  to a file of that name;
- no such call was still running when the refusal was made.
Where there is such a call, nothing is said: it is certain of neither. A person who changes the file by hand within
that minute is suspected as well; that is why it is a suspicion.
"""

import os
from os.path import basename, isabs
from sqlite3 import Connection
from time import monotonic, time

from msgspec import Struct

from hookonce import ids, times
from hookonce.agents import ENDS
from hookonce.canon.tools import WRITES
from hookonce.config import settings
from hookonce.derive.calls import BEGINS, is_refused, paths
from hookonce.journeys.record import Recorder
from hookonce.journeys.stored import stored
from hookonce.model import SCHEMA, Actor, Event, Origin, Record
from hookonce.runtime.loop import Loop
from hookonce.service.keeper import Keeper
from hookonce.store.journal import Journal

_LOOKS = (2.0, 10.0, 30.0, 58.0)  # seconds after the refusal; what is later than a minute is no violation
_SETTLE = 3.0  # seconds in which what has come by then is in the store, also if it was answered without us
_PATIENCE = 180.0  # seconds after the refusal in which a store that cannot be asked is asked again
_LAG = 0.05  # seconds by which the time of a file may be behind the clock: the system looks at it only now and then
_MOST = 64  # files at a time
_OF_ONE = 8  # files of one call
_OLD = 600  # seconds after which a call that was never ended elsewhere is not taken for one that still runs
_REFUSABLE = frozenset({BEGINS, "permission_request"})
_READS = frozenset({"file_read", "search", "find", "web_search", "web_fetch"})
_SINCE = """SELECT type, session, tool, path FROM events WHERE seq > (SELECT seq FROM events WHERE id = ?)
    AND type IN (?, ?, ?) AND coalesce(outcome, '') <> 'deny' AND id <> ? AND coalesce(received, time) <= ?"""
Stamp = tuple[int, int, int] | None  # of a file, None where there is none


class Guarded(Struct, frozen=True, kw_only=True):
    """A file that must not change: whose call was refused, and how the file was."""

    event: Event
    path: str
    was: Stamp
    since: float
    index: int


class RefusedFiles:
    """What is looked at within the minute after a refusal."""

    def __init__(self, loop: Loop, keeper: Keeper, journal: Journal) -> None:
        """Nothing was refused yet."""
        self._loop, self._keeper, self._journal = loop, keeper, journal
        self._guarded: dict[tuple[str, str], Guarded] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether a minute is not over yet."""
        return bool(self._guarded)

    def noticed(self, record: Record) -> None:
        """A call was decided, as it came; the agent is told now."""
        event = record.event
        if event.type not in _REFUSABLE or not is_refused(record) or len(self._guarded) >= _MOST:
            return
        if not settings.records():
            return
        for index, path in enumerate(paths(event)[:_OF_ONE]):
            key = (event.id, path)
            if not isabs(path) or key in self._guarded:  # noqa: PTH117
                continue
            try:
                one = Guarded(event=event, path=path, was=stamp(path), since=monotonic(), index=index)
            except (OSError, ValueError):
                continue  # nobody can see it from here
            self._guarded[key] = one
            self._loop.at(one.since + _LOOKS[0], lambda key=key: self._look(key, 0))  # type: ignore[misc]

    def _look(self, key: tuple[str, str], number: int) -> None:
        one = self._guarded[key]
        try:
            now = stamp(one.path)
        except (OSError, ValueError):
            now = one.was
        if now != one.was:
            at = times.from_seconds(_changed(one.path)) or times.now()
            self._loop.at(monotonic() + _SETTLE, lambda: self._judge(key, at, is_there=now is not None))
        elif number + 1 < len(_LOOKS):
            self._loop.at(one.since + _LOOKS[number + 1], lambda: self._look(key, number + 1))
        else:
            del self._guarded[key]

    def _judge(self, key: tuple[str, str], at: str, *, is_there: bool) -> None:
        one = self._guarded[key]
        kind = "file_deleted" if not is_there else "file_created" if one.was is None else "file_saved"

        def work(recorder: Recorder) -> None:
            if not _explained(recorder, one, at):
                self._tell(one, kind, at)

        if self._keeper.ask(work) or monotonic() - one.since > _PATIENCE:
            del self._guarded[key]
        else:  # somebody else holds the store
            self._loop.at(monotonic() + _SETTLE, lambda: self._judge(key, at, is_there=is_there))

    def _tell(self, one: Guarded, kind: str, at: str) -> None:
        """What we have seen is an event like any other; what follows from it is for others to say."""
        event = one.event
        seen = Event(
            id=ids.derive(event.id, kind, str(one.index)),
            schema=SCHEMA,
            type=kind,
            agent=event.agent,
            agent_version=event.agent_version,
            session=event.session,
            time=at,
            time_source="received",
            received=times.now(),
            cwd=event.cwd,
            actor=Actor(type="system"),
            data={"path": one.path, "watched": True},
            origin=Origin(via=["hookonce"]),
        )
        self._journal.append(stored(Record(event=seen)))


def stamp(path: str) -> Stamp:
    """How a file is known again."""
    try:
        known = os.stat(path)  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return None
    return known.st_mtime_ns, known.st_size, known.st_ino


def _changed(path: str) -> float:
    """When it was changed, of which nobody can tell another time; of a file that is gone, now."""
    try:
        return min(os.stat(path).st_ctime, time())  # noqa: PTH116
    except OSError:
        return time()


def _explained(recorder: Recorder, one: Guarded, at: str) -> bool:
    return _may_have_written(recorder.writer.connection, one, at) or _still_ran(recorder, one)


def _may_have_written(connection: Connection, one: Guarded, at: str) -> bool:
    """Whether a call was let through meanwhile after which nothing is certain."""
    event = one.event
    until = times.from_seconds((times.seconds(at) or 0.0) + _LAG) or at
    for kind, session, tool, path in connection.execute(_SINCE, (event.id, BEGINS, *sorted(ENDS), event.id, until)):
        mine = session == event.session
        if mine and kind in ENDS and tool in WRITES:
            continue  # how some agents tell that a refused call has failed; what was let through has begun before
        if (mine and kind == BEGINS) or not _is_harmless(tool, (path,) if path else (), one.path):
            return True
    return False


def _is_harmless(tool: str | None, files: tuple[str, ...], guarded: str) -> bool:
    """Whether a tool only reads, or writes files of other names."""
    names = {basename(path) for path in files}  # noqa: PTH119
    return tool in _READS or (tool in WRITES and bool(names) and basename(guarded) not in names)  # noqa: PTH119


def _still_ran(recorder: Recorder, one: Guarded) -> bool:
    """Whether a call that was let through before had not ended."""
    mine, then = (one.event.agent, one.event.session), times.seconds(one.event.time) or 0.0
    for key, state in recorder.states.items():
        for call in (call for waiting in state.calls.open.values() for call in waiting):
            began = times.seconds(call.time) or 0.0
            if began > then or _is_harmless(call.tool, call.paths, one.path):
                continue
            if key == mine or then - began < _OLD:
                return True
    return False
