"""Formatting style of a JSON file: line ends, indentation, space after the colon. New text follows it."""

import re
from json import dumps
from typing import Any, NamedTuple

# Also one that never ends, so that a broken file is not searched again from each of its quotes.
STRING = rb'"(?:[^"\\]|\\.)*+"?'

_COLON = re.compile(STRING + rb"(?:([ \t]*:[ \t]*)(?=[^ \t\r\n\xfe\xff]))?", re.DOTALL)
_FIRST_INDENT = re.compile(
    rb"^([ \t]*)[^\r\n]*[\[{][ \t\r\n\xfe\xff]*[\r\n]([ \t]*)[^ \t\r\n\xfe\xff\]}]", re.MULTILINE
)
_MAX_COLON_BYTES = 3


class JsonStyle(NamedTuple):
    """The style to imitate; `flat` files have everything on one line."""

    newline: bytes = b"\n"
    unit: bytes = b"  "
    colon: bytes = b": "
    flat: bool = False

    @property
    def gap(self) -> bytes:
        """The space that follows a comma inside a line."""
        return b" " if self.colon.endswith((b" ", b"\t")) else b""


def style_of(plain: bytes, *, flat: bool) -> JsonStyle:
    """The style of a text whose comments are masked."""
    return JsonStyle(newline_of(plain), _indent_unit(plain), _colon_text(plain), flat)


def newline_of(text: bytes) -> bytes:
    """The first line end decides."""
    end = text.find(b"\n")
    return b"\r\n" if end > 0 and text[end - 1 : end] == b"\r" else b"\n"


def _indent_unit(plain: bytes) -> bytes:
    for match in _FIRST_INDENT.finditer(plain):
        outer, inner = match.groups()
        if inner.startswith(outer):
            return inner.removeprefix(outer)
    return b"  "


def _colon_text(plain: bytes) -> bytes:
    colons = (match[1] for match in _COLON.finditer(plain) if match[1])
    colon = next(colons, b": ")
    return colon if len(colon) <= _MAX_COLON_BYTES else b": "


def render_json(value: Any, style: JsonStyle, indent: bytes, *, compact: bool) -> bytes:
    """Render a value as JSON; the lines after the first begin with `indent`."""
    colon = style.colon.decode()
    if compact:
        return _encode_json(value, separators=("," + style.gap.decode(), colon))
    lines = _encode_json(value, indent=style.unit.decode(), separators=(",", colon))
    return lines.replace(b"\n", style.newline + indent)


def _encode_json(value: Any, **options: Any) -> bytes:
    try:
        return dumps(value, ensure_ascii=False, allow_nan=False, **options).encode()
    except UnicodeEncodeError:  # lone surrogates, which JavaScript writes
        return dumps(value, allow_nan=False, **options).encode()
