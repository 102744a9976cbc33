"""Two doors, one call: an agent that reads two configurations calls us twice, and hooks run once.

Who comes first decides. Who comes through another door waits for that decision and gives it too; who comes through
the same door once more is another call. All calls that look alike stand in one file, in the order in which they came.

A session ends once. Some agents tell it twice at the same door, and while they end themselves the second time without
a word: then it is the last end that the agent has told of. Whoever comes second finishes what the first did not.
"""

import os
from collections.abc import Callable, Generator
from hashlib import sha256
from json import dumps
from pathlib import Path
from time import monotonic, time

from msgspec import Struct, ValidationError, convert
from msgspec.json import Decoder
from msgspec.structs import replace

from hookonce.errors import HookonceError
from hookonce.model import Decision, Event, Gap, HookRun
from hookonce.runtime.folder import at, change
from hookonce.texts import dump, load

_WITHIN = 10  # seconds after a decision in which the same content may come through another door
_KNOWN = 600  # and the same call, by its id
_ENDS = 60  # and the end of the same session
_START, _END = "session_start", "session_end"
_GONE = 0  # nobody's process
_POLL = 0.01
_DOOR = "called_through"  # what a call's data say of its door is no part of the call


Page = list["Seen"]
Book = Callable[[str, Callable[[Page], Page]], Page]


class Unanswered(HookonceError):
    """The other door has not decided in time."""


class Decided(Struct, frozen=True, kw_only=True):
    """What all hooks together say, before anybody asks what the agent can be told of it."""

    decision: Decision
    runs: list[HookRun] = []
    gaps: list[Gap] = []


class Seen(Struct, frozen=True):
    """One call: the event's id at each of its doors, who decides, and what was decided, once it is.

    Of a session's end also the event itself, and the ids under which it was told at the same door once more.
    """

    ids: dict[str, str]
    pid: int
    time: float
    decided: Decided | None = None
    by: str = ""
    also: list[str] = []
    event: Event | None = None

    @property
    def first(self) -> str:
        """The id of the event that counts."""
        return next(iter(self.ids.values()))


def key_of(event: Event) -> str:
    """What makes two calls one: agent by evidence, session, sub-agent, event, and the call id or the content."""
    if event.type == _END:  # one page for all of them: who says nothing does not say which session ends
        return _page(event.agent, _END)
    return _page(event.agent, *_session(event), event.type, _call_id(event) or _content(event))


def _page(*words: str | None) -> str:
    return sha256(dump(words)).hexdigest()[:40]


def _session(event: Event) -> tuple[str | None, str | None]:
    return event.session, event.subagent.id if event.subagent is not None else None


def _call_id(event: Event) -> str | None:
    return event.tool.call_id if event.tool is not None else None


def _content(event: Event) -> str:
    tool = event.tool
    data = {name: value for name, value in event.data.items() if name != _DOOR}
    known = [tool.name, tool.input] if tool is not None else [event.prompt, data]
    return sha256(dumps(known, sort_keys=True).encode()).hexdigest()


def enter(event: Event, via: str, deadline: float, book: Book) -> Generator[float, None, Seen]:
    """The call as it is known when it is ours to decide, or once it is decided at another door.

    Whoever decides and is gone without a word is forgotten, and the next one decides.
    """
    if event.type == _START:
        _begin(event, book)
    while True:
        seen = _joined(event, via, book)
        if seen.by == event.id or seen.decided is not None:
            return seen
        if monotonic() > deadline:
            raise Unanswered("the same call came through another door, and was not decided there in time")
        yield _POLL


def _begin(event: Event, book: Book) -> None:
    """A session that begins again will end again."""

    def without(known: Page) -> Page:
        return [one for one in known if one.event is None or _session(one.event) != _session(event)]

    book(_page(event.agent, _END), without)


