"""OTLP in JSON, the reading side: the one log record of a request, and the values of its attributes."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from re import compile as pattern
from typing import Any, TypeVar

from msgspec import DecodeError, ValidationError, convert
from msgspec.json import decode

from hookonce import times
from hookonce.errors import DocumentError
from hookonce.formats._otlp import REWRITE_FIELDS
from hookonce.formats._read import read_field, require_field
from hookonce.model import Decision, HookRun, Json, Object, Risk
from hookonce.texts import load

T = TypeVar("T")
_INT_TEXT = pattern(r"-?\d{1,20}")
_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_UINT64 = 2**64


def only_log_record(doc: Object) -> tuple[Object, Object, str]:
    """The resource's attributes, the log record and its path; a request with several is refused."""
    if "resourceSpans" in doc:
        raise DocumentError("spans are written and never read: give log records", "$.resourceSpans")
    records = list(iter_log_records(doc))
    if not records:
        raise DocumentError("there is no log record", "$.resourceLogs")
    if len(records) > 1:
        raise DocumentError(
            f"there are {len(records)} log records: give each one a document of its own", "$.resourceLogs"
        )
    return records[0]


def iter_log_records(doc: Object) -> Iterator[tuple[Object, Object, str]]:
    """Every log record with its resource's attributes and its path."""
    require_field(doc, "resourceLogs", list)
    for resource_logs, resource_path in iter_objects(doc, "resourceLogs", "$"):
        resource = read_field(resource_logs, "resource", dict, resource_path) or {}
        resource_attributes = read_attributes(resource, "attributes", f"{resource_path}.resource")
        for scope_logs, scope_path in iter_objects(resource_logs, "scopeLogs", resource_path):
            for log, path in iter_objects(scope_logs, "logRecords", scope_path):
                yield resource_attributes, log, path


def iter_objects(holder: Object, key: str, where: str) -> Iterator[tuple[Object, str]]:
    """The objects of a list, each with its path; anything else in it is refused."""
    for index, item in enumerate(read_field(holder, key, list, where) or []):
        path = f"{where}.{key}[{index}]"
        if type(item) is not dict:
            raise DocumentError("expected an object", path)
        yield item, path


def read_attributes(holder: Object, key: str, where: str) -> Object:
    """Attributes as an object; the last of equal keys wins."""
    result: Object = {}
    for item, path in iter_objects(holder, key, where):
        value = read_field(item, "value", dict, path) or {}
        result[require_field(item, "key", str, path)] = decode_value(value, f"{path}.value")
    return result


def decode_value(value: Object, where: str) -> Json:
    """The JSON value of an attribute; an empty one is null."""
    if "arrayValue" in value:
        inner = require_field(value, "arrayValue", dict, where)
        return [decode_value(item, path) for item, path in iter_objects(inner, "values", f"{where}.arrayValue")]
    if "kvlistValue" in value:
        return read_attributes(require_field(value, "kvlistValue", dict, where), "values", f"{where}.kvlistValue")
    if "intValue" in value:
        return _read_int(value, "intValue", where)
    if "boolValue" in value:
        return read_field(value, "boolValue", bool, where)
    if type(number := value.get("doubleValue")) in {float, int}:
        return number
    # Bytes are base64 there, and the numbers that JSON lacks are words.
    key = next((key for key in ("doubleValue", "bytesValue") if key in value), "stringValue")
    return read_field(value, key, str, where)


def _read_int(holder: Object, key: str, where: str) -> int | None:
    value = holder.get(key)
    if value is None or type(value) is int:
        return value
    if type(value) is str and _INT_TEXT.fullmatch(value):
        return int(value)
    raise DocumentError("expected a whole number, as decimal text or as a number", f"{where}.{key}")


def read_time(holder: Object, key: str, where: str) -> str | None:
    """A time in nanoseconds since 1970, as text; None where it is unknown."""
    nanos = _read_int(holder, key, where)
    if not nanos:
        return None
    if not 0 < nanos < _MAX_UINT64:
        raise DocumentError("expected nanoseconds since 1970", f"{where}.{key}")
    return times.format_time(_UNIX_EPOCH + timedelta(microseconds=nanos // 1000))


def pop_decision(attributes: Object, where: str) -> Decision | None:
    """Remove the decision's attributes from the others, and parse them."""
    fields = _pop_family(attributes, "hookonce.decision.")
    if not fields:
        return None
    if fields.get("outcome") == "none":
        del fields["outcome"]
    for name in REWRITE_FIELDS:
        if name in fields:
            fields[name] = _decode_json(fields[name], Any, f"{where}.hookonce.decision.{name}")
    return _convert(fields, Decision, f"{where}.hookonce.decision")


def pop_risk(attributes: Object, where: str) -> Risk | None:
    """Remove the risk's attributes from the others, and parse them."""
    fields = _pop_family(attributes, "hookonce.risk.")
    return _convert(fields, Risk, f"{where}.hookonce.risk") if fields else None


def pop_runs(attributes: Object, where: str) -> list[HookRun]:
    """Remove the attribute of the hooks that ran from the others, and parse it."""
    text = attributes.pop("hookonce.runs", None)
    return [] if text is None else _decode_json(text, list[HookRun], f"{where}.hookonce.runs")


def pop_rest(attributes: Object, key: str) -> Json:
    """Remove our extension from the attributes and parse it; None where it is not readable: the envelope alone counts."""
    text = attributes.pop(key, None)
    try:
        return load(text) if type(text) is str else None
    except (ValueError, RecursionError):
        return None


def _pop_family(attributes: Object, prefix: str) -> Object:
    return {name.removeprefix(prefix): attributes.pop(name) for name in list(attributes) if name.startswith(prefix)}


def _convert(fields: Object, kind: type[T], where: str) -> T:
    try:
        return convert(fields, kind)
    except (ValidationError, UnicodeEncodeError) as problem:
        raise DocumentError(str(problem), where) from None


def _decode_json(text: Json, kind: Any, where: str) -> Any:
    try:
        return decode(text if type(text) is str else b"", type=kind)
    except (DecodeError, UnicodeEncodeError, RecursionError):
        raise DocumentError("expected JSON text of the right form", where) from None
