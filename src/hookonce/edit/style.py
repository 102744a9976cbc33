"""How somebody writes JSON: line ends, indentation, space after the colon. New text follows it."""

import re
from json import dumps
from typing import Any, NamedTuple

# Also one that never ends, so that a broken file is not searched again from each of its quotes.
STRING = rb'"(?:[^"\\]|\\.)*+"?'

_COLON = re.compile(STRING + rb"(?:([ \t]*:[ \t]*)(?=[^ \t\r\n\xfe\xff]))?", re.DOTALL)
_FIRST_LINE = re.compile(rb"^([ \t]*)[^\r\n]*[\[{][ \t\r\n\xfe\xff]*[\r\n]([ \t]*)[^ \t\r\n\xfe\xff\]}]", re.MULTILINE)
_WIDEST_COLON = 3


class Style(NamedTuple):
    """What to imitate; `flat` files have everything on one line."""

    newline: bytes = b"\n"
    unit: bytes = b"  "
    colon: bytes = b": "
    flat: bool = False

    @property
    def gap(self) -> bytes:
        """What follows a comma inside a line."""
        return b" " if self.colon.endswith((b" ", b"\t")) else b""


def style_of(plain: bytes, *, flat: bool) -> Style:
    """The style of a text whose comments are masked."""
    return Style(newline_of(plain), _unit(plain), _colon(plain), flat)


def newline_of(text: bytes) -> bytes:
    """The first line end decides."""
    end = text.find(b"\n")
    return b"\r\n" if end > 0 and text[end - 1 : end] == b"\r" else b"\n"


def _unit(plain: bytes) -> bytes:
    for match in _FIRST_LINE.finditer(plain):
        outer, inner = match.groups()
        if inner.startswith(outer):
            return inner.removeprefix(outer)
    return b"  "


def _colon(plain: bytes) -> bytes:
    found = (match[1] for match in _COLON.finditer(plain) if match[1])
    colon = next(found, b": ")
    return colon if len(colon) <= _WIDEST_COLON else b": "


def render(value: Any, style: Style, indent: bytes, *, compact: bool) -> bytes:
    """The value as JSON; the lines after the first begin with `indent`."""
    colon = style.colon.decode()
    if compact:
        return _encoded(value, separators=("," + style.gap.decode(), colon))
    lines = _encoded(value, indent=style.unit.decode(), separators=(",", colon))
    return lines.replace(b"\n", style.newline + indent)


def _encoded(value: Any, **how: Any) -> bytes:
    try:
        return dumps(value, ensure_ascii=False, allow_nan=False, **how).encode()
    except UnicodeEncodeError:  # lone surrogates, which JavaScript writes
        return dumps(value, allow_nan=False, **how).encode()
