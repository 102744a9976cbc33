"""Byte-preserving editor of JSON and JSONC files, which belong to others.

Every function takes the file's bytes. What an edit does not touch keeps its bytes, and removing what was
inserted gives back the file as it was, unless somebody else has changed the same place meanwhile. Where a key
stands twice, the last one counts, as it does for the agents. `json` reads the text once comments and trailing
commas are blanked, so what is looked for afterwards is known to be valid (tree-sitter-json would refuse trailing
commas and `1e+16`).
"""

import re
from collections.abc import Iterator
from json import JSONDecodeError, loads
from typing import Any, NamedTuple, NoReturn

from hookonce.edit.box import Brackets, SourceText
from hookonce.edit.keys import DocumentPath, format_path
from hookonce.edit.refusal import BOM, FileEditError, raise_syntax_error, check_utf8
from hookonce.edit.span import BLOCK_MASK, LINE_MASK, BLANK_BYTES, Span, trim_span, end_of_comments, item_spans
from hookonce.edit.style import STRING, JsonStyle, newline_of, style_of

_COMMENT = re.compile(STRING + rb"|//[^\r\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_TRAILING_COMMA = re.compile(rb"(" + STRING + rb"|[\]}\w])([ \t\r\n]*+),(?=[ \t\r\n]*+[\]}])|" + STRING, re.DOTALL)
# Most files have neither, and are large enough for this to be felt.
_COMMENT_HINT, _TRAILING_COMMA_HINT = re.compile(rb"//|/\*"), re.compile(rb",[ \t\r\n]*+[\]}]")
_INVALID_NUMBER = re.compile(STRING + rb"|(-?Infinity|NaN|\d{4300,})", re.DOTALL)
_STRING = re.compile(STRING, re.DOTALL)
_COMMENTS_TO_SPACES = bytes.maketrans(BLOCK_MASK + LINE_MASK, b"  ")
_KIND_BY_FIRST_BYTE = {b"{": "an object", b"[": "an array", b'"': "a string", b"t": "a boolean", b"f": "a boolean", b"n": "null"}


class JsoncDocument(NamedTuple):
    """A parsed file. `fresh`: there was nothing in it, so an empty object was put in front."""

    text: bytes
    plain: bytes  # comments are masked
    mask: bytes  # no comments, no trailing commas, nothing in strings
    value: Any
    fresh: bool = False

    @property
    def root(self) -> Span:
        """The span of the outermost value."""
        return trim_span(self.mask, 0, len(self.mask))

    @property
    def source(self) -> SourceText:
        """The text with masks and style, as the edits of brackets need it."""
        inner = self.plain[slice(*self.root)][1:-1]
        flat = bool(inner.strip(BLANK_BYTES)) and b"\n" not in inner and b"\r" not in inner
        style = JsonStyle(newline_of(self.text)) if self.fresh else style_of(self.plain, flat=flat)
        return SourceText(self.text, self.plain, style)

    def find_spans(self, keys: DocumentPath) -> list[Span]:
        """The spans of the values along a path, from the outermost to the last one that exists."""
        spans = [self.root]
        for depth, key in enumerate(keys):
            self.require_kind("an array" if isinstance(key, int) else "an object", spans[-1], keys[:depth])
            inner = self._child_span(spans[-1], key)
            if inner is None:
                break
            spans.append(inner)
        return spans

    def brackets_at(self, span: Span) -> Brackets:
        """An array or object as brackets with items between them."""
        inner = span[0] + 1, span[1] - 1
        array = self.kind(span) == "an array"
        stays = span == self.root or self._has_comments(span[0])
        return Brackets(*inner, item_spans(self.mask, *inner), array=array, stays=stays)

    def members(self) -> Iterator[tuple[str, Span]]:
        """The keys of the outermost object, each with the place of its value."""
        for start, end in item_spans(self.mask, self.root[0] + 1, self.root[1] - 1):
            colon = self.mask.index(b":", start)
            yield self._key_text(start, colon), trim_span(self.mask, colon + 1, end)

    def kind(self, span: Span) -> str:
        """What stands there, in words."""
        return _KIND_BY_FIRST_BYTE.get(self.text[span[0] : span[0] + 1], "a number")

    def require_kind(self, kind: str, span: Span, keys: DocumentPath) -> None:
        """Raise FileEditError where a value of another kind stands."""
        if self.kind(span) != kind:
            raise FileEditError(f"{format_path(keys)} is {self.kind(span)}, not {kind}")

    def _has_comments(self, start: int) -> bool:
        before = self.plain[:start].rstrip(BLANK_BYTES)
        key = before.removesuffix(b":").rstrip(b" \t\r\n")
        return before.endswith(b":") and end_of_comments(self.plain, len(key) - 1, start) >= len(key)

    def _child_span(self, span: Span, key: str | int) -> Span | None:
        inner = self.brackets_at(span).items
        if isinstance(key, int):
            return inner[key] if 0 <= key < len(inner) else None
        pairs = ((self.mask.index(b":", start), start, end) for start, end in reversed(inner))
        matches = (trim_span(self.mask, colon + 1, end) for colon, start, end in pairs if self._key_text(start, colon) == key)
        return next(matches, None)

    def _key_text(self, start: int, colon: int) -> Any:
        return loads(self.text[slice(*trim_span(self.mask, start, colon))])


def parse_jsonc(text: bytes) -> JsoncDocument:
    """Parse a file; nothing but white space and comments counts as an empty object."""
    check_utf8("JSON", text)
    bom, rest = text[: len(BOM) * text.startswith(BOM)], text.removeprefix(BOM)
    plain = BLOCK_MASK * len(bom) + (_COMMENT.sub(_mask_comment, rest) if _COMMENT_HINT.search(rest) else rest)
    if not plain.strip(BLANK_BYTES):
        return parse_jsonc(bom + b"{}" + newline_of(text) + rest)._replace(fresh=True)
    strict_text = plain.translate(_COMMENTS_TO_SPACES)
    if _TRAILING_COMMA_HINT.search(strict_text):
        strict_text = _TRAILING_COMMA.sub(_blank_comma, strict_text)
    value = _load_json(text, strict_text)
    return JsoncDocument(text, plain, _STRING.sub(lambda match: b"s" * len(match[0]), strict_text), value)


def _mask_comment(match: re.Match[bytes]) -> bytes:
    comment = match[0]
    if comment.startswith(b"//"):
        return LINE_MASK * len(comment)
    closed = comment.startswith(b"/*") and comment.endswith(b"*/") and len(comment) >= len(b"/**/")
    return BLOCK_MASK * len(comment) if closed else comment


def _blank_comma(match: re.Match[bytes]) -> bytes:
    return match[0] if match[1] is None else match[1] + match[2] + b" "


def _load_json(text: bytes, strict_text: bytes) -> Any:
    try:
        return loads(strict_text.decode(), parse_constant=_reject_constant)
    except JSONDecodeError as error:
        raise_syntax_error("JSON", error.msg[0].lower() + error.msg[1:], text, len(error.doc[: error.pos].encode()))
    except RecursionError:
        raise FileEditError("too deeply nested to be read") from None
    except ValueError as error:
        numbers = (match.start() for match in _INVALID_NUMBER.finditer(strict_text) if match[1])
        raise_syntax_error("JSON", str(error).partition(";")[0], text, next(numbers, 0))


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
