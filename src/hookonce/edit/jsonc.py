"""Entries in JSON files that belong to others, comments and trailing commas allowed.

Every function takes the file's bytes. What an edit does not touch keeps its bytes, and removing what was inserted
gives back the file as it was, unless somebody else has changed the same place meanwhile. Where a key stands twice, the
last one counts, as it does for the agents.
"""

import re
from collections.abc import Callable
from json import dumps
from typing import Any

from hookonce.edit.box import Box, append, cut, splice
from hookonce.edit.keys import Keys, held, matching, named, nested, shown
from hookonce.edit.page import Page, read
from hookonce.edit.refusal import BOM, Refusal
from hookonce.edit.span import Span, behind_comments
from hookonce.edit.style import render

# The end of an object that was made in an empty file: it goes away with its last member.
_FRESH_END = re.compile(rb" \r?\n")


def value_at(text: bytes, keys: Keys, default: Any = None) -> Any:
    """What stands at a place."""
    return held(read(text).value, keys, default)


def find(text: bytes, keys: Keys, predicate: Callable[[Any], bool]) -> list[Any]:
    """The indices, or keys, under which the array or object at a place holds what is looked for."""
    return matching(value_at(text, keys), predicate)


def insert_item(text: bytes, keys: Keys, value: Any) -> bytes:
    """Append an item to the array at a place; arrays and objects on the way are made where they are missing."""
    page = read(text)
    spans = page.walk(keys)
    missing = keys[len(spans) - 1 :]
    if missing:
        return _grown(page, spans[-1], missing, [value])
    page.expect("an array", spans[-1], keys)
    return _appended(page, spans[-1], b"", value)


def set_value(text: bytes, keys: Keys, value: Any) -> bytes:
    """Replace the value at a place, or make it there."""
    page = read(text)
    spans = page.walk(keys)
    missing = keys[len(spans) - 1 :]
    if missing:
        return _grown(page, spans[-1], missing, value)
    return _replaced(page, spans[-1], value)


def remove_item(text: bytes, keys: Keys, index: int) -> bytes:
    """Take an item out of the array at a place, with the arrays and objects that were made for it."""
    return _removed(text, (*keys, index))


def remove_key(text: bytes, keys: Keys) -> bytes:
    """Take the last key out of its object, with the objects that were made for it."""
    return _removed(text, keys)


def _grown(page: Page, span: Span, missing: Keys, value: Any) -> bytes:
    key = named(missing[0])
    name = dumps(key, ensure_ascii=not key.isprintable()).encode() + page.sheet.style.colon
    return _appended(page, span, name, nested(missing[1:], value))


def _appended(page: Page, span: Span, name: bytes, value: Any) -> bytes:
    sheet = page.sheet
    box = page.box(span)
    box = box._replace(stays=box.stays and not page.fresh)

    def new(indent: bytes, compact: bool) -> bytes:  # noqa: FBT001  called by position, from one place
        return name + render(value, sheet.style, indent, compact=compact)

    return splice(page.text, append(sheet, box, new))


def _replaced(page: Page, span: Span, value: Any) -> bytes:
    start, end = span
    before = page.plain[:start].replace(b"\r", b"\n").rpartition(b"\n")[2]
    indent = before[: len(before) - len(before.lstrip(b" \t"))]
    old = page.text[start:end]
    compact = page.sheet.style.flat or (b"\n" not in old and old[:1] in {b"{", b"["} and len(old) > len(b"{}"))
    return splice(page.text, [(start, end, render(value, page.sheet.style, indent, compact=compact))])


def _removed(text: bytes, keys: Keys) -> bytes:
    page = read(text)
    spans = page.walk(keys)
    if not keys or len(spans) <= len(keys):
        raise Refusal(f"there is nothing at {shown(keys)} to remove")
    steps = zip(reversed(spans[:-1]), reversed(spans[1:]), strict=True)
    cuts = ((holder, cut(page.sheet, box := page.box(holder), _index(box, inner))) for holder, inner in steps)
    holder, changes = next((holder, changes) for holder, changes in cuts if changes is not None)
    if holder == page.root and _was_fresh(page):
        return _without_root(page)
    return splice(text, changes)


def _index(box: Box, inner: Span) -> int:
    return next(index for index, (start, end) in enumerate(box.items) if start <= inner[0] < end)


def _was_fresh(page: Page) -> bool:
    """Whether the whole object was made by us, and has one member left."""
    start, end = page.root
    items = page.box(page.root).items
    if len(items) != 1 or page.text[:start] not in {b"", BOM} or behind_comments(page.plain, start, end) > start:
        return False
    return _FRESH_END.fullmatch(page.text, items[0][1], end - 1) is not None


def _without_root(page: Page) -> bytes:
    start, end = page.root
    return page.text[:start] + re.sub(rb"\A\r?\n", b"", page.text[end:])
