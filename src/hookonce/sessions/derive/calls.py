"""Open tool calls: pairing of outcomes with calls, refused calls, and attribution of calls to sub-agents.

A pair is known by the call's id. Without one it is the oldest open call of the same session, sub-agent, tool and
input, marked as a guess. A refused call is kept apart: its outcome is not expected. So is one whose end was reported
without a result: a session file may tell it later. Tables are values of bounded length: if writing the derived
records fails, the state before it is still there.
"""

from collections.abc import Callable
from hashlib import sha256
from itertools import chain
from posixpath import join
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base.jsontext import dump
from hookonce.base.times import to_seconds
from hookonce.model import Event, Object, Record, Subagent, Tool
from hookonce.vocabulary.call_fingerprint import fingerprint_call
from hookonce.vocabulary.events import FILE_OPERATIONS, TOOL_END_EVENTS
from hookonce.vocabulary.file_writes import list_written_files
from hookonce.vocabulary.tools import WRITE_TOOLS
from hookonce.vocabulary.usage_sources import is_from_transcript

Item = TypeVar("Item")
Key = TypeVar("Key")
BoundedTable = dict[Key, tuple[Item, ...]]


def call_signature(event: Event) -> str:
    """Hash of session, sub-agent, tool and input: pairs calls that have no id."""
    tool, sub = event.tool, event.subagent
    tool_parts = [tool and tool.name, tool and tool.input]
    identity = dump([event.agent, event.session, sub and [sub.id, sub.type], *tool_parts])
    return sha256(identity).hexdigest()[:32]


def append_bounded(table: BoundedTable[Key, Item], key: Key, item: Item, limit: int) -> BoundedTable[Key, Item]:
    """The table with an item appended to its key's list; the oldest items and keys are evicted."""
    new_table = {**table, key: (*table.get(key, ()), item)[-limit:]}
    while len(new_table) > limit:
        del new_table[next(iter(new_table))]
    return new_table


def pop_oldest(table: BoundedTable[Key, Item], key: Key) -> tuple[Item | None, BoundedTable[Key, Item]]:
    """The oldest item of a key, and the table without it."""
    items = table.get(key, ())
    others = {name: rest for name, rest in table.items() if name != key or len(items) > 1}
    return (items[0], others | {key: items[1:]} if len(items) > 1 else others) if items else (None, others)


def filter_items(table: BoundedTable[Key, Item], is_wanted: Callable[[Item], bool]) -> BoundedTable[Key, Item]:
    """The table with only the wanted items."""
    rows = ((key, tuple(filter(is_wanted, items))) for key, items in table.items())
    return {key: items for key, items in rows if items}


ActiveSubagents = tuple[str, ...]  # the types of the sub-agents that are at work
_SILENT_AGENTS = frozenset({"gemini-cli"})


def assign_subagent(active_subagents: ActiveSubagents, event: Event) -> tuple[Event, ActiveSubagents]:
    """The event with the sub-agent that it probably belongs to (Gemini's do not say), and the active ones after it."""
    if event.agent not in _SILENT_AGENTS or event.tool is None:
        return event, () if event.type == "before_prompt" else active_subagents
    starts_subagent = event.tool.name == "agent"
    if event.type in TOOL_END_EVENTS and starts_subagent:
        active_subagents = active_subagents[1:]
    attributed_event = event
    if active_subagents and event.subagent is None:
        attributed_event = mark_guess(replace(event, subagent=Subagent(type=active_subagents[-1])), "subagent")
    if event.type == "before_tool_execute" and starts_subagent:
        active_subagents = (*active_subagents, str(event.tool.input.get("type") or event.tool.native))
    return attributed_event, active_subagents


def mark_guess(event: Event, field: str) -> Event:
    """The event with a field listed in `data.guessed`."""
    return replace(event, data=event.data | {"guessed": [*event.data.get("guessed", []), field]})


CALL_START = "before_tool_execute"
SESSION_ENDS = frozenset({"session_end", "session_abort"})
FILE_CHANGE_EVENTS = frozenset({"file_changed", *(kind for kind, _, _ in FILE_OPERATIONS)})
_MAX_OPEN_CALLS = 64  # as many refused ones are kept


