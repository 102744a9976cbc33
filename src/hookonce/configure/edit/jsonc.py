"""Byte-preserving editor of JSON and JSONC files, which belong to others.

Every function takes the file's bytes. What an edit does not touch keeps its bytes, and removing what was
inserted gives back the file as it was, unless somebody else has changed the same place meanwhile. Where a key
stands twice, the last one counts, as it does for the agents. `json` reads the text once comments and trailing
commas are blanked, so what is looked for afterwards is known to be valid.
"""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from json import JSONDecodeError, dumps, loads
from typing import Any, NoReturn

from hookonce.base.files import BOM, FileEditError, check_utf8, raise_syntax_error
from hookonce.configure.edit import brackets
from hookonce.configure.edit.brackets import BLANK_BYTES, BLOCK_MASK, LINE_MASK, STRING, Brackets, SourceText, Span
from hookonce.configure.edit.key_path import DocumentPath, format_path, nest_value, require_name, value_at_path

_COMMENT = re.compile(STRING + rb"|//[^\r\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_TRAILING_COMMA = re.compile(rb"(" + STRING + rb"|[\]}\w])([ \t\r\n]*+),(?=[ \t\r\n]*+[\]}])|" + STRING, re.DOTALL)
# Most files have neither, and are large enough for this to be felt.
_COMMENT_HINT, _TRAILING_COMMA_HINT = re.compile(rb"//|/\*"), re.compile(rb",[ \t\r\n]*+[\]}]")
_INVALID_NUMBER = re.compile(STRING + rb"|(-?Infinity|NaN|\d{4300,})", re.DOTALL)
_STRING = re.compile(STRING, re.DOTALL)
_COMMENTS_TO_SPACES = bytes.maketrans(BLOCK_MASK + LINE_MASK, b"  ")
_KINDS = {"{": "an object", "[": "an array", '"': "a string", "t": "a boolean", "f": "a boolean", "n": "null"}


@dataclass(frozen=True)
class JsoncDocument:
    """A parsed file. `fresh`: there was nothing in it, so an empty object was put in front."""

    text: bytes
    plain: bytes  # comments are masked
    strict_text: bytes  # no comments, no trailing commas
    value: Any
    fresh: bool = False

    @cached_property
    def mask(self) -> bytes:
        """The strict text with nothing in its strings; made for edits only, as it costs more than the parsing."""
        return _STRING.sub(lambda match: b"s" * len(match[0]), self.strict_text)

    @cached_property
    def root(self) -> Span:
        """The span of the outermost value."""
        return brackets.trim_span(self.mask, 0, len(self.mask))

    @cached_property
    def source(self) -> SourceText:
        """The text with masks and style, as the edits of brackets need it."""
        inner = self.plain[slice(*self.root)][1:-1]
        flat = bool(inner.strip(BLANK_BYTES)) and b"\n" not in inner and b"\r" not in inner
        style = (
            brackets.JsonStyle(brackets.newline_of(self.text))
            if self.fresh
            else brackets.style_of(self.plain, flat=flat)
        )
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
        return Brackets(*inner, brackets.item_spans(self.mask, *inner), array=array, stays=stays)

    def member_value(self, member: Span) -> Span:
        """The span of the value in the span of a member."""
        return brackets.trim_span(self.mask, self.mask.index(b":", member[0]) + 1, member[1])

    def kind(self, span: Span) -> str:
        """What stands there, in words."""
        return _KINDS.get(chr(self.text[span[0]]), "a number")

    def require_kind(self, kind: str, span: Span, keys: DocumentPath) -> None:
        """Raise FileEditError where a value of another kind stands."""
        if self.kind(span) != kind:
            raise FileEditError(f"{format_path(keys)} is {self.kind(span)}, not {kind}")

    def _has_comments(self, start: int) -> bool:
        before = self.plain[:start].rstrip(BLANK_BYTES)
        key = before.removesuffix(b":").rstrip(b" \t\r\n")
        return before.endswith(b":") and brackets.end_of_comments(self.plain, len(key) - 1, start) >= len(key)

    def _child_span(self, span: Span, key: str | int) -> Span | None:
        inner = self.brackets_at(span).items
        if isinstance(key, int):
            return inner[key] if 0 <= key < len(inner) else None
        for start, end in reversed(inner):
            colon = self.mask.index(b":", start)
            if loads(self.text[slice(*brackets.trim_span(self.mask, start, colon))]) == key:
                return self.member_value((start, end))
        return None


