"""Brackets with items between them: the edits that append an item in the file's style, and that remove it again.

They work on a text whose comments and strings are masked, so that brackets are brackets. Removing what was
appended gives back the same bytes, without a record of what was done. For that, one bit is stored in white space
that nobody sees. A new item in brackets that stood empty is followed by one space (the line break behind it is
ours) or by two (it was there before). Brackets that were made together with their item have no such mark, and go
away with it. The outermost brackets stay in any case, and so need only the second mark.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from json import dumps
from typing import Any, NamedTuple

Span = tuple[int, int]

_STRUCTURE = {separator: re.compile(rb"([\[{])|([\]}])|" + separator) for separator in (b",", b"\n")}
# Comments are masked with bytes that occur in no UTF-8: one kind ends anywhere, the other with its line.
BLOCK_MASK, LINE_MASK = b"\xfe", b"\xff"
BLANK_BYTES = b" \t\r\n" + BLOCK_MASK + LINE_MASK


def trim_span(mask: bytes, start: int, end: int) -> Span:
    """A span without the white space and comments around it."""
    inner = mask[start:end].rstrip(BLANK_BYTES)
    return start + len(inner) - len(inner.lstrip(BLANK_BYTES)), start + len(inner)


def split_spans(mask: bytes, separator: bytes, start: int, end: int) -> Iterator[Span]:
    """The spans between separators that stand outside of brackets; the last one may be empty."""
    depth = 0
    for match in _STRUCTURE[separator].finditer(mask, start, end):
        if match.lastindex:
            depth += 1 if match.lastindex == 1 else -1
        elif not depth:
            yield start, match.start()
            start = match.end()
    yield start, end


def item_spans(mask: bytes, start: int, end: int) -> list[Span]:
    """The spans between commas; nothing stands behind a trailing one."""
    spans = [trim_span(mask, *span) for span in split_spans(mask, b",", start, end)]
    return [span for span in spans if span[0] < span[1]]


def end_of_comments(mask: bytes, start: int, end: int) -> int:
    """The end of the last comment in a span; the start of the span, if it has none."""
    return max(start, mask.rfind(BLOCK_MASK, start, end) + 1, mask.rfind(LINE_MASK, start, end) + 1)


# Also one that never ends, so that a broken file is not searched again from each of its quotes.
STRING = rb'"(?:[^"\\]|\\.)*+"?'

_COLON = re.compile(STRING + rb"(?:([ \t]*:[ \t]*)(?=[^ \t\r\n\xfe\xff]))?", re.DOTALL)
_FIRST_INDENT = re.compile(rb"(?m)^([ \t]*)[^\r\n]*[\[{][ \t\r\n\xfe\xff]*[\r\n]([ \t]*)[^ \t\r\n\xfe\xff\]}]")
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
    indents = (match.groups() for match in _FIRST_INDENT.finditer(plain))
    unit = next((inner.removeprefix(outer) for outer, inner in indents if inner.startswith(outer)), b"  ")
    colon = next((match[1] for match in _COLON.finditer(plain) if match[1]), b": ")
    return JsonStyle(newline_of(plain), unit, colon if len(colon) <= _MAX_COLON_BYTES else b": ", flat)


def newline_of(text: bytes) -> bytes:
    """The first line end decides."""
    end = text.find(b"\n")
    return b"\r\n" if end > 0 and text[end - 1 : end] == b"\r" else b"\n"


def render_json(value: Any, style: JsonStyle, indent: bytes, *, compact: bool) -> bytes:
    """Render a value as JSON; the lines after the first begin with `indent`."""
    unit, separators = (
        None if compact else style.unit.decode(),
        ("," + style.gap.decode() * compact, style.colon.decode()),
    )
    try:
        text = dumps(value, ensure_ascii=False, allow_nan=False, indent=unit, separators=separators).encode()
    except UnicodeEncodeError:  # lone surrogates, which JavaScript writes
        text = dumps(value, allow_nan=False, indent=unit, separators=separators).encode()
    return text if compact else text.replace(b"\n", style.newline + indent)


TextEdit = tuple[int, int, bytes]
ItemRenderer = Callable[[bytes, bool], bytes]

_WHITESPACE = b" \t\r\n"
_LINE_BREAK = rb"(?:\r\n|\r|\n)"
_UNMARKED_TAIL = re.compile(rb"(?:" + _LINE_BREAK + rb"[ \t]*)?")
_ONE_SPACE_TAIL = re.compile(rb" (?:" + _LINE_BREAK + rb"[ \t]*)?")
_TWO_SPACE_TAIL = re.compile(rb"  [ \t]*[\r\n][ \t\r\n]*")
_COMMENT_IN_LINE = re.compile(rb"[ \t]*[" + BLOCK_MASK + LINE_MASK + rb"]")


class Brackets(NamedTuple):
    """A bracketed list: `open` lies behind the opening bracket, `close` before the closing one."""

    open: int
    close: int
    items: list[Span]
    array: bool
    stays: bool  # even when empty


class SourceText(NamedTuple):
    """The text of a file, the same with masked comments, and its style."""

    text: bytes
    plain: bytes
    style: JsonStyle


def apply_edits(text: bytes, edits: Iterable[TextEdit]) -> bytes:
    """Replace some spans of a text, in any order; all other bytes stay."""
    parts, position = [], 0
    for start, end, replacement in sorted(edits, key=lambda edit: edit[0]):
        parts += [text[position:start], replacement]
        position = end
    return b"".join([*parts, text[position:]])


def edits_to_append(source: SourceText, brackets: Brackets, render: ItemRenderer) -> list[TextEdit]:
    """The edits that put an item behind the last one; `render` gets the indentation, and whether one line is wanted."""
    if not brackets.items:
        return _append_to_empty(source, brackets, render)
    start, end = brackets.items[-1]
    comma = source.plain.find(b",", end, brackets.close)
    offset = end_of_comments(source.plain, max(end, comma + 1), brackets.close)
    lead = _leading_space(source, brackets, offset)
    indent = lead.lstrip(b"\r\n") if lead.startswith((b"\r", b"\n")) else _line_indent(source, offset)
    item_text = lead + render(indent, _is_compact(source.text[start:end], brackets, lead))
    if comma >= 0:
        return [(offset, offset, item_text + b",")]
    return [(end, end, b","), (offset, offset, item_text)]


def _leading_space(source: SourceText, brackets: Brackets, offset: int) -> bytes:
    start = brackets.items[-1][0]
    if not source.plain[_line_start(source, start) : start].strip(b" \t" + BLOCK_MASK + LINE_MASK):
        return source.style.newline + _line_indent(source, start)
    if _ends_line(source, offset):
        return source.style.newline + _line_indent(source, offset) + source.style.unit
    if len(brackets.items) > 1:
        between = source.plain[brackets.items[-2][1] : start].partition(b",")[2]
        return source.style.gap if between.strip(b" \t") else between
    return source.style.gap


def _is_compact(last: bytes, brackets: Brackets, lead: bytes) -> bool:
    if b"\n" in last or b"\r" in last:
        return False
    in_line = not lead.startswith((b"\r", b"\n"))
    return in_line or (brackets.array and last.startswith((b"{", b"[")) and last not in {b"{}", b"[]"})


def _append_to_empty(source: SourceText, brackets: Brackets, render: ItemRenderer) -> list[TextEdit]:
    style, indent = source.style, _line_indent(source, brackets.open)
    lead, tail = (b"", b"") if style.flat else (style.newline + indent + style.unit, style.newline + indent)
    item = lead + render(indent + style.unit, style.flat)
    offset = end_of_comments(source.plain, brackets.open, brackets.close)
    if source.plain[offset : brackets.close].strip(b" \t"):
        return [(offset, offset, item + b"  ")]
    return [(brackets.close, brackets.close, item + (b"" if brackets.stays else b" ") + tail)]


def edits_to_remove(source: SourceText, brackets: Brackets, index: int) -> list[TextEdit] | None:
    """The edits that remove an item; None when the brackets were made for it and should go as well."""
    if len(brackets.items) == 1:
        return _remove_only_item(source, brackets)
    start, end = brackets.items[index]
    next_start = brackets.items[index + 1][0] if index + 1 < len(brackets.items) else brackets.close
    if index == 0 and end_of_comments(source.plain, end, next_start) == end:
        return [(start, next_start, b"")]
    comma = source.plain.find(b",", end, next_start)
    if comma < 0:
        comma = source.plain.find(b",", brackets.items[index - 1][1], start)
    return _remove_item_span(source, start, end, comma)


def _remove_only_item(source: SourceText, brackets: Brackets) -> list[TextEdit] | None:
    start, end = brackets.items[0]
    lead = end_of_comments(source.plain, brackets.open, start)
    tail = source.plain[end : brackets.close]
    if _TWO_SPACE_TAIL.fullmatch(tail):
        return [_delete_span(source, lead, end + 2)]
    unmarked_tail = _UNMARKED_TAIL.fullmatch(tail)
    if _ONE_SPACE_TAIL.fullmatch(tail) or (unmarked_tail and brackets.stays):
        return [_delete_span(source, _last_line_break(source.plain, lead, start), brackets.close)]
    if unmarked_tail and lead == brackets.open:
        return None
    return _remove_item_span(source, start, end, source.plain.find(b",", end, brackets.close))


def _remove_item_span(source: SourceText, start: int, end: int, comma: int) -> list[TextEdit]:
    after = max(end, comma + 1)
    if _COMMENT_IN_LINE.match(source.plain, after) or _COMMENT_IN_LINE.match(source.plain, end):
        lead = start  # the comment keeps its line
    else:
        lead = len(source.plain[:start].rstrip(_WHITESPACE))
    if comma < 0:
        return [_delete_span(source, lead, end)]
    if comma == end:
        return [_delete_span(source, lead, after)]
    return [(comma, comma + 1, b""), _delete_span(source, lead, end)]


def _delete_span(source: SourceText, start: int, end: int) -> TextEdit:
    """A comment to the end of its line keeps that line end."""
    if _ends_line(source, start) and source.plain[end : end + 1] not in {b"\r", b"\n"}:
        start += 2 if source.plain[start : start + 2] == b"\r\n" else 1
    return (start, end, b"")


def _ends_line(source: SourceText, offset: int) -> bool:
    return source.plain[offset - 1 : offset] == LINE_MASK


def _last_line_break(plain: bytes, start: int, end: int) -> int:
    offset = max(plain.rfind(b"\n", start, end), plain.rfind(b"\r", start, end))
    if offset < 0:
        return end
    return offset - 1 if plain[max(start, offset - 1) : offset + 1] == b"\r\n" else offset


def _line_start(source: SourceText, offset: int) -> int:
    return max(source.plain.rfind(b"\n", 0, offset), source.plain.rfind(b"\r", 0, offset)) + 1


def _line_indent(source: SourceText, offset: int) -> bytes:
    line = source.plain[_line_start(source, offset) : offset]
    return line[: len(line) - len(line.lstrip(b" \t"))]
