"""Two doors, one call: an agent that reads two configurations calls us twice, and hooks run once.

Who comes first decides. Who comes through another door waits for that decision and gives it too; who comes through
the same door once more is another call. All calls that look alike stand in one file, in the order in which they came.
"""

import os
from hashlib import sha256
from json import dumps
from pathlib import Path
from time import monotonic, sleep, time

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from hookonce.errors import HookonceError
from hookonce.model import Decision, Event, Gap, HookRun
from hookonce.runtime.folder import at, change
from hookonce.texts import dump, load

_WITHIN = 10  # seconds after a decision in which the same content may come through another door
_KNOWN = 600  # and the same call, by its id
_POLL = 0.01
_DOOR = "called_through"  # what a call's data say of its door is no part of the call


class Unanswered(HookonceError):
    """The other door has not decided in time."""


class Decided(Struct, frozen=True, kw_only=True):
    """What all hooks together say, before anybody asks what the agent can be told of it."""

    decision: Decision
    runs: list[HookRun] = []
    gaps: list[Gap] = []


class Seen(Struct, frozen=True):
    """One call: the event's id at each of its doors, who decides, and what was decided, once it is."""

    ids: dict[str, str]
    pid: int
    time: float
    decided: Decided | None = None

    @property
    def first(self) -> str:
        """The id of the event that counts."""
        return next(iter(self.ids.values()))


def key_of(event: Event) -> str:
    """What makes two calls one: agent by evidence, session, sub-agent, event, and the call id or the content."""
    what = _call_id(event) or _content(event)
    who = event.subagent.id if event.subagent is not None else None
    return sha256(dump([event.agent, event.session, who, event.type, what])).hexdigest()[:40]


def _call_id(event: Event) -> str | None:
    return event.tool.call_id if event.tool is not None else None


def _content(event: Event) -> str:
    tool = event.tool
    data = {name: value for name, value in event.data.items() if name != _DOOR}
    known = [tool.name, tool.input] if tool is not None else [event.prompt, data]
    return sha256(dumps(known, sort_keys=True).encode()).hexdigest()


def enter(event: Event, via: str, deadline: float) -> Seen:
    """The call as it is known when it is ours to decide, or once it is decided at another door.

    Whoever decides and is gone without a word is forgotten, and the next one decides.
    """
    while True:
        seen = _joined(event, via)
        if seen.first == event.id or seen.decided is not None:
            return seen
        if monotonic() > deadline:
            raise Unanswered("the same call came through another door, and was not decided there in time")
        sleep(_POLL)


def _joined(event: Event, via: str) -> Seen:
    lasts = _KNOWN if _call_id(event) else _WITHIN

    def join(data: bytes) -> bytes:
        known = [one for one in _read(data) if not _is_over(one, lasts)]
        if any(one.ids.get(via) == event.id for one in known):
            return dump(known)
        for index, one in enumerate(known):
            if via not in one.ids:
                known[index] = replace(one, ids=one.ids | {via: event.id})
                return dump(known)
        return dump([*known, Seen({via: event.id}, os.getpid(), time())])

    found = _read(change(_file(event), join))
    return next(one for one in found if one.ids.get(via) == event.id)


def _is_over(seen: Seen, lasts: float) -> bool:
    """A decision counts for a while, and without one only who is still alive."""
    if seen.decided is not None:
        return time() - seen.time > lasts
    try:
        os.kill(seen.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def decide(event: Event, decided: Decided) -> Seen | None:
    """Tell the other doors; the call with all those through which it has come so far, unless it is forgotten."""
    found = _changed(event, Seen({}, os.getpid(), time(), decided))
    return next((one for one in found if one.first == event.id), None)


def leave(event: Event) -> None:
    """Decide nothing: who waits at another door does."""
    _changed(event, None)


def _changed(event: Event, new: Seen | None) -> list[Seen]:
    """All calls that look like this one, with ours decided, or without it."""

    def renew(data: bytes) -> bytes:
        known = _read(data)
        others = [one if one.first != event.id else new and replace(new, ids=one.ids) for one in known]
        return dump([one for one in others if one is not None])

    return _read(change(_file(event), renew))


def _file(event: Event) -> Path:
    return at("doors", key_of(event))


def _read(data: bytes) -> list[Seen]:
    try:
        return convert(load(data.decode()), type=list[Seen])
    except (ValueError, ValidationError):
        return []