def _joined(event: Event, via: str, book: Book) -> Seen:
    lasts = _ENDS if event.type == _END else _KNOWN if _call_id(event) else _WITHIN

    def join(known: Page) -> Page:
        known = [one for one in known if not _is_over(one, lasts)]
        mine = [one for one in known if _holds(one, event)] or [one for one in known if _is_same(one, event, via)]
        if not mine:
            told = event if event.type == _END else None
            return [*known, Seen({via: event.id}, os.getpid(), time(), by=event.id, event=told)]
        chosen = mine[-1 if is_wordless(event) else 0]
        return [_with(one, event, via) if one is chosen else one for one in known]

    return next(one for one in book(key_of(event), join) if _holds(one, event))


def _holds(seen: Seen, event: Event) -> bool:
    return event.id in seen.ids.values() or event.id in seen.also


def _is_same(seen: Seen, event: Event, via: str) -> bool:
    """Whether a call that looks alike is this one: at another door; or the same end, at whatever door."""
    if seen.event is None:
        return via not in seen.ids
    if is_wordless(event):
        return True
    alike = event.session is not None or _content(event) == _content(seen.event)
    return alike and _session(event) == _session(seen.event)


def is_wordless(event: Event) -> bool:
    """Whether an agent has said nothing at all."""
    return event.session is None and not event.native


def _with(seen: Seen, event: Event, via: str) -> Seen:
    """The call with us in it; if nobody decides it any more, we do."""
    if via not in seen.ids:
        seen = replace(seen, ids=seen.ids | {via: event.id})
    elif not _holds(seen, event):
        seen = replace(seen, also=[*seen.also, event.id])
    if seen.decided is None and _is_gone(seen.pid):
        seen = replace(seen, pid=os.getpid(), by=event.id)
    return seen


def _is_over(seen: Seen, lasts: float) -> bool:
    """A decision counts for a while, and without one only who is still alive."""
    if seen.decided is not None or seen.event is not None:
        return time() - seen.time > lasts
    return _is_gone(seen.pid)


def is_past(seen: Seen) -> bool:
    """Whether a call is so old that it counts for nobody, whatever it was."""
    return time() - seen.time > _KNOWN


def _is_gone(pid: int) -> bool:
    if pid == _GONE:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def decide(event: Event, decided: Decided, book: Book) -> Seen | None:
    """Tell the other doors; the call with all those through which it has come so far, unless it is forgotten."""
    found = _changed(event, Seen({}, os.getpid(), time(), decided), book)
    return next((one for one in found if one.first == event.id), None)


def leave(event: Event, book: Book) -> None:
    """Decide nothing: who waits at another door does."""
    _changed(event, None, book)


def _changed(event: Event, new: Seen | None, book: Book) -> list[Seen]:
    """All calls that look like this one, with ours decided, or without it."""

    def renew(known: Page) -> Page:
        return [one for one in (_renewed(one, event, new) for one in known) if one is not None]

    return book(key_of(event), renew)


def _renewed(seen: Seen, event: Event, new: Seen | None) -> Seen | None:
    """Our call as it is now; an end that nobody decides any more is still known."""
    if seen.first != event.id:
        return seen
    if new is None:
        return None if seen.event is None else replace(seen, pid=_GONE, by="")
    return replace(new, ids=seen.ids, also=seen.also, event=seen.event)


def on_disk(key: str, new: Callable[[Page], Page]) -> Page:
    """A book that everybody can read: what is known of a key, changed by a function."""
    return read(change(file(key), lambda data: dump(new(read(data)))))


def file(key: str) -> Path:
    """The page of a key."""
    return at("doors", key)


def read(data: bytes) -> Page:
    """What stands on a page; nothing on one that cannot be read."""
    try:
        return _decode(data) if data else []
    except UnicodeDecodeError:
        return []
    except ValueError:  # what JavaScript may say and msgspec refuses
        return _of_javascript(data)


_decode = Decoder(list[Seen]).decode


def _of_javascript(data: bytes) -> Page:
    try:
        return convert(load(data.decode()), type=list[Seen])
    except (ValueError, ValidationError):
        return []
