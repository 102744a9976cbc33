"""Spans of a text in which comments, strings and other traps have been masked, so that brackets are brackets."""

import re
from collections.abc import Iterator

Span = tuple[int, int]

_STRUCTURE = re.compile(rb"[\[{]|[\]}]|[\n,]")
# Comments are masked with bytes that occur in no UTF-8: one kind ends anywhere, the other with its line.
BLOCK, LINE = b"\xfe", b"\xff"
NOTHING = b" \t\r\n" + BLOCK + LINE


def bare(mask: bytes, start: int, end: int) -> Span:
    """A span without white space and comments around it."""
    inner = mask[start:end].rstrip(NOTHING)
    return start + len(inner) - len(inner.lstrip(NOTHING)), start + len(inner)


def split(mask: bytes, separator: bytes, start: int, end: int) -> Iterator[Span]:
    """The spans between separators that stand outside of brackets; the last one may be empty."""
    depth = 0
    for match in _STRUCTURE.finditer(mask, start, end):
        depth += (match[0] in b"[{") - (match[0] in b"]}")
        if match[0] == separator and not depth:
            yield start, match.start()
            start = match.end()
    yield start, end


def items(mask: bytes, start: int, end: int) -> list[Span]:
    """What stands between commas; nothing stands behind a trailing one."""
    spans = [bare(mask, *span) for span in split(mask, b",", start, end)]
    return [span for span in spans if span[0] < span[1]]


def behind_comments(mask: bytes, start: int, end: int) -> int:
    """Where the last comment in a span ends; its start, if it has none."""
    return max(start, mask.rfind(BLOCK, start, end) + 1, mask.rfind(LINE, start, end) + 1)