class OpenCall(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call that has started, or was refused."""

    id: str
    time: str
    key: str
    tool: str
    native: str = ""
    input_fingerprint: int
    call_id: str | None = None
    model_call_id: str | None = None  # the model's own id, where session files have that
    subagent: str | None = None
    paths: tuple[str, ...] = ()
    files: tuple[Object, ...] = ()  # that it writes, as far as its input says
    hook_ms: int | float = 0  # for which hooks held it up
    is_refused: bool = False
    is_ask: bool = False


CallTable = dict[str, tuple[OpenCall, ...]]


class CallChange(Struct, frozen=True, kw_only=True):
    """What one record does to the open calls: it starts one, ends one (perhaps), or shows that some will never end."""

    new_call: OpenCall | None = None
    ended_call: OpenCall | None = None
    is_guess: bool = False
    lost_calls: tuple[OpenCall, ...] = ()


class OpenCalls(Struct, frozen=True, kw_only=True):
    """The open and the refused calls of a session, and those that ended with an unknown result.

    `file_ends` are ids of calls whose end a session file told first.
    """

    open: CallTable = {}
    refused_calls: CallTable = {}
    unknown_calls: CallTable = {}
    file_ends: tuple[str, ...] = ()


def update_calls(calls: OpenCalls, record: Record) -> tuple[OpenCalls, CallChange]:
    """The open calls after a record, and what has changed."""
    event = record.event
    if event.type in SESSION_ENDS:
        remaining = OpenCalls(unknown_calls=calls.unknown_calls, file_ends=calls.file_ends)
        return remaining, CallChange(lost_calls=_all_calls(calls.open))
    if event.type == "before_prompt":
        return _drop_on_prompt(calls, event)
    if event.type in FILE_CHANGE_EVENTS:
        return replace(calls, refused_calls=_remove_paths(calls.refused_calls, file_paths(event))), CallChange()
    return _update_for_tool(calls, record) if event.tool is not None else (calls, CallChange())


def _update_for_tool(calls: OpenCalls, record: Record) -> tuple[OpenCalls, CallChange]:
    event = record.event
    if event.type == CALL_START:
        return _start_call(calls, build_open_call(record))
    if event.type in TOOL_END_EVENTS:
        return _end_call(calls, event)
    if event.type == "permission_denied" or (event.type == "permission_request" and is_refused(record)):
        return _refuse_open_call(calls, event)
    return calls, CallChange()


def is_refused(record: Record) -> bool:
    """Whether the decision is a denial."""
    decision = record.decision
    return decision is not None and (decision.outcome == "deny" or decision.proceed is False)


def subagent_name(event: Event) -> str | None:
    """Name of the event's sub-agent; None for the main agent."""
    return None if event.subagent is None else event.subagent.id or event.subagent.type or ""


def model_call_id(event: Event) -> str | None:
    """The model's own id of a tool call, where the agent tells it beside another one."""
    call_id = event.data.get("model_call_id")
    return call_id if type(call_id) is str else None


def build_open_call(record: Record) -> OpenCall:
    """The call that a record starts, with the input as rewritten by hooks."""
    event, decision = record.event, record.decision
    tool = event.tool
    if tool is None:
        raise ValueError(f"{event.type} {event.id} is about no tool")
    if decision is not None and decision.updated_input is not None:
        event = replace(event, tool=replace(tool, input=decision.updated_input))
    return OpenCall(
        id=event.id,
        time=event.time,
        key=call_signature(event),
        tool=tool.name,
        native=tool.native,
        input_fingerprint=fingerprint_call(record.event) or 0,
        call_id=tool.call_id,
        model_call_id=model_call_id(event),
        subagent=subagent_name(event),
        paths=file_paths(event),
        files=_written_files(event, tool),
        hook_ms=sum(run.duration_ms or 0 for run in record.runs),
        is_refused=is_refused(record),
        is_ask=decision is not None and decision.outcome == "ask",
    )


def _written_files(event: Event, tool: Tool) -> tuple[Object, ...]:
    files = event.data.get("files")
    if type(files) is list and files:
        return tuple(file for file in files if type(file) is dict)
    return tuple(list_written_files(tool)) if tool.name in WRITE_TOOLS else ()


def file_paths(event: Event) -> tuple[str, ...]:
    """Absolute paths that a call would write or that an event reports as changed."""
    tool = event.tool
    if tool is not None and tool.name not in WRITE_TOOLS:
        return ()
    arguments = event.data if tool is None else tool.input
    files = arguments.get("files")
    listed_paths = [file.get("path") for file in files if type(file) is dict] if type(files) is list else []
    paths = [path for path in (arguments.get("path"), *listed_paths) if type(path) is str]
    return tuple(dict.fromkeys(join(event.cwd or "", path) for path in paths))


def _start_call(calls: OpenCalls, call: OpenCall) -> tuple[OpenCalls, CallChange]:
    name = _call_key(call.call_id, call.key)
    if call.is_refused:
        refusals = append_bounded(calls.refused_calls, name, call, _MAX_OPEN_CALLS)
        return replace(calls, refused_calls=refusals), CallChange(new_call=call)
    # An equal call is allowed now: neither its outcome nor its files violate the refusal before it.
    refusals = filter_items(calls.refused_calls, lambda other: other.key != call.key or other.call_id is not None)
    table = append_bounded(calls.open, name, call, _MAX_OPEN_CALLS)
    change = CallChange(new_call=call, lost_calls=_find_evicted(calls.open, table))
    return replace(calls, open=table, refused_calls=_remove_paths(refusals, call.paths)), change


def _remove_paths(table: CallTable, files: tuple[str, ...]) -> CallTable:
    """Refused calls without files that may change from now on, or have."""
    if not files or not table:
        return table

    def without_files(call: OpenCall) -> OpenCall:
        return replace(call, paths=tuple(path for path in call.paths if path not in files))

    return {name: tuple(map(without_files, calls)) for name, calls in table.items()}


def _find_evicted(before: CallTable, after: CallTable) -> tuple[OpenCall, ...]:
    """Calls that were evicted from a full table: their end will not be reported."""
    if len(before) < _MAX_OPEN_CALLS and all(len(items) < _MAX_OPEN_CALLS for items in before.values()):
        return ()
    return tuple(call for name, items in before.items() for call in items if call not in after.get(name, ()))


def _end_call(calls: OpenCalls, event: Event) -> tuple[OpenCalls, CallChange]:
    call_id = event.tool.call_id if event.tool is not None else None
    name = _call_key(call_id, call_signature(event))
    for table_name in ("open", "refused_calls", "unknown_calls"):
        table: CallTable = getattr(calls, table_name)
        call, remaining = pop_oldest(table, _cause_name(table, event) or name)
        if call is not None:
            calls = _note_end(replace(calls, **{table_name: remaining}), event, call)
            return calls, CallChange(ended_call=call, is_guess=call_id is None)
    return calls, CallChange()


def _note_end(calls: OpenCalls, event: Event, call: OpenCall) -> OpenCalls:
    """The calls with what another source may still say of the one that has ended."""
    if call.call_id is None:
        return calls
    if is_from_transcript(event):
        return replace(calls, file_ends=(*calls.file_ends, call.call_id)[-_MAX_OPEN_CALLS:])
    if has_result(event) or call.is_refused:
        return calls
    name, call = (
        _call_key(call.call_id, call.key),
        replace(call, is_ask=False),
    )  # what follows from its end has followed
    return replace(calls, unknown_calls=append_bounded(calls.unknown_calls, name, call, _MAX_OPEN_CALLS))


def _cause_name(table: CallTable, event: Event) -> str | None:
    """The key of the call that an event from a session file names as its cause: such a file tells no input."""
    if not is_from_transcript(event):
        return None
    return next((name for name, items in table.items() if event.caused_by == items[0].id), None)


def has_result(event: Event) -> bool:
    """Whether the end of a call says if it succeeded."""
    return event.tool is not None and event.tool.result is not None and event.tool.result.ok is not None


def find_call(calls: OpenCalls, call_id: str | None, native: str | None, time: str | None) -> OpenCall | None:
    """The call that a session file tells the outcome of; without its id the last one of that tool by then.

    The ends of calls before it may be on their way.
    """
    name = f"call {call_id}"
    tables = (calls.open, calls.unknown_calls, calls.refused_calls)
    if (call := next((table[name][0] for table in tables if name in table), None)) is not None:
        return call
    other_ids = (call for table in tables for call in _all_calls(table) if call_id and call.model_call_id == call_id)
    if (call := next(other_ids, None)) is not None or native is None:
        return call
    end = to_seconds(time or "") or 0
    calls_before = (call for call in reversed(_all_calls(calls.open)) if (to_seconds(call.time) or 0) <= end)
    return next((call for call in calls_before if call.call_id is None and call.native == native), None)


def _refuse_open_call(calls: OpenCalls, event: Event) -> tuple[OpenCalls, CallChange]:
    key = call_signature(event)
    call_id = event.tool.call_id if event.tool is not None else None
    matching_names = (name for name, items in calls.open.items() if items[0].key == key)
    own_name = _call_key(call_id, key)
    name = own_name if own_name in calls.open else _cause_name(calls.open, event) or next(matching_names, "")
    call, remaining = pop_oldest(calls.open, name)
    if call is None:
        return calls, CallChange()
    call = replace(call, is_refused=True)
    refusals = append_bounded(calls.refused_calls, name, call, _MAX_OPEN_CALLS)
    return replace(calls, open=remaining, refused_calls=refusals), CallChange(lost_calls=(call,))


def _drop_on_prompt(calls: OpenCalls, event: Event) -> tuple[OpenCalls, CallChange]:
    """A new prompt ends all calls of its agent: after a person's no there often is no other event."""
    subagent = subagent_name(event)
    lost_calls = tuple(call for call in _all_calls(calls.open) if call.subagent == subagent)
    remaining = filter_items(calls.open, lambda call: call.subagent != subagent)
    return replace(calls, open=remaining), CallChange(lost_calls=lost_calls)


def _all_calls(table: CallTable) -> tuple[OpenCall, ...]:
    return tuple(sorted(chain.from_iterable(table.values()), key=lambda call: (call.time, call.id)))


def _call_key(call_id: str | None, key: str) -> str:
    return key if call_id is None else f"call {call_id}"
