"""Masking of e-mail addresses in texts that a privacy level keeps, such as paths and commands."""

from re import compile as pattern
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

ADDRESS_MASK = "[e-mail]"
_AT = pattern(r"""[\\"]{0,4}@|%40""")  # escaped for a shell or a regex, or behind a quoted name
_LOCAL_PART_REVERSED = pattern(r"[\w.+%'~-]+")
_DOMAIN = pattern(r"(?:[\w-]+\.)+[^\W\d_]{2,}")
_MAX_LOCAL_CHARS = 64  # as RFC 5321 has it
_SERVICE_ACCOUNT = "git"  # everybody's account at a host of repositories
_Value = TypeVar("_Value")


def mask_addresses(value: _Value) -> _Value:
    """The same JSON value or noun without an e-mail address in any text or key of it."""
    clean_value: _Value = _mask_value(value)
    return clean_value


def _mask_value(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        return mask_text(value)
    if kind is dict:
        return {mask_text(key): _mask_value(item) for key, item in value.items()}
    if kind is list:
        return [_mask_value(item) for item in value]
    if not isinstance(value, Struct):
        return value
    fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
    return replace(value, **{name: _mask_value(item) for name, item in fields if item is not None})


def mask_text(text: str) -> str:
    """The text with a mask for each address, also where a URL has encoded its sign."""
    if "@" not in text and "%40" not in text:
        return text
    parts, position = list[str](), 0
    for sign in _AT.finditer(text):
        start, domain = _local_start(text, position, sign.start()), _DOMAIN.match(text, sign.end())
        if start is None or domain is None:
            continue
        parts += [text[position:start], ADDRESS_MASK]
        position = domain.end()
    return "".join((*parts, text[position:]))


def _local_start(text: str, first: int, end: int) -> int | None:
    """Where the name before the sign begins; None if there is none, or it is nobody's."""
    letters = _LOCAL_PART_REVERSED.match(text[max(first, end - _MAX_LOCAL_CHARS) : end][::-1])
    name = letters[0][::-1].lstrip("'") if letters is not None else ""
    return end - len(name) if name and name != _SERVICE_ACCOUNT else None