def parse_jsonc(text: bytes) -> JsoncDocument:
    """Parse a file; nothing but white space and comments counts as an empty object."""
    check_utf8("JSON", text)
    bom, rest = text[: len(BOM) * text.startswith(BOM)], text.removeprefix(BOM)
    plain = BLOCK_MASK * len(bom) + (_COMMENT.sub(_mask_comment, rest) if _COMMENT_HINT.search(rest) else rest)
    if not plain.strip(BLANK_BYTES):
        return replace(parse_jsonc(bom + b"{}" + brackets.newline_of(text) + rest), fresh=True)
    strict_text = plain.translate(_COMMENTS_TO_SPACES)
    if _TRAILING_COMMA_HINT.search(strict_text):
        strict_text = _TRAILING_COMMA.sub(
            lambda match: match[0] if match[1] is None else match[1] + match[2] + b" ", strict_text
        )
    return JsoncDocument(text, plain, strict_text, _load_json(text, strict_text))


def _mask_comment(match: re.Match[bytes]) -> bytes:
    comment = match[0]
    if comment.startswith(b"//"):
        return LINE_MASK * len(comment)
    closed = comment.startswith(b"/*") and comment.endswith(b"*/") and len(comment) >= len(b"/**/")
    return BLOCK_MASK * len(comment) if closed else comment


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
    raise ValueError(f"{name} is not a JSON number")


# The end of an object that was made in an empty file: it goes away with its last member.
_OWN_DOCUMENT_END = re.compile(rb" \r?\n")


def value_at(text: bytes, keys: DocumentPath, default: Any = None) -> Any:
    """The value at a path."""
    return value_at_path(parse_jsonc(text).value, keys, default)


def insert_item(text: bytes, keys: DocumentPath, value: Any) -> bytes:
    """Append an item to the array at a path; arrays and objects on the way are made where they are missing."""
    document = parse_jsonc(text)
    *_, span = spans = document.find_spans(keys)
    if missing := keys[len(spans) - 1 :]:
        return _add_missing(document, span, missing, [value])
    document.require_kind("an array", span, keys)
    return _append_value(document, span, b"", value)


def set_value(text: bytes, keys: DocumentPath, value: Any) -> bytes:
    """Replace the value at a path, or make it there."""
    document = parse_jsonc(text)
    *_, span = spans = document.find_spans(keys)
    if missing := keys[len(spans) - 1 :]:
        return _add_missing(document, span, missing, value)
    return _replace_value(document, span, value)


def _add_missing(document: JsoncDocument, span: Span, missing: DocumentPath, value: Any) -> bytes:
    key = require_name(missing[0])
    name = dumps(key, ensure_ascii=not key.isprintable()).encode() + document.source.style.colon
    return _append_value(document, span, name, nest_value(missing[1:], value))


def _append_value(document: JsoncDocument, span: Span, name: bytes, value: Any) -> bytes:
    source = document.source
    container = document.brackets_at(span)
    container = container._replace(stays=container.stays and not document.fresh)

    edits = brackets.edits_to_append(
        source,
        container,
        lambda indent, compact: name + brackets.render_json(value, source.style, indent, compact=compact),
    )
    return brackets.apply_edits(document.text, edits)


def _replace_value(document: JsoncDocument, span: Span, value: Any) -> bytes:
    before = document.plain[: span[0]].replace(b"\r", b"\n").rpartition(b"\n")[2]
    indent = before[: len(before) - len(before.lstrip(b" \t"))]
    old, style = document.text[slice(*span)], document.source.style
    compact = style.flat or (b"\n" not in old and old[:1] in {b"{", b"["} and len(old) > len(b"{}"))
    return brackets.apply_edits(document.text, [(*span, brackets.render_json(value, style, indent, compact=compact))])


def remove_path(text: bytes, keys: DocumentPath) -> bytes:
    """Remove the item or member at a path, with the arrays and objects that were made for it."""
    document = parse_jsonc(text)
    spans = document.find_spans(keys)
    if not keys or len(spans) <= len(keys):
        raise FileEditError(f"there is nothing at {format_path(keys)} to remove")
    for depth in reversed(range(len(keys))):  # from the inside out, as brackets that were made for an item go with it
        container, (offset, _) = document.brackets_at(spans[depth]), spans[depth + 1]
        index = next(index for index, (start, end) in enumerate(container.items) if start <= offset < end)
        if (edits := brackets.edits_to_remove(document.source, container, index)) is not None:
            break
    if depth == 0 and _is_own_document(document):
        start, end = document.root
        return text[:start] + re.sub(rb"\A\r?\n", b"", text[end:])
    return brackets.apply_edits(text, edits or [])


def _is_own_document(document: JsoncDocument) -> bool:
    """Whether the whole object was made by us, and has one member left."""
    (start, end), items = document.root, document.brackets_at(document.root).items
    has_comments = brackets.end_of_comments(document.plain, start, end) > start
    if len(items) != 1 or has_comments or document.text[:start] not in {b"", BOM}:
        return False
    return _OWN_DOCUMENT_END.fullmatch(document.text, items[0][1], end - 1) is not None
