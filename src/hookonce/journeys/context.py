"""What only a stream can tell: which call an outcome belongs to, and what happened inside a sub-agent.

Some agents give their calls no id. The oldest open call of the same session with the same tool and input
is then taken for the one that ended; Gemini's sub-agents work between the beginning and the end of the
call that started them. OpenCode's have sessions of their own, and only the beginning of one names its parent: what
such a session ends is the sub-agent. All of this says in `data.guessed` that no payload told it. Memory is bounded.
"""

from collections import OrderedDict

from msgspec.structs import replace

from hookonce.agents import ENDS
from hookonce.derive.inside import Working, guess, inside
from hookonce.derive.waiting import key_of, put, take
from hookonce.model import Event, Subagent

_LIMIT = 1024
_APART = frozenset({"opencode"})  # whose sub-agents have sessions of their own


class Context:
    """The open calls, the working sub-agents and the begun sessions of one stream."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[str, ...]] = {}
        self._working: OrderedDict[str, Working] = OrderedDict()
        self._begun: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._parents: OrderedDict[tuple[str, str], str] = OrderedDict()

    def completed(self, event: Event) -> Event:
        """The event with what the stream before it tells."""
        if event.type == "session_start":
            return self._start(event)
        if event.agent in _APART and event.type in {"subagent_start", "agent_stop"} and event.session is not None:
            return self._child(event, (event.agent, event.session))
        if event.tool is None or event.tool.call_id is not None or event.session is None:
            return event
        if event.type == "before_tool_execute":
            return self._before(self._inside(event))
        return self._after(self._inside(event)) if event.type in ENDS else event

    def _start(self, event: Event) -> Event:
        """A session that begins again without a reason has not begun: some agents say so at each turn."""
        key = (event.agent, event.session or "")
        if "source" in event.data or not event.session:
            return event
        if key in self._begun:
            return replace(event, data=event.data | {"repeat": True})
        self._begun[key] = None
        if len(self._begun) > _LIMIT:
            self._begun.popitem(last=False)
        return event

    def _child(self, event: Event, key: tuple[str, str]) -> Event:
        """What a session ends that has begun as a sub-agent's is that sub-agent, not its parent's turn."""
        if event.type == "subagent_start":
            if event.parent_session is not None:
                self._parents[key] = event.parent_session
                if len(self._parents) > _LIMIT:
                    self._parents.popitem(last=False)
            return event
        parent = self._parents.get(key)
        if parent is None or event.parent_session is not None:
            return event
        inner = Subagent(id=event.session, parent=parent)
        return guess(replace(event, type="subagent_stop", parent_session=parent, subagent=inner), "type")

    def _before(self, event: Event) -> Event:
        self._open = put(self._open, key_of(event), event.id, _LIMIT)
        return event

    def _after(self, event: Event) -> Event:
        cause, self._open = take(self._open, key_of(event))
        return event if cause is None else guess(replace(event, caused_by=cause), "caused_by")

    def _inside(self, event: Event) -> Event:
        session = event.session or ""
        event, working = inside(self._working.get(session, ()), event)
        if working:
            self._working[session] = working
        else:
            self._working.pop(session, None)
        if len(self._working) > _LIMIT:
            self._working.popitem(last=False)
        return event
