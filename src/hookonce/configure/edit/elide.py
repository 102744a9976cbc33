"""Elision of JSON members that an edit will not touch: many edits of a large file then cost as much as one.

The inside of a long member is replaced by a placeholder, and put back when all is done. An edit looks at the
line ends and the indentation around it and at the style of the file: where a placeholder would change these,
nothing is elided.
"""

import re
from collections.abc import Callable, Iterator
from secrets import token_hex
from typing import Any, NamedTuple

from hookonce.configure.edit.brackets import Span, apply_edits, trim_span
from hookonce.configure.edit.jsonc import JsoncDocument, parse_jsonc

_MIN_ELIDED_BYTES = 500  # bytes: less is sooner read than folded
_PLACEHOLDER = re.compile(rb'"folded [0-9a-f]{16} [0-9]+"(?::0)?')


class ElidedText(NamedTuple):
    """The text to edit, and the original bytes of each placeholder."""

    text: bytes
    originals: dict[bytes, bytes]


def elide_members(text: bytes, is_touched: Callable[[str, Any], bool]) -> ElidedText:
    """Elide the members of the outermost object, but for those that are going to be touched."""
    document = parse_jsonc(text)
    if type(document.value) is not dict or document.fresh:
        return ElidedText(text, {})
    token, originals, edits = token_hex(8).encode(), dict[bytes, bytes](), []
    for number, (start, end, ending) in enumerate(_find_elidable(document, is_touched)):
        placeholder = b'"folded %s %d"%s' % (token, number, ending)
        originals[placeholder] = text[start:end]
        edits.append((start, end, placeholder))
    short_text = apply_edits(text, edits)
    return (
        ElidedText(short_text, originals)
        if parse_jsonc(short_text).source.style == document.source.style
        else ElidedText(text, {})
    )


def restore_members(text: bytes, originals: dict[bytes, bytes]) -> bytes:
    """Put the original bytes of all placeholders back."""
    return _PLACEHOLDER.sub(lambda match: originals.get(match[0], match[0]), text)


def _find_elidable(document: JsoncDocument, is_touched: Callable[[str, Any], bool]) -> Iterator[tuple[int, int, bytes]]:
    """The spans that can be elided, and how a placeholder of their kind ends."""
    for key, span in document.members():
        if (
            span[1] - span[0] > _MIN_ELIDED_BYTES
            and document.kind(span) in _PLACEHOLDER_ENDINGS
            and not is_touched(key, document.value[key])
        ):
            inner = trim_span(document.mask, span[0] + 1, span[1] - 1)
            if inner[0] < inner[1] and _is_framed(document, span, inner):
                yield *inner, _PLACEHOLDER_ENDINGS[document.kind(span)]


_PLACEHOLDER_ENDINGS = {"an array": b"", "an object": b":0"}


def _is_framed(document: JsoncDocument, span: Span, inner: Span) -> bool:
    """Whether it is all in one line, or both brackets stand in lines of their own."""
    frame = document.plain[span[0] : inner[0]], document.plain[inner[1] : span[1]]
    return all(b"\n" in part for part in frame) or not re.search(rb"[\r\n]", document.text[slice(*span)])
