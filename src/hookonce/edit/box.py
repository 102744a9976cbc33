"""Brackets with items between them: where to put one more, and how to take one out again.

Taking out what was put in gives back the same bytes, without a record of what was done. For that, one bit is kept in
white space that nobody sees. A new item in brackets that stood empty is followed by one space (the line break behind
it is ours) or by two (it was there before). Brackets that were made together with their item have no such mark, and
go away with it. The outermost brackets stay in any case, and so need only the second mark.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from hookonce.edit.span import BLOCK, LINE, Span, behind_comments
from hookonce.edit.style import Style

Splice = tuple[int, int, bytes]
Render = Callable[[bytes, bool], bytes]

_BLANK = b" \t\r\n"
_BREAK = rb"(?:\r\n|\r|\n)"
_MADE = re.compile(rb"(?:" + _BREAK + rb"[ \t]*)?")
_MARKED = re.compile(rb" (?:" + _BREAK + rb"[ \t]*)?")
_MARKED_TWICE = re.compile(rb"  [ \t]*[\r\n][ \t\r\n]*")
_COMMENT_IN_LINE = re.compile(rb"[ \t]*[" + BLOCK + LINE + rb"]")


class Box(NamedTuple):
    """`open` lies behind the opening bracket, `close` before the closing one; `stays`: even without items."""

    open: int
    close: int
    items: list[Span]
    array: bool
    stays: bool


class Sheet(NamedTuple):
    """The file, the same with masked comments, and its style."""

    text: bytes
    plain: bytes
    style: Style


def splice(text: bytes, changes: Iterable[Splice]) -> bytes:
    """The text with some spans replaced, in any order; all other bytes stay."""
    parts, done = [], 0
    for start, end, new in sorted(changes, key=lambda change: change[0]):
        parts += [text[done:start], new]
        done = end
    return b"".join([*parts, text[done:]])


def append(sheet: Sheet, box: Box, render: Render) -> list[Splice]:
    """Put an item behind the last one; `render` gets the indentation, and whether one line is wanted."""
    return _behind_last(sheet, box, render) if box.items else _into_empty(sheet, box, render)


def _behind_last(sheet: Sheet, box: Box, render: Render) -> list[Splice]:
    start, end = box.items[-1]
    comma = sheet.plain.find(b",", end, box.close)
    place = behind_comments(sheet.plain, max(end, comma + 1), box.close)
    lead = _lead(sheet, box, place)
    indent = lead.lstrip(b"\r\n") if lead.startswith((b"\r", b"\n")) else _indent(sheet, place)
    new = lead + render(indent, _is_compact(sheet.text[start:end], box, lead))
    if comma >= 0:
        return [(place, place, new + b",")]
    return [(end, end, b","), (place, place, new)]


def _lead(sheet: Sheet, box: Box, place: int) -> bytes:
    start = box.items[-1][0]
    if not sheet.plain[_line(sheet, start) : start].strip(b" \t" + BLOCK + LINE):
        return sheet.style.newline + _indent(sheet, start)
    if _ends_line(sheet, place):
        return sheet.style.newline + _indent(sheet, place) + sheet.style.unit
    if len(box.items) > 1:
        between = sheet.plain[box.items[-2][1] : start].partition(b",")[2]
        return sheet.style.gap if between.strip(b" \t") else between
    return sheet.style.gap


def _is_compact(last: bytes, box: Box, lead: bytes) -> bool:
    if b"\n" in last or b"\r" in last:
        return False
    in_line = not lead.startswith((b"\r", b"\n"))
    return in_line or (box.array and last.startswith((b"{", b"[")) and last not in {b"{}", b"[]"})


def _into_empty(sheet: Sheet, box: Box, render: Render) -> list[Splice]:
    style, indent = sheet.style, _indent(sheet, box.open)
    lead, tail = (b"", b"") if style.flat else (style.newline + indent + style.unit, style.newline + indent)
    item = lead + render(indent + style.unit, style.flat)
    place = behind_comments(sheet.plain, box.open, box.close)
    if sheet.plain[place : box.close].strip(b" \t"):
        return [(place, place, item + b"  ")]
    return [(box.close, box.close, item + (b"" if box.stays else b" ") + tail)]


def cut(sheet: Sheet, box: Box, index: int) -> list[Splice] | None:
    """Take an item out; None when the brackets were made for it and should go as well."""
    if len(box.items) == 1:
        return _cut_only(sheet, box)
    start, end = box.items[index]
    following = box.items[index + 1][0] if index + 1 < len(box.items) else box.close
    if index == 0 and behind_comments(sheet.plain, end, following) == end:
        return [(start, following, b"")]
    comma = sheet.plain.find(b",", end, following)
    if comma < 0:
        comma = sheet.plain.find(b",", box.items[index - 1][1], start)
    return _cut_item(sheet, start, end, comma)


def _cut_only(sheet: Sheet, box: Box) -> list[Splice] | None:
    start, end = box.items[0]
    lead = behind_comments(sheet.plain, box.open, start)
    tail = sheet.plain[end : box.close]
    if _MARKED_TWICE.fullmatch(tail):
        return [_clear(sheet, lead, end + 2)]
    made = _MADE.fullmatch(tail)
    if _MARKED.fullmatch(tail) or (made and box.stays):
        return [_clear(sheet, _last_break(sheet.plain, lead, start), box.close)]
    if made and lead == box.open:
        return None
    return _cut_item(sheet, start, end, sheet.plain.find(b",", end, box.close))


def _cut_item(sheet: Sheet, start: int, end: int, comma: int) -> list[Splice]:
    after = max(end, comma + 1)
    if _COMMENT_IN_LINE.match(sheet.plain, after) or _COMMENT_IN_LINE.match(sheet.plain, end):
        lead = start  # the comment keeps its line
    else:
        lead = len(sheet.plain[:start].rstrip(_BLANK))
    if comma < 0:
        return [_clear(sheet, lead, end)]
    if comma == end:
        return [_clear(sheet, lead, after)]
    return [(comma, comma + 1, b""), _clear(sheet, lead, end)]


def _clear(sheet: Sheet, start: int, end: int) -> Splice:
    """Nothing in place of a span; but a comment to the end of its line keeps that line end."""
    if _ends_line(sheet, start) and sheet.plain[end : end + 1] not in {b"\r", b"\n"}:
        start += 2 if sheet.plain[start : start + 2] == b"\r\n" else 1
    return (start, end, b"")


def _ends_line(sheet: Sheet, place: int) -> bool:
    return sheet.plain[place - 1 : place] == LINE


def _last_break(plain: bytes, start: int, end: int) -> int:
    place = max(plain.rfind(b"\n", start, end), plain.rfind(b"\r", start, end))
    if place < 0:
        return end
    return place - 1 if plain[max(start, place - 1) : place + 1] == b"\r\n" else place


def _line(sheet: Sheet, place: int) -> int:
    return max(sheet.plain.rfind(b"\n", 0, place), sheet.plain.rfind(b"\r", 0, place)) + 1


def _indent(sheet: Sheet, place: int) -> bytes:
    line = sheet.plain[_line(sheet, place) : place]
    return line[: len(line) - len(line.lstrip(b" \t"))]
