"""JSON text that bears lone surrogates, which JavaScript writes and msgspec refuses; JSON objects of unknown shape."""

from json import dumps, loads
from typing import Any

from msgspec import DecodeError, to_builtins
from msgspec.json import Encoder, decode

_encode = Encoder().encode


def dump(value: Any) -> bytes:
    """The value as JSON on one line."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return dumps(to_builtins(value), separators=(",", ":")).encode()


def load(text: str) -> Any:
    """What `dump` wrote; a ValueError where it is no JSON."""
    try:
        return decode(text)
    except (DecodeError, UnicodeEncodeError):
        return loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def as_dict(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if type(value) is dict else {}


def drop_none(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that are not None."""
    return {key: value for key, value in fields.items() if value is not None}


def select_keys(fields: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The fields of these keys, as far as they are there."""
    return {key: fields[key] for key in keys if key in fields}
