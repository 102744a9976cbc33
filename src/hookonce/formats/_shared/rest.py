"""Extension fields of an envelope: what it has no field for travels under one key of ours (`dev.hookonce`).

An extension may be anybody's writing. It is believed only if the record that it completes, written again,
gives the very envelope that it came in: so it can add, and never contradict.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, get_type_hints

from msgspec import ValidationError, convert, defstruct, to_builtins
from msgspec.structs import astuple, replace

from hookonce.base import ids
from hookonce.base.times import has_zone
from hookonce.model import SCHEMA, Actor, Event, Format, Object, Origin, Record
from hookonce.vocabulary.events import USER_EVENTS, same_event

EXTENSION_KEY = "dev.hookonce"
_ENVELOPE_ONLY = {"id", "schema", "session", "user"}  # an extension never says who
_REST_TYPES = [(name, kind | None, None) for name, kind in get_type_hints(Event).items() if name not in _ENVELOPE_ONLY]
# The event fields that may travel in an extension place.
RestFields: Any = defstruct(
    "RestFields", _REST_TYPES, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
)


def remaining_fields(*envelope_fields: str) -> dict[str, int]:
    """The event fields that remain when the envelope carries those, and their places in an event."""
    field_names = (name for name in RestFields.__struct_fields__ if name not in {"data", "agent", *envelope_fields})
    return {name: Event.__struct_fields__.index(name) for name in field_names}


def rest_of(event: Event, remaining: dict[str, int]) -> Object:
    """The remaining fields of an event, absent ones left out."""
    rest: Object = {}
    values = astuple(event)
    for name, place in remaining.items():
        if (value := values[place]) is not None:
            rest[name] = value
    if event.data:
        rest["data"] = event.data
    return rest


def rest_builder(*envelope_fields: str) -> Callable[[Event], Any]:
    """Builder of the same as a struct, without a step of Python's for each field; `agent` is for the caller to set."""
    names = (*remaining_fields(*envelope_fields), "data")
    fields: list[tuple[str, Any, Any]] = [(name, Any, {} if name == "data" else None) for name in (*names, "agent")]
    rest_type, select = defstruct("Rest", fields, frozen=True, omit_defaults=True), attrgetter(*names)
    return lambda event: rest_type(*select(event))


def is_repeat(event: Event) -> bool:
    """Whether the event repeats an earlier one in other words: formats leave it out."""
    return event.data.get("repeat") is True


def plain_event(fmt: str, doc: Object, foreign_id: str, *, data: Object, **fields: Any) -> Event:
    """Build an event from an envelope alone; the document stays whole in `native`."""
    own_id = None if ids.is_uuid(foreign_id) else foreign_id
    return Event(
        id=ids.id_from_foreign(foreign_id),
        schema=SCHEMA,
        origin=Origin(format=fmt, id=own_id),
        native=doc,
        data={key: value for key, value in data.items() if key != "repeat"},  # which is our own mark
        time_source=fields.pop("time_source", "agent"),
        **fields,
    )


def complete_from_rest(fmt: Format, plain: Record, doc: Object, rest: Any) -> Record:
    """The record completed by its extension, if that does not contradict the envelope."""
    if type(rest) is not dict:
        return plain
    try:
        return _complete(fmt, plain, doc, rest)
    except (ValidationError, UnicodeError, RecursionError):  # what cannot even be compared is not believed
        return plain


def _complete(fmt: Format, plain: Record, doc: Object, rest: Object) -> Record:
    fields = convert(rest, RestFields)
    if _contradicts_envelope(fields, plain.event):
        return plain
    values = {name: value for name in rest if (value := getattr(fields, name)) is not None}
    bare_event = replace(plain.event, native=None, origin=None, data={}, tool=None, prompt=None)
    candidate = replace(bare_event, **values)
    documents = to_builtins(fmt.write(replace(plain, event=candidate)))
    if not documents:
        return plain
    if documents[0] == doc:
        return replace(plain, event=_without_person(fmt, candidate))
    if _covers(documents[0], doc) and (extra_data := _foreign_data(fmt, documents[0], doc)) is not None:
        complete_event = replace(candidate, data=candidate.data | extra_data, native=doc, origin=plain.event.origin)
        return replace(plain, event=_without_person(fmt, complete_event))
    return plain


def _contradicts_envelope(fields: Any, event: Event) -> bool:
    own_id = None if fields.origin is None else fields.origin.id
    has_bad_time = fields.time is not None and not has_zone(fields.time)
    return has_bad_time or bool(own_id is not None and ids.id_from_foreign(own_id) != event.id)


def _without_person(fmt: Format, event: Event) -> Event:
    """Where an envelope has no place for people, its extension names nobody, nor says that a human did it."""
    actor = event.actor
    if actor is None or "user" not in fmt.lacks:
        return event
    if actor.type == "user" and event.type not in USER_EVENTS:
        return replace(event, actor=None)
    return event if actor.id is None and actor.name is None else replace(event, actor=Actor(type=actor.type))


def _foreign_data(fmt: Format, own_document: Object, their_document: Object) -> Object | None:
    """The data that others added to their envelope; None where the envelope alone says what our fields do not."""
    envelope = _without_extension(their_document)
    if fmt.read is None or envelope == their_document:
        return {}
    own_event, their_event = fmt.read(_without_extension(own_document)).event, fmt.read(envelope).event
    if not same_event(replace(own_event, data={}), replace(their_event, data={})):
        return None
    return {key: value for key, value in their_event.data.items() if key not in own_event.data}


def _without_extension(part: Any) -> Any:
    """The document without our extension, which some formats spell as an item of a list."""
    if type(part) is dict:
        return {key: _without_extension(value) for key, value in part.items() if key != EXTENSION_KEY}
    if type(part) is list:
        return [_without_extension(item) for item in part if type(item) is not dict or item.get("key") != EXTENSION_KEY]
    return part


def _covers(own_part: Any, their_part: Any) -> bool:
    """Whether everything that I would write stands there; what others added is no contradiction."""
    if type(own_part) is dict and type(their_part) is dict:
        return all(key in their_part and _covers(value, their_part[key]) for key, value in own_part.items())
    if type(own_part) is list and type(their_part) is list:
        return len(own_part) <= len(their_part) and all(map(_covers, own_part, their_part))
    return bool(own_part == their_part)
