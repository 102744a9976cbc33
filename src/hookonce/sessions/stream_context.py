"""Stream context: links outcomes to calls and tool calls to sub-agents where payloads have no ids.

The oldest open call of the same session with the same tool and input is taken for the one that ended; Gemini's
sub-agents work between the beginning and the end of the call that started them. OpenCode's have sessions of their
own, and only the beginning of one names its parent: what such a session ends is the sub-agent. All of this says in
`data.guessed` that no payload told it. Memory is bounded.
"""

from collections import OrderedDict

from msgspec.structs import replace

from hookonce.model import Event, Subagent
from hookonce.sessions.derive import calls
from hookonce.sessions.derive.calls import ActiveSubagents, Item, Key, mark_guess
from hookonce.vocabulary.events import TOOL_END_EVENTS

_MAX_ENTRIES = 1024
_SEPARATE_SESSION_AGENTS = frozenset({"opencode"})  # whose sub-agents have sessions of their own


class StreamContext:
    """Open calls, working sub-agents and started sessions of one stream."""

    def __init__(self) -> None:
        self._open_calls: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._working_subagents: OrderedDict[str, ActiveSubagents] = OrderedDict()
        self._started_sessions: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._parent_sessions: OrderedDict[tuple[str, str], str] = OrderedDict()

    def complete(self, event: Event) -> Event:
        """The event with what the stream before it tells."""
        if event.type == "session_start":
            return self._mark_repeat(event)
        if event.session is None:
            return event
        if event.agent in _SEPARATE_SESSION_AGENTS and event.type in {"subagent_start", "agent_stop"}:
            return self._resolve_child_session(event, (event.agent, event.session))
        if event.tool is None or event.tool.call_id is not None:
            return event
        if event.type == "before_tool_execute":
            return self._remember_call(self._locate_subagent(event))
        return self._link_outcome(self._locate_subagent(event)) if event.type in TOOL_END_EVENTS else event

    def _mark_repeat(self, event: Event) -> Event:
        """Mark a repeated session start: some agents send one at each turn, without a reason."""
        key = (event.agent, event.session or "")
        if "source" in event.data or not event.session:
            return event
        if key in self._started_sessions:
            return replace(event, data=event.data | {"repeat": True})
        _remember(self._started_sessions, key, None)
        return event

    def _resolve_child_session(self, event: Event, key: tuple[str, str]) -> Event:
        """What ends in a session that began as a sub-agent's is that sub-agent, not its parent's turn."""
        if event.type == "subagent_start":
            if event.parent_session is not None:
                _remember(self._parent_sessions, key, event.parent_session)
            return event
        parent = self._parent_sessions.get(key)
        if parent is None or event.parent_session is not None:
            return event
        inner = Subagent(id=event.session, parent=parent)
        return mark_guess(replace(event, type="subagent_stop", parent_session=parent, subagent=inner), "type")

    def _remember_call(self, event: Event) -> Event:
        signature = calls.call_signature(event)
        open_ids = self._open_calls.get(signature, ())
        _remember(self._open_calls, signature, (*open_ids, event.id)[-_MAX_ENTRIES:])
        return event

    def _link_outcome(self, event: Event) -> Event:
        signature = calls.call_signature(event)
        cause, *open_ids = self._open_calls.get(signature, (None,))
        if cause is None:
            return event
        if open_ids:
            self._open_calls[signature] = tuple(open_ids)
        else:
            del self._open_calls[signature]
        return mark_guess(replace(event, caused_by=cause), "caused_by")

    def _locate_subagent(self, event: Event) -> Event:
        session = event.session or ""
        event, working = calls.assign_subagent(self._working_subagents.get(session, ()), event)
        if working:
            _remember(self._working_subagents, session, working)
        else:
            self._working_subagents.pop(session, None)
        return event


def _remember(table: OrderedDict[Key, Item], key: Key, value: Item) -> None:
    table[key] = value
    if len(table) > _MAX_ENTRIES:
        table.popitem(last=False)
