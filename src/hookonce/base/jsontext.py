"""JSON text that bears lone surrogates, which JavaScript writes and msgspec refuses; JSON objects of unknown shape."""

import sys
from typing import Any

from msgspec import DecodeError, to_builtins
from msgspec.json import Encoder, decode

from hookonce.base.regex import lazy_pattern

MAX_NESTING_LEVELS = 200  # few parsers that hooks are written with take more than 256
_MAX_INT_DIGITS = 300  # more of them are no finite number for anybody else
_SURROGATES = lazy_pattern("[\ud800-\udfff]")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_encode = Encoder().encode


def decode_text(data: bytes, errors: str = "strict") -> str:
    """The text of UTF-8, without the mark that some write before it; `utf-8-sig` would be one more module."""
    return data.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", errors)


def dump(value: Any) -> bytes:
    """The value as JSON on one line."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        from json import dumps  # few texts need it

        return dumps(to_builtins(value), separators=(",", ":")).encode()


def canonical_bytes(document: dict[str, Any]) -> bytes:
    """Canonical JSON of a document: sorted keys, no blanks, everything beyond ASCII escaped."""
    from json import dumps

    return dumps(document, sort_keys=True, separators=(",", ":")).encode()


def load(text: str) -> Any:
    """What `dump` wrote; a ValueError where it is no JSON."""
    try:
        return decode(text)
    except (DecodeError, UnicodeEncodeError):
        from json import loads

        return loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


class NestingError(ValueError):
    """JSON that is nested so deeply that hooks could not read it."""


def load_leniently(text: str) -> Any:
    """Tool input as agents themselves take it, so that hooks can read whatever a model has written; else a ValueError.

    Half a character is the replacement character; a number beyond all numbers the largest one, and none is null.
    """
    try:
        value = decode(text)
    except (DecodeError, UnicodeEncodeError, RecursionError):
        value = _load_slowly(text)
    if text.count("{") + text.count("[") > MAX_NESTING_LEVELS:
        _check_nesting(value)
    return value


def _load_slowly(text: str) -> Any:
    from json import loads

    try:
        value = loads(text, strict=False, parse_float=_finite, parse_int=_parse_int, parse_constant=_finite)
    except RecursionError:
        raise NestingError(_NESTING_PROBLEM) from None
    _check_nesting(value)
    return _replace_surrogates(value)


_NESTING_PROBLEM = f"it is nested deeper than {MAX_NESTING_LEVELS} levels"


def _check_nesting(value: Any) -> None:
    level = [value]
    for _ in range(MAX_NESTING_LEVELS + 1):
        containers = [node for node in level if type(node) in (dict, list)]
        if not containers:
            return
        level = [child for node in containers for child in (node.values() if type(node) is dict else node)]
    raise NestingError(_NESTING_PROBLEM)


def _parse_int(digits: str) -> int | float | None:
    return int(digits) if len(digits) <= _MAX_INT_DIGITS else _finite(digits)


def _finite(text: str) -> float | None:
    number, limit = float(text), sys.float_info.max
    return None if number != number else min(max(number, -limit), limit)  # noqa: PLR0124  NaN


def _replace_surrogates(value: Any) -> Any:
    if type(value) is str:
        return _SURROGATES.sub("\ufffd", value)
    if type(value) is list:
        return [_replace_surrogates(item) for item in value]
    if type(value) is dict:
        return {_replace_surrogates(key): _replace_surrogates(item) for key, item in value.items()}
    return value


def as_dict(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if type(value) is dict else {}


def drop_none(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that are not None."""
    return {key: value for key, value in fields.items() if value is not None}


def select_keys(fields: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The fields of these keys, as far as they are there."""
    return {key: fields[key] for key in keys if key in fields}
