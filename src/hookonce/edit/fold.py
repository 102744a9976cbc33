"""A JSON file without the bulk of what will not be touched: many edits of a large file then cost as much as one.

The inside of a long member is replaced by a stand-in, and put back when all is done. An edit looks at the line ends and
the indentation around it and at the style of the file: where a stand-in would change these, nothing is folded.
"""

import re
from collections.abc import Callable, Iterator
from secrets import token_hex
from typing import Any, NamedTuple

from hookonce.edit.box import splice
from hookonce.edit.page import Page, read
from hookonce.edit.span import Span, bare

_WORTH = 500  # bytes: less is sooner read than folded
_STAND_IN = re.compile(rb'"folded [0-9a-f]{16} [0-9]+"(?::0)?')


class Folded(NamedTuple):
    """The text to edit, and what its stand-ins stand for."""

    text: bytes
    kept: dict[bytes, bytes]


def folded(text: bytes, touched: Callable[[str, Any], bool]) -> Folded:
    """The file with the members of its outermost object folded, but for those that are going to be touched."""
    page = read(text)
    if type(page.value) is not dict or page.fresh:
        return Folded(text, {})
    mark, kept, changes = token_hex(8).encode(), dict[bytes, bytes](), []
    for number, (start, end, ending) in enumerate(_insides(page, touched)):
        name = b'"folded %s %d"%s' % (mark, number, ending)
        kept[name] = text[start:end]
        changes.append((start, end, name))
    short = splice(text, changes)
    return Folded(short, kept) if read(short).sheet.style == page.sheet.style else Folded(text, {})


def unfolded(text: bytes, kept: dict[bytes, bytes]) -> bytes:
    """The file with everything in its place again."""
    return _STAND_IN.sub(lambda match: kept.get(match[0], match[0]), text)


def _insides(page: Page, touched: Callable[[str, Any], bool]) -> Iterator[tuple[int, int, bytes]]:
    """What can be folded, and how a stand-in of its kind ends."""
    for key, span in page.members():
        if span[1] - span[0] > _WORTH and page.kind(span) in _ENDINGS and not touched(key, page.value[key]):
            inner = bare(page.mask, span[0] + 1, span[1] - 1)
            if inner[0] < inner[1] and _is_framed(page, span, inner):
                yield *inner, _ENDINGS[page.kind(span)]


_ENDINGS = {"an array": b"", "an object": b":0"}


def _is_framed(page: Page, span: Span, inner: Span) -> bool:
    """Whether it is all in one line, or both brackets stand in lines of their own."""
    frame = page.plain[span[0] : inner[0]], page.plain[inner[1] : span[1]]
    return all(b"\n" in part for part in frame) or not re.search(rb"[\r\n]", page.text[slice(*span)])
