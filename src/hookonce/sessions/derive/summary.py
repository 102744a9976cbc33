"""Session summary, small however long a session lasts: what is open, and sums; calls as they end."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base.times import elapsed_ms
from hookonce.model import Event, Record, Usage
from hookonce.sessions.derive import calls, token_usage
from hookonce.sessions.derive.calls import SESSION_ENDS, CallChange, OpenCall, OpenCalls, subagent_name
from hookonce.sessions.derive.token_usage import Spending, total_usage
from hookonce.sessions.derive.turns import BEGIN_EVENTS
from hookonce.vocabulary.events import TOOL_END_EVENTS, is_derived, is_redundant
from hookonce.vocabulary.file_writes import build_file_events, count_lines

MAX_FILES = 4096  # files of one session; the rest is only counted


class FileStats(Struct, frozen=True, kw_only=True):
    """How often a file was written, and lines added and removed as far as calls report them."""

    writes: int = 0
    added: int = 0
    removed: int = 0


def update_files(files: dict[str, FileStats], event: Event) -> dict[str, FileStats]:
    """The files after an event: those that a finished call has written, or that a watcher has seen change."""
    changes = list_file_changes(event)
    for change in changes:
        path = change.data.get("path")
        if type(path) is str and (path in files or len(files) < MAX_FILES):
            old = files.get(path, FileStats())
            files = files | {path: count_write(old, event, change, is_only_file=len(changes) == 1)}
    return files


def list_file_changes(event: Event) -> list[Event]:
    """One event per file that an event says was changed."""
    return [event] if event.type in calls.FILE_CHANGE_EVENTS else build_file_events(event)


def count_write(file: FileStats, event: Event, change: Event, *, is_only_file: bool) -> FileStats:
    """An edit replaces one text by another; of other writes only what was written is known."""
    first, last = change.data.get("start_line"), change.data.get("end_line")
    added_lines = last - first + 1 if type(first) is int and type(last) is int and last >= first else 0
    removed_lines = 0
    if is_only_file and event.tool is not None and {"old_text", "new_text"} & event.tool.input.keys():
        added_lines, removed_lines = (count_lines(event.tool.input.get(name)) for name in ("new_text", "old_text"))
    return FileStats(writes=file.writes + 1, added=file.added + added_lines, removed=file.removed + removed_lines)


class SessionCall(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tool call; without `end` its outcome was not reported."""

    id: str
    end: str | None = None
    tool: str
    subagent: str | None = None
    started: str
    duration_ms: int | float | None = None
    ok: bool | None = None
    refused: bool = False
    guessed: bool = False


