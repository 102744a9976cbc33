"""Brackets with items between them: the edits that append an item, and those that remove it byte for byte.

They work on a text whose comments and strings are masked, so that brackets are brackets. Removing what was
appended gives back the same bytes, without a record of what was done. For that, one bit is stored in white space
that nobody sees. A new item in brackets that stood empty is followed by one space (the line break behind it is
ours) or by two (it was there before). Brackets that were made together with their item have no such mark, and go
away with it. The outermost brackets stay in any case, and so need only the second mark.
"""

import re
from collections.abc import Iterator

Span = tuple[int, int]

_STRUCTURE = re.compile(rb"[\[{]|[\]}]|[\n,]")
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
    for match in _STRUCTURE.finditer(mask, start, end):
        depth += (match[0] in b"[{") - (match[0] in b"]}")
        if match[0] == separator and not depth:
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
