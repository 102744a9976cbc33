"""JSON text encoding and decoding that bears lone surrogates, which JavaScript writes and msgspec refuses."""

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
