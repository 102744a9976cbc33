"""A JSONC file as its bytes and as what it says, with a way from one to the other.

json reads it, once comments and trailing commas are blanked; so what is looked for afterwards is known to be valid.
(tree-sitter-json would refuse trailing commas and `1e+16`.)
"""

import re
from collections.abc import Iterator
from json import JSONDecodeError, loads
from typing import Any, NamedTuple, NoReturn

from hookonce.edit.box import Box, Sheet
from hookonce.edit.keys import Keys, shown
from hookonce.edit.refusal import BOM, Refusal, broken, check_utf8
from hookonce.edit.span import BLOCK, LINE, NOTHING, Span, bare, behind_comments, items
from hookonce.edit.style import STRING, Style, newline_of, style_of

_COMMENT = re.compile(STRING + rb"|//[^\r\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_TRAILING_COMMA = re.compile(rb"(" + STRING + rb"|[\]}\w])([ \t\r\n]*+),(?=[ \t\r\n]*+[\]}])|" + STRING, re.DOTALL)
# Most files have neither, and are large enough for this to be felt.
_MAY_COMMENT, _MAY_TRAIL = re.compile(rb"//|/\*"), re.compile(rb",[ \t\r\n]*+[\]}]")
_NO_NUMBER = re.compile(STRING + rb"|(-?Infinity|NaN|\d{4300,})", re.DOTALL)
_STRING = re.compile(STRING, re.DOTALL)
_NO_COMMENTS = bytes.maketrans(BLOCK + LINE, b"  ")
_KINDS = {b"{": "an object", b"[": "an array", b'"': "a string", b"t": "a boolean", b"f": "a boolean", b"n": "null"}


class Page(NamedTuple):
    """One file, read. `fresh`: there was nothing in it, so an empty object was put in front."""

    text: bytes
    plain: bytes  # comments are masked
    mask: bytes  # no comments, no trailing commas, nothing in strings
    value: Any
    fresh: bool = False

    @property
    def root(self) -> Span:
        """The outermost value."""
        return bare(self.mask, 0, len(self.mask))

    @property
    def sheet(self) -> Sheet:
        """What the splicing needs to know."""
        inner = self.plain[slice(*self.root)][1:-1]
        flat = bool(inner.strip(NOTHING)) and b"\n" not in inner and b"\r" not in inner
        style = Style(newline_of(self.text)) if self.fresh else style_of(self.plain, flat=flat)
        return Sheet(self.text, self.plain, style)

    def walk(self, keys: Keys) -> list[Span]:
        """The values along the way, from the outermost to the last one that exists."""
        found = [self.root]
        for depth, key in enumerate(keys):
            self.expect("an array" if isinstance(key, int) else "an object", found[-1], keys[:depth])
            inner = self._child(found[-1], key)
            if inner is None:
                break
            found.append(inner)
        return found

    def box(self, span: Span) -> Box:
        """An array or object as brackets with items between them."""
        inner = span[0] + 1, span[1] - 1
        array = self.kind(span) == "an array"
        stays = span == self.root or self._has_notes(span[0])
        return Box(*inner, items(self.mask, *inner), array=array, stays=stays)

    def members(self) -> Iterator[tuple[str, Span]]:
        """The keys of the outermost object, each with the place of its value."""
        for start, end in items(self.mask, self.root[0] + 1, self.root[1] - 1):
            colon = self.mask.index(b":", start)
            yield self._key(start, colon), bare(self.mask, colon + 1, end)

    def kind(self, span: Span) -> str:
        """What stands there, in words."""
        return _KINDS.get(self.text[span[0] : span[0] + 1], "a number")

    def expect(self, kind: str, span: Span, keys: Keys) -> None:
        """Refuse to go on where something else stands."""
        if self.kind(span) != kind:
            raise Refusal(f"{shown(keys)} is {self.kind(span)}, not {kind}")

    def _has_notes(self, start: int) -> bool:
        """Whether comments stand around the colon before a value."""
        before = self.plain[:start].rstrip(NOTHING)
        key = before.removesuffix(b":").rstrip(b" \t\r\n")
        return before.endswith(b":") and behind_comments(self.plain, len(key) - 1, start) >= len(key)

    def _child(self, span: Span, key: str | int) -> Span | None:
        inner = self.box(span).items
        if isinstance(key, int):
            return inner[key] if 0 <= key < len(inner) else None
        pairs = ((self.mask.index(b":", start), start, end) for start, end in reversed(inner))
        named = (bare(self.mask, colon + 1, end) for colon, start, end in pairs if self._key(start, colon) == key)
        return next(named, None)

    def _key(self, start: int, colon: int) -> Any:
        return loads(self.text[slice(*bare(self.mask, start, colon))])


def read(text: bytes) -> Page:
    """The file; nothing but white space and comments counts as an empty object."""
    check_utf8("JSON", text)
    bom, rest = text[: len(BOM) * text.startswith(BOM)], text.removeprefix(BOM)
    plain = BLOCK * len(bom) + (_COMMENT.sub(_hidden, rest) if _MAY_COMMENT.search(rest) else rest)
    if not plain.strip(NOTHING):
        return read(bom + b"{}" + newline_of(text) + rest)._replace(fresh=True)
    strict = plain.translate(_NO_COMMENTS)
    if _MAY_TRAIL.search(strict):
        strict = _TRAILING_COMMA.sub(_without_comma, strict)
    value = _load(text, strict)
    return Page(text, plain, _STRING.sub(lambda match: b"s" * len(match[0]), strict), value)


def _hidden(match: re.Match[bytes]) -> bytes:
    found = match[0]
    if found.startswith(b"//"):
        return LINE * len(found)
    closed = found.startswith(b"/*") and found.endswith(b"*/") and len(found) >= len(b"/**/")
    return BLOCK * len(found) if closed else found


def _without_comma(match: re.Match[bytes]) -> bytes:
    return match[0] if match[1] is None else match[1] + match[2] + b" "


def _load(text: bytes, strict: bytes) -> Any:
    try:
        return loads(strict.decode(), parse_constant=_no_constant)
    except JSONDecodeError as error:
        broken("JSON", error.msg[0].lower() + error.msg[1:], text, len(error.doc[: error.pos].encode()))
    except RecursionError:
        raise Refusal("too deeply nested to be read") from None
    except ValueError as error:
        numbers = (match.start() for match in _NO_NUMBER.finditer(strict) if match[1])
        broken("JSON", str(error).partition(";")[0], text, next(numbers, 0))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
