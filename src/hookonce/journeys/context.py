"""What only a stream can tell: which call an outcome belongs to, and what happened inside a sub-agent.

Some agents give their calls no id. The oldest open call of the same session with the same tool and input
is then taken for the one that ended; Gemini's sub-agents work between the beginning and the end of the
call that started them. Both are guesses and say so in `data.guessed`. Memory is bounded.
"""

from collections import OrderedDict
from hashlib import sha256
from typing import Any, TypeVar

from msgspec.structs import replace

from hookonce.agents import ENDS
from hookonce.model import Event, Subagent
from hookonce.texts import dump

_LIMIT = 1024
Key = TypeVar("Key")


class Context:
    """The open calls, the working sub-agents and the begun sessions of one stream."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[object, ...], list[str]] = OrderedDict()
        self._working: OrderedDict[str, list[str]] = OrderedDict()
        self._begun: OrderedDict[tuple[str, str], None] = OrderedDict()

    def completed(self, event: Event) -> Event:
        """The event with what the stream before it tells."""
        if event.type == "session_start":
            return self._start(event)
        if event.tool is None or event.tool.call_id is not None or event.session is None:
            return event
        if event.type == "before_tool_execute":
            return self._before(self._inside(event))
        return self._after(event) if event.type in ENDS else event

    def _start(self, event: Event) -> Event:
        """A session that begins again without a reason has not begun: some agents say so at each turn."""
        key = (event.agent, event.session or "")
        if "source" in event.data or not event.session:
            return event
        if key in self._begun:
            return replace(event, data=event.data | {"repeat": True})
        self._begun[key] = None
        _bound(self._begun)
        return event

    def _before(self, event: Event) -> Event:
        self._open.setdefault(_key(event), []).append(event.id)
        _bound(self._open)
        if event.agent == "gemini-cli" and event.tool is not None and event.tool.name == "agent":
            self._working.setdefault(event.session or "", []).append(
                str(event.tool.input.get("type") or event.tool.native)
            )
            _bound(self._working)
        return event

    def _after(self, event: Event) -> Event:
        if event.agent == "gemini-cli" and event.tool is not None and event.tool.name == "agent":
            _pop(self._working, event.session or "")
        inside = self._inside(event)
        cause = _pop(self._open, _key(inside))
        return inside if cause is None else _guess(replace(inside, caused_by=cause), "caused_by")

    def _inside(self, event: Event) -> Event:
        working = self._working.get(event.session or "")
        if not working or event.subagent is not None:
            return event
        return _guess(replace(event, subagent=Subagent(type=working[-1])), "subagent")


def _key(event: Event) -> tuple[object, ...]:
    tool, sub = event.tool, event.subagent
    given = sha256(dump(tool.input)).digest() if tool is not None else b""
    return event.agent, event.session, sub and (sub.id, sub.type), tool and tool.name, given


def _guess(event: Event, field: str) -> Event:
    return replace(event, data=event.data | {"guessed": [*event.data.get("guessed", []), field]})


def _pop(table: OrderedDict[Key, list[str]], key: Key) -> str | None:
    waiting = table.get(key)
    if not waiting:
        return None
    first = waiting.pop(0)
    if not waiting:
        del table[key]
    return first


def _bound(table: OrderedDict[Key, Any]) -> None:
    while len(table) > _LIMIT:
        table.popitem(last=False)
