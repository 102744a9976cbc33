"""Reading fields of a foreign document: the type that the format promises, or a clear refusal."""

from typing import Any, TypeVar

from hookonce import times
from hookonce.errors import DocumentError
from hookonce.model import Gap, Object

T = TypeVar("T")
_TOO_MANY = 2**63  # no count, and no infinity either
_NAMES: dict[type, str] = {
    str: "a string",
    dict: "an object",
    list: "a list",
    int: "an integer",
    float: "a number",
    bool: "true or false",
}


def required(doc: Object, key: str, kind: type[T], where: str = "$") -> T:
    """A field that must be there."""
    if key not in doc:
        raise DocumentError(f"{key} is required", where)
    found = optional(doc, key, kind, where)
    if found is None:
        raise DocumentError(f"expected {_NAMES[kind]}, got null", f"{where}.{key}")
    return found


def optional(doc: Object, key: str, kind: type[T], where: str = "$") -> T | None:
    """A field that may be left out or null; a wrong type is refused with its place."""
    value = doc.get(key)
    if value is None or type(value) is kind:
        return value
    if kind is float and type(value) is int:
        return value  # type: ignore[return-value]  # a whole number is a number
    raise DocumentError(f"expected {_NAMES[kind]}, got {_NAMES.get(type(value), 'null')}", f"{where}.{key}")


def moment(doc: Object, key: str, gaps: list[Gap]) -> str:
    """A required time; one without a zone is taken for UTC and named."""
    text = required(doc, key, str)
    if times.has_zone(text):
        return text
    found = times.parse(text)
    if found is None:
        raise DocumentError("expected a time such as 2026-02-23T10:15:30Z", f"$.{key}")
    gaps.append(Gap(where=f"$.{key}", strategy="assumed", note="the time names no zone and was taken for UTC"))
    return times.text_of(found)


def whole(value: Any) -> int | None:
    """A count, if it is one: formats speak of whole milliseconds and tokens."""
    if type(value) is bool or not isinstance(value, int | float) or not 0 <= value < _TOO_MANY:
        return None
    return round(value)


def given(fields: Object) -> Object:
    """The fields that have a value."""
    return {key: value for key, value in fields.items() if value is not None}
