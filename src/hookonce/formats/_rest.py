"""What an envelope has no field for travels in its extension place, under one key of ours.

An extension may be anybody's writing. It is believed only if the record that it completes, written
again, gives the very envelope that it came in: so it can add, and never contradict.
"""

from typing import Any

from msgspec import Struct, ValidationError, convert, to_builtins
from msgspec.structs import asdict, astuple, replace

from hookonce import ids
from hookonce.canon.events import BY_USER
from hookonce.model import (
    SCHEMA,
    Actor,
    Event,
    Format,
    Json,
    Mode,
    Object,
    Origin,
    Record,
    Subagent,
    Text,
    TimeSource,
    Tool,
    Usage,
)
from hookonce.times import has_zone

KEY = "dev.hookonce"


class Rest(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The event fields that may travel in an extension place: never who, never what was decided."""

    type: str | None = None
    agent: str | None = None
    agent_version: str | None = None
    turn: str | None = None
    subagent: Subagent | None = None
    parent_session: str | None = None
    time: str | None = None
    time_source: TimeSource | None = None
    received: str | None = None
    cwd: str | None = None
    tool: Tool | None = None
    prompt: Text | None = None
    model: str | None = None
    usage: Usage | None = None
    mode: Mode | None = None
    actor: Actor | None = None
    data: Object | None = None
    origin: Origin | None = None
    caused_by: str | None = None
    derived_from: str | None = None
    native: Json = None


Remaining = tuple[tuple[str, int], ...]  # names of event fields and where they stand in an event


def names(*carried: str) -> Remaining:
    """The fields that remain when the envelope carries those."""
    places = {name: index for index, name in enumerate(Event.__struct_fields__)}
    left = (name for name in Rest.__struct_fields__ if name not in {"data", "agent", *carried})
    return tuple((name, places[name]) for name in left)


def rest_of(event: Event, remaining: Remaining) -> Object:
    """The remaining fields of an event, absent ones left out."""
    values = astuple(event)
    rest: Object = {name: value for name, index in remaining if (value := values[index]) is not None}
    if event.data:
        rest["data"] = event.data
    return rest


def is_repeat(event: Event) -> bool:
    """Whether an agent said this before in other words: formats leave such an event out."""
    return event.data.get("repeat") is True


def plain_event(fmt: str, doc: Object, foreign_id: str, *, data: Object, **fields: Any) -> Event:
    """An event read from an envelope alone; the document stays whole in `native`.

    `repeat` is our own mark: somebody else's word of that name must not make their event vanish.
    """
    own = None if ids.is_uuid(foreign_id) else foreign_id
    return Event(
        id=ids.from_foreign(foreign_id),
        schema=SCHEMA,
        origin=Origin(format=fmt, id=own),
        native=doc,
        data={key: value for key, value in data.items() if key != "repeat"},
        time_source=fields.pop("time_source", "agent"),
        **fields,
    )


def believed(fmt: Format, plain: Record, doc: Object, rest: Any) -> Record:
    """The record completed by what travelled with it, if that does not contradict the envelope."""
    if type(rest) is not dict:
        return plain
    try:
        return _completed(fmt, plain, doc, rest)
    except (ValidationError, UnicodeError, RecursionError):  # what cannot even be compared is not believed
        return plain


def _completed(fmt: Format, plain: Record, doc: Object, rest: Object) -> Record:
    fields = convert(rest, Rest)
    if _misleads(fields, plain.event):
        return plain
    given = {name: value for name in rest if (value := getattr(fields, name)) is not None}
    bare = replace(plain.event, native=None, origin=None, data={}, tool=None, prompt=None)
    candidate = replace(bare, **given)
    again = to_builtins(fmt.write(replace(plain, event=candidate)))
    if not again:
        return plain
    if again[0] == doc:
        return replace(plain, event=_unnamed(fmt, candidate))
    if _covers(again[0], doc) and (added := _added(fmt, again[0], doc)) is not None:
        whole = replace(candidate, data=candidate.data | added, native=doc, origin=plain.event.origin)
        return replace(plain, event=_unnamed(fmt, whole))
    return plain


def _misleads(fields: Rest, event: Event) -> bool:
    """Whether the rest speaks of no time at all, or of an id that is not the envelope's."""
    own = None if fields.origin is None else fields.origin.id
    timeless = fields.time is not None and not has_zone(fields.time)
    return timeless or (own is not None and ids.from_foreign(own) != event.id)


def _unnamed(fmt: Format, event: Event) -> Event:
    """Where an envelope has no place for people, its extension names nobody, nor says that a human did it."""
    actor = event.actor
    if actor is None or "user" not in fmt.lacks:
        return event
    if actor.type == "user" and event.type not in BY_USER:
        return replace(event, actor=None)
    return event if actor.id is None and actor.name is None else replace(event, actor=Actor(type=actor.type))


def _added(fmt: Format, mine: Object, theirs: Object) -> Object | None:
    """The data that others put beside mine; None where the envelope alone says what the rest keeps silent about."""
    envelope = _bare(theirs)
    if fmt.read is None or envelope == theirs:
        return {}
    one, other = fmt.read(_bare(mine)).event, fmt.read(envelope).event
    if not same_event(replace(one, data={}), replace(other, data={})):
        return None
    return {key: value for key, value in other.data.items() if key not in one.data}


def _bare(part: Any) -> Any:
    """The document without what travels under our key, which some formats spell as an item of a list."""
    if type(part) is dict:
        return {key: _bare(value) for key, value in part.items() if key != KEY}
    if type(part) is list:
        return [_bare(item) for item in part if type(item) is not dict or item.get("key") != KEY]
    return part


def _covers(mine: Any, theirs: Any) -> bool:
    """Whether everything that I would write stands there; what others added is no contradiction."""
    if type(mine) is dict and type(theirs) is dict:
        return all(key in theirs and _covers(value, theirs[key]) for key, value in mine.items())
    if type(mine) is list and type(theirs) is list:
        return len(mine) <= len(theirs) and all(map(_covers, mine, theirs))
    return bool(mine == theirs)


def same_event(one: Event, other: Event) -> bool:
    """Whether two events say the same, whatever documents they were read from; an empty session is none."""
    left, right = (asdict(event) | {"session": event.session or None} for event in (one, other))
    ignored = {"native", "origin", "received"}
    return all(left[name] == right[name] for name in left if name not in ignored)
