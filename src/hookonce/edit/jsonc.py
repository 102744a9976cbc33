"""Entries in JSON files that belong to others, comments and trailing commas allowed.

Every function takes the file's bytes. What an edit does not touch keeps its bytes, and removing what was inserted
gives back the file as it was, unless somebody else has changed the same place meanwhile. Where a key stands twice, the
last one counts, as it does for the agents.
"""

import re
from collections.abc import Callable
from json import dumps
from typing import Any

from hookonce.edit.box import Brackets, edits_to_append, edits_to_remove, apply_edits
from hookonce.edit.keys import DocumentPath, value_at_path, matching_keys, require_name, nest_value, format_path
from hookonce.edit.page import JsoncDocument, parse_jsonc
from hookonce.edit.refusal import BOM, FileEditError
from hookonce.edit.span import Span, end_of_comments
from hookonce.edit.style import render_json

# The end of an object that was made in an empty file: it goes away with its last member.
_OWN_DOCUMENT_END = re.compile(rb" \r?\n")


def value_at(text: bytes, keys: DocumentPath, default: Any = None) -> Any:
    """The value at a path."""
    return value_at_path(parse_jsonc(text).value, keys, default)


def find(text: bytes, keys: DocumentPath, predicate: Callable[[Any], bool]) -> list[Any]:
    """The indices, or keys, of the array or object at a path whose values fit."""
    return matching_keys(value_at(text, keys), predicate)


def insert_item(text: bytes, keys: DocumentPath, value: Any) -> bytes:
    """Append an item to the array at a path; arrays and objects on the way are made where they are missing."""
    document = parse_jsonc(text)
    spans = document.find_spans(keys)
    missing = keys[len(spans) - 1 :]
    if missing:
        return _add_missing(document, spans[-1], missing, [value])
    document.require_kind("an array", spans[-1], keys)
    return _append_value(document, spans[-1], b"", value)


def set_value(text: bytes, keys: DocumentPath, value: Any) -> bytes:
    """Replace the value at a path, or make it there."""
    document = parse_jsonc(text)
    spans = document.find_spans(keys)
    missing = keys[len(spans) - 1 :]
    if missing:
        return _add_missing(document, spans[-1], missing, value)
    return _replace_value(document, spans[-1], value)


def remove_item(text: bytes, keys: DocumentPath, index: int) -> bytes:
    """Remove an item of the array at a path, with the arrays and objects that were made for it."""
    return _remove_path(text, (*keys, index))


def remove_key(text: bytes, keys: DocumentPath) -> bytes:
    """Remove the last key of a path from its object, with the objects that were made for it."""
    return _remove_path(text, keys)


def _add_missing(document: JsoncDocument, span: Span, missing: DocumentPath, value: Any) -> bytes:
    key = require_name(missing[0])
    name = dumps(key, ensure_ascii=not key.isprintable()).encode() + document.source.style.colon
    return _append_value(document, span, name, nest_value(missing[1:], value))


def _append_value(document: JsoncDocument, span: Span, name: bytes, value: Any) -> bytes:
    source = document.source
    brackets = document.brackets_at(span)
    brackets = brackets._replace(stays=brackets.stays and not document.fresh)

    def render_item(indent: bytes, compact: bool) -> bytes:  # noqa: FBT001  called by position, from one place
        return name + render_json(value, source.style, indent, compact=compact)

    return apply_edits(document.text, edits_to_append(source, brackets, render_item))


def _replace_value(document: JsoncDocument, span: Span, value: Any) -> bytes:
    start, end = span
    before = document.plain[:start].replace(b"\r", b"\n").rpartition(b"\n")[2]
    indent = before[: len(before) - len(before.lstrip(b" \t"))]
    old = document.text[start:end]
    compact = document.source.style.flat or (b"\n" not in old and old[:1] in {b"{", b"["} and len(old) > len(b"{}"))
    return apply_edits(document.text, [(start, end, render_json(value, document.source.style, indent, compact=compact))])


def _remove_path(text: bytes, keys: DocumentPath) -> bytes:
    document = parse_jsonc(text)
    spans = document.find_spans(keys)
    if not keys or len(spans) <= len(keys):
        raise FileEditError(f"there is nothing at {format_path(keys)} to remove")
    steps = zip(reversed(spans[:-1]), reversed(spans[1:]), strict=True)
    removals = ((holder, edits_to_remove(document.source, brackets := document.brackets_at(holder), _item_index(brackets, inner))) for holder, inner in steps)
    holder, edits = next((holder, edits) for holder, edits in removals if edits is not None)
    if holder == document.root and _is_own_document(document):
        return _remove_root(document)
    return apply_edits(text, edits)


def _item_index(brackets: Brackets, inner: Span) -> int:
    return next(index for index, (start, end) in enumerate(brackets.items) if start <= inner[0] < end)


def _is_own_document(document: JsoncDocument) -> bool:
    """Whether the whole object was made by us, and has one member left."""
    start, end = document.root
    items = document.brackets_at(document.root).items
    if len(items) != 1 or document.text[:start] not in {b"", BOM} or end_of_comments(document.plain, start, end) > start:
        return False
    return _OWN_DOCUMENT_END.fullmatch(document.text, items[0][1], end - 1) is not None


def _remove_root(document: JsoncDocument) -> bytes:
    start, end = document.root
    return document.text[:start] + re.sub(rb"\A\r?\n", b"", document.text[end:])
