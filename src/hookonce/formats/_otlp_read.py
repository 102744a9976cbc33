"""OTLP in JSON, the reading side: the one log record of a request, and the values of its attributes."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from re import compile as pattern
from typing import Any, TypeVar

from msgspec import DecodeError, ValidationError, convert
from msgspec.json import decode

from hookonce import times
from hookonce.errors import DocumentError
from hookonce.formats._otlp import REWRITES
from hookonce.formats._read import optional, required
from hookonce.model import Decision, HookRun, Json, Object, Risk
from hookonce.texts import load

T = TypeVar("T")
_WHOLE = pattern(r"-?\d{1,20}")
_DAWN = datetime(1970, 1, 1, tzinfo=UTC)
_BITS = 2**64


def only_record(doc: Object) -> tuple[Object, Object, str]:
    """The resource's attributes, the log record and its place; a request with several is refused."""
    if "resourceSpans" in doc:
        raise DocumentError("spans are written and never read: give log records", "$.resourceSpans")
    found = list(records(doc))
    if not found:
        raise DocumentError("there is no log record", "$.resourceLogs")
    if len(found) > 1:
        raise DocumentError(
            f"there are {len(found)} log records: give each one a document of its own", "$.resourceLogs"
        )
    return found[0]


def records(doc: Object) -> Iterator[tuple[Object, Object, str]]:
    """Every log record with its resource's attributes and its place."""
    required(doc, "resourceLogs", list)
    for of_resource, outer in objects(doc, "resourceLogs", "$"):
        resource = optional(of_resource, "resource", dict, outer) or {}
        told = attributes(resource, "attributes", f"{outer}.resource")
        for of_scope, inner in objects(of_resource, "scopeLogs", outer):
            for log, place in objects(of_scope, "logRecords", inner):
                yield told, log, place


def objects(holder: Object, key: str, where: str) -> Iterator[tuple[Object, str]]:
    """The objects of a list, each with its place; anything else in it is refused."""
    for index, item in enumerate(optional(holder, key, list, where) or []):
        place = f"{where}.{key}[{index}]"
        if type(item) is not dict:
            raise DocumentError("expected an object", place)
        yield item, place


def attributes(holder: Object, key: str, where: str) -> Object:
    """A list of keys and values as an object; the last of equal keys wins."""
    found: Object = {}
    for item, place in objects(holder, key, where):
        value = optional(item, "value", dict, place) or {}
        found[required(item, "key", str, place)] = value_of(value, f"{place}.value")
    return found


def value_of(value: Object, where: str) -> Json:
    """The JSON value of an attribute; an empty one is null."""
    if "arrayValue" in value:
        inner = required(value, "arrayValue", dict, where)
        return [value_of(item, place) for item, place in objects(inner, "values", f"{where}.arrayValue")]
    if "kvlistValue" in value:
        return attributes(required(value, "kvlistValue", dict, where), "values", f"{where}.kvlistValue")
    if "intValue" in value:
        return _whole(value, "intValue", where)
    if "boolValue" in value:
        return optional(value, "boolValue", bool, where)
    if type(number := value.get("doubleValue")) in {float, int}:
        return number
    # Bytes are base64 there, and the numbers that JSON lacks are words.
    key = next((key for key in ("doubleValue", "bytesValue") if key in value), "stringValue")
    return optional(value, key, str, where)


def _whole(holder: Object, key: str, where: str) -> int | None:
    """A 64-bit number, which may be written as decimal text or as a number."""
    value = holder.get(key)
    if value is None or type(value) is int:
        return value
    if type(value) is str and _WHOLE.fullmatch(value):
        return int(value)
    raise DocumentError("expected a whole number, as decimal text or as a number", f"{where}.{key}")


def moment(holder: Object, key: str, where: str) -> str | None:
    """A time that is given in nanoseconds since 1970; None where it is unknown."""
    found = _whole(holder, key, where)
    if not found:
        return None
    if not 0 < found < _BITS:
        raise DocumentError("expected nanoseconds since 1970", f"{where}.{key}")
    return times.text_of(_DAWN + timedelta(microseconds=found // 1000))


def decision(told: Object, where: str) -> Decision | None:
    """What was decided; these attributes are taken out of the others."""
    fields = _family(told, "hookonce.decision.")
    if not fields:
        return None
    if fields.get("outcome") == "none":
        del fields["outcome"]
    for name in REWRITES:
        if name in fields:
            fields[name] = _json(fields[name], Any, f"{where}.hookonce.decision.{name}")
    return _typed(fields, Decision, f"{where}.hookonce.decision")


def risk(told: Object, where: str) -> Risk | None:
    """How dangerous it looked; these attributes are taken out of the others."""
    fields = _family(told, "hookonce.risk.")
    return _typed(fields, Risk, f"{where}.hookonce.risk") if fields else None


def runs(told: Object, where: str) -> list[HookRun]:
    """The hooks that ran; their attribute is taken out of the others."""
    text = told.pop("hookonce.runs", None)
    return [] if text is None else _json(text, list[HookRun], f"{where}.hookonce.runs")


def rest(told: Object, key: str) -> Json:
    """Our own extension, or nothing where it is not readable: then the envelope alone counts."""
    text = told.pop(key, None)
    try:
        return load(text) if type(text) is str else None
    except (ValueError, RecursionError):
        return None


def _family(told: Object, prefix: str) -> Object:
    return {name.removeprefix(prefix): told.pop(name) for name in list(told) if name.startswith(prefix)}


def _typed(fields: Object, kind: type[T], where: str) -> T:
    try:
        return convert(fields, kind)
    except (ValidationError, UnicodeEncodeError) as problem:
        raise DocumentError(str(problem), where) from None


def _json(text: Json, kind: Any, where: str) -> Any:
    try:
        return decode(text if type(text) is str else b"", type=kind)
    except (DecodeError, UnicodeEncodeError, RecursionError):
        raise DocumentError("expected JSON text of the right form", where) from None