class SubagentActivity(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sub-agent; without `parent` it belongs to the main agent."""

    type: str | None = None
    parent: str | None = None
    session: str | None = None
    started: str
    ended: str | None = None
    calls: int = 0


class SessionEnd(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a session ended; `is_derived` if its agent did not report it."""

    type: str
    reason: str | None = None
    is_derived: bool = False


class SessionAggregate(Struct, frozen=True, kw_only=True):
    """Aggregate of one session of one agent."""

    agent: str = ""
    session: str | None = None
    cwd: str | None = None
    started_at: str | None = None
    last: str | None = None
    end: SessionEnd | None = None
    turns: int = 0
    calls: int = 0
    failed_calls: int = 0
    open_calls: OpenCalls = OpenCalls()
    children: dict[str, SubagentActivity] = {}
    files: dict[str, FileStats] = {}
    models: dict[str, None] = {}  # in the order in which they were named
    spending: Spending = Spending()

    @property
    def usage(self) -> Usage | None:
        """Token usage as far as reported."""
        return total_usage(self.spending)


def update_session(session: SessionAggregate, record: Record) -> tuple[SessionAggregate, list[SessionCall]]:
    """The session after a record, and the calls that it ends; a refused call that ran comes twice."""
    event = record.event
    if is_redundant(event) and not (is_derived(event) and event.type in SESSION_ENDS):
        return session, []
    open_calls, change = calls.update_calls(session.open_calls, record)
    finished_calls = list_finished(event, change)
    is_call = change.new_call is not None or is_orphan_outcome(event, change)
    session = replace(
        session,
        agent=session.agent or event.agent,
        session=session.session or event.session,
        cwd=session.cwd or event.cwd,
        started_at=session.started_at or event.time,
        last=event.time,
        end=_find_end(session, event),
        turns=session.turns + (event.type == "before_prompt" and event.subagent is None),
        calls=session.calls + is_call,
        failed_calls=session.failed_calls + sum(call.ok is False and not call.refused for call in finished_calls),
        open_calls=open_calls,
        children=_update_children(session, event),
        files=update_files(session.files, event),
        models=session.models if event.model is None else session.models | {event.model: None},
        spending=session.spending if is_derived(event) else token_usage.update_spending(session.spending, event),
    )
    return session, finished_calls


def summarize_session(records: Iterable[Record]) -> tuple[SessionAggregate, list[SessionCall]]:
    """Summarize all records of a session; its calls, of which some may be open."""
    session, items = SessionAggregate(), list[SessionCall]()
    for record in records:
        session, finished_calls = update_session(session, record)
        items += finished_calls
    items += [_unfinished_call(call) for calls in session.open_calls.open.values() for call in calls]
    return session, sorted({call.id: call for call in items}.values(), key=lambda call: (call.started, call.id))


def _find_end(session: SessionAggregate, event: Event) -> SessionEnd | None:
    """Work after an end cancels it; a reported end wins over a derived one."""
    if event.type not in SESSION_ENDS:
        return None if event.type in BEGIN_EVENTS or event.type == "session_start" else session.end
    if session.end is not None and (is_derived(event) or not session.end.is_derived):
        return session.end
    reason = event.data.get("reason") if type(event.data.get("reason")) is str else None
    return SessionEnd(type=event.type, reason=reason, is_derived=is_derived(event))


def _update_children(session: SessionAggregate, event: Event) -> dict[str, SubagentActivity]:
    name = subagent_name(event)
    if name is None or event.subagent is None:
        return session.children
    previous = session.children.get(name) or SubagentActivity(started=event.time)
    child_session = event.data.get("child_session")
    child = replace(
        previous,
        type=previous.type or event.subagent.type,
        parent=previous.parent or event.subagent.parent,
        session=previous.session or (child_session if type(child_session) is str else None),
        ended=event.time if event.type == "subagent_stop" else None,
        calls=previous.calls + (event.type == calls.CALL_START),
    )
    return session.children | {name: child}


def list_finished(event: Event, change: CallChange) -> list[SessionCall]:
    """The calls that an event ends, or shows to be lost or refused."""
    finished_calls = [_unfinished_call(call) for call in change.lost_calls]
    if change.new_call is not None and change.new_call.is_refused:
        finished_calls.append(_unfinished_call(change.new_call))
    if change.ended_call is not None:
        finished_calls.append(_finished_call(change.ended_call, event, is_guess=change.is_guess))
    elif is_orphan_outcome(event, change):
        finished_calls.append(_finished_call(calls.build_open_call(Record(event=event)), event, is_guess=False))
    return finished_calls


def is_orphan_outcome(event: Event, change: CallChange) -> bool:
    """Whether an outcome is all that was ever told of its call."""
    return event.type in TOOL_END_EVENTS and event.tool is not None and change.ended_call is None


def _unfinished_call(call: OpenCall) -> SessionCall:
    return SessionCall(id=call.id, tool=call.tool, subagent=call.subagent, started=call.time, refused=call.is_refused)


def _elapsed_without_hooks(call: OpenCall, event: Event) -> int | float | None:
    duration_ms = elapsed_ms(call.time, event.time)
    return None if duration_ms is None else max(round(duration_ms - call.hook_ms), 0)


def _finished_call(call: OpenCall, event: Event, *, is_guess: bool) -> SessionCall:
    result = event.tool.result if event.tool is not None else None
    duration_ms = None if result is None else result.duration_ms
    return replace(
        _unfinished_call(call),
        end=event.id,
        duration_ms=_elapsed_without_hooks(call, event) if duration_ms is None else duration_ms,
        ok=None if result is None else result.ok,
        guessed=is_guess,
    )
