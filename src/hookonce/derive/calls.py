"""Open calls: which outcome belongs to which call, and which outcome should never have come.

A pair is known by the call's id. Without one it is the oldest open call of the same session, sub-agent, tool and
input, and says that it is a guess. A call that was refused waits apart: its outcome is not expected.
"""

from collections.abc import Iterable
from posixpath import join

from msgspec import Struct
from msgspec.structs import replace

from hookonce.agents import ENDS
from hookonce.canon.events import FILE_FATES
from hookonce.canon.tools import WRITES
from hookonce.derive.waiting import kept, key_of, put, take
from hookonce.guard.likeness import mark
from hookonce.model import Event, Record

BEGINS = "before_tool_execute"
OVER = frozenset({"session_end", "session_abort"})
CHANGED = frozenset({"file_changed", *(kind for kind, _, _ in FILE_FATES)})
_MOST = 64  # that are open, or refused, at a time


class Opened(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call that has begun, or would have if it had not been refused."""

    id: str
    time: str
    key: str
    tool: str
    given: int
    call_id: str | None = None
    who: str | None = None
    paths: tuple[str, ...] = ()
    refused: bool = False
    asked: bool = False


class Ended(Struct, frozen=True, kw_only=True):
    """An outcome and the call that it belongs to."""

    call: Opened
    guessed: bool = False


class Change(Struct, frozen=True, kw_only=True):
    """What one record does to the open calls: it begins one, ends one, or shows that some will never end."""

    opened: Opened | None = None
    ended: Ended | None = None
    lost: tuple[Opened, ...] = ()


class Calls(Struct, frozen=True, kw_only=True):
    """The open calls of a session, and those that were refused."""

    open: dict[str, tuple[Opened, ...]] = {}
    refused: dict[str, tuple[Opened, ...]] = {}


def step(calls: Calls, record: Record) -> tuple[Calls, Change]:
    """The calls after a record."""
    event = record.event
    if event.type in OVER:
        return Calls(), Change(lost=_all(calls.open))
    if event.type == "before_prompt":
        return _prompted(calls, event)
    if event.type in CHANGED:
        return replace(calls, refused=_cleared(calls.refused, paths(event))), Change()
    return _called(calls, record) if event.tool is not None else (calls, Change())


def _called(calls: Calls, record: Record) -> tuple[Calls, Change]:
    event = record.event
    if event.type == BEGINS:
        return _begun(calls, opened(record))
    if event.type in ENDS:
        return _ended(calls, event)
    if event.type == "permission_request" and is_refused(record):
        return _withdrawn(calls, event)
    return calls, Change()


def is_refused(record: Record) -> bool:
    """Whether the agent was told not to do it."""
    decision = record.decision
    return decision is not None and (decision.outcome == "deny" or decision.proceed is False)


def who(event: Event) -> str | None:
    """Which sub-agent it is, if it is one."""
    return None if event.subagent is None else event.subagent.id or event.subagent.type or ""


def opened(record: Record) -> Opened:
    """The call that a record begins, with the input that the agent was given back."""
    event, decision = record.event, record.decision
    tool = event.tool
    if tool is None:
        raise ValueError(f"{event.type} {event.id} is about no tool")
    if decision is not None and decision.updated_input is not None:
        event = replace(event, tool=replace(tool, input=decision.updated_input))
    return Opened(
        id=event.id,
        time=event.time,
        key=key_of(event),
        tool=tool.name,
        given=mark(record.event) or 0,
        call_id=tool.call_id,
        who=who(event),
        paths=paths(event),
        refused=is_refused(record),
        asked=decision is not None and decision.outcome == "ask",
    )


def paths(event: Event) -> tuple[str, ...]:
    """The files that a call would write or that an event says have changed, from the working directory."""
    tool = event.tool
    if tool is not None and tool.name not in WRITES:
        return ()
    told = event.data if tool is None else tool.input
    files = told.get("files")
    listed = [file.get("path") for file in files if type(file) is dict] if type(files) is list else []
    return tuple(
        dict.fromkeys(join(event.cwd or "", path) for path in [told.get("path"), *listed] if type(path) is str)
    )


def _begun(calls: Calls, call: Opened) -> tuple[Calls, Change]:
    name = _name(call.call_id, call.key)
    if call.refused:
        return replace(calls, refused=put(calls.refused, name, call, _MOST)), Change(opened=call)
    # once the same was allowed, its outcome says nothing about the refusal before, nor do its files
    doubtful = kept(calls.refused, lambda one: one.key != call.key or one.call_id is not None)
    table = put(calls.open, name, call, _MOST)
    return Calls(open=table, refused=_cleared(doubtful, call.paths)), Change(
        opened=call, lost=_dropped(calls.open, table)
    )


def _cleared(table: dict[str, tuple[Opened, ...]], files: tuple[str, ...]) -> dict[str, tuple[Opened, ...]]:
    """The refused calls without files that may change from now on, or have."""
    if not files or not table:
        return table
    return {
        name: tuple(replace(one, paths=_without(one.paths, files)) for one in calls) for name, calls in table.items()
    }


def _without(some: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path for path in some if path not in others)


def _dropped(before: dict[str, tuple[Opened, ...]], after: dict[str, tuple[Opened, ...]]) -> tuple[Opened, ...]:
    """Those that had to make room: nobody will be told of their end."""
    if len(before) < _MOST and all(len(items) < _MOST for items in before.values()):
        return ()
    return tuple(call for name, items in before.items() for call in items if call not in after.get(name, ()))


def _ended(calls: Calls, event: Event) -> tuple[Calls, Change]:
    call_id = event.tool.call_id if event.tool is not None else None
    name = _name(call_id, key_of(event))
    call, left = take(calls.open, name)
    if call is not None:
        return replace(calls, open=left), Change(ended=Ended(call=call, guessed=call_id is None))
    call, left = take(calls.refused, name)
    if call is not None:
        return replace(calls, refused=left), Change(ended=Ended(call=call, guessed=call_id is None))
    return calls, Change()


def _withdrawn(calls: Calls, event: Event) -> tuple[Calls, Change]:
    """A call that had begun and was refused when its agent asked whether it may."""
    key = key_of(event)
    call_id = event.tool.call_id if event.tool is not None else None
    alike = (name for name, items in calls.open.items() if items[0].key == key)
    name = next((name for name in (_name(call_id, key),) if name in calls.open), None) or next(alike, None)
    call, left = take(calls.open, name or "")
    if call is None or name is None:
        return calls, Change()
    call = replace(call, refused=True)
    return Calls(open=left, refused=put(calls.refused, name, call, _MOST)), Change(lost=(call,))


def _prompted(calls: Calls, event: Event) -> tuple[Calls, Change]:
    """Whoever is given a new prompt has no call open any more: after a person's no there often is no other word."""
    by = who(event)
    lost = tuple(call for call in _all(calls.open) if call.who == by)
    return replace(calls, open=kept(calls.open, lambda call: call.who != by)), Change(lost=lost)


def _all(table: dict[str, tuple[Opened, ...]]) -> tuple[Opened, ...]:
    every: Iterable[Opened] = (call for items in table.values() for call in items)
    return tuple(sorted(every, key=lambda call: (call.time, call.id)))


def _name(call_id: str | None, key: str) -> str:
    return key if call_id is None else f"call {call_id}"
