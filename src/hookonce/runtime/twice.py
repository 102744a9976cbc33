"""Two doors, one call: an agent that reads two configurations calls us twice, and hooks run once."""

from hashlib import sha256
from time import sleep, time

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from hookonce.model import Decision, Event
from hookonce.runtime.folder import at, create, put

_WITHIN = 10  # seconds in which a call may come through a second door
_POLL = 0.01


class Seen(Struct, frozen=True):
    """A call that came through one door: when, through which, and what was decided once it is."""

    time: float
    via: str
    decision: Decision | None = None


def key_of(event: Event) -> str:
    """What makes two calls one: agent by evidence, session, sub-agent, event, and the call id or the input."""
    tool = event.tool
    what = tool.call_id if tool is not None and tool.call_id else _content(event)
    who = event.subagent.id if event.subagent is not None else None
    return sha256(encode([event.agent, event.session, who, event.type, what])).hexdigest()[:40]


def _content(event: Event) -> str:
    tool = event.tool
    known = [tool.name, tool.input] if tool is not None else [event.prompt, event.data]
    return sha256(encode(known, order="sorted")).hexdigest()


def elsewhere(event: Event, via: str | None, deadline: float) -> Decision | None:
    """The decision of the other door that this call came through; None if ours is the first, or the only one."""
    if via is None:
        return None
    path, mine = at("doors", key_of(event)), encode(Seen(time(), via))
    if create(path, mine):
        return None
    while (seen := _seen(path.read_bytes())) is not None and seen.via != via and time() - seen.time < _WITHIN:
        if seen.decision is not None or time() > deadline:
            return seen.decision or Decision()
        sleep(_POLL)
    put(path, mine)  # the same door again is another call
    return None


def _seen(data: bytes) -> Seen | None:
    try:
        return decode(data, type=Seen)
    except DecodeError:
        return None


def decided(event: Event, via: str | None, decision: Decision) -> None:
    """Tell the other door."""
    if via is not None:
        put(at("doors", key_of(event)), encode(Seen(time(), via, decision)))
