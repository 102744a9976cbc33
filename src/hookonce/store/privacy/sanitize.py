"""Output sanitizer: removes lines of a hook's output that quote texts which privacy leaves out of the record.

A line is removed as a whole if some characters in a row of it occur in such a text. Words that are kept, such as
commands and paths, may be repeated.
"""

from collections.abc import Iterator
from json import dumps
from typing import Any

from msgspec import ValidationError, convert, to_builtins

from hookonce.base import settings
from hookonce.base.jsontext import load
from hookonce.model import Event, Record
from hookonce.store.privacy.redact import Level, redact

_MATCH_CHARS = 8  # characters in a row that are no accident
_FULL_COMPARE_CHARS = 1 << 15  # characters of which every piece is compared
_MAX_PAYLOAD_BYTES = 1 << 20  # characters that are too many to be compared while others wait
LINE_NOTE = "(a line that repeats what is not kept)"
OUTPUT_NOTE = "(left out, because it may repeat what is not kept)"


def sanitize_output(output: bytes, payload: bytes, level: Level | None = None) -> bytes:
    """Replace the lines of `output` that repeat parts of `payload` that the privacy level leaves out."""
    level = level or settings.load().privacy
    if level == "full" or not output:
        return output
    if len(payload) > _MAX_PAYLOAD_BYTES:
        return OUTPUT_NOTE.encode()
    lines = output.decode(errors="replace").splitlines()
    quoting_lines = _find_quoting_lines(lines, *_split_texts(payload, level))
    clean_lines = (LINE_NOTE if number in quoting_lines else line for number, line in enumerate(lines))
    return "\n".join(clean_lines).encode(errors="replace")


def _split_texts(payload: bytes, level: Level) -> tuple[set[str], str]:
    """Texts that redaction leaves out, and all that it keeps, joined."""
    text = payload.decode(errors="replace")
    try:
        tree = load(text)
    except (ValueError, RecursionError):
        return {text}, ""
    texts = set(_strings(tree))
    try:
        redacted_record = redact(Record(event=convert(tree, type=Event)), level, native=False, keeps_addresses=True)
    except (ValidationError, RecursionError):  # in the words of an agent: there nothing says what is kept
        return texts, ""
    kept_texts = set(_strings(to_builtins(redacted_record.event)))
    return texts - kept_texts, "\0".join(kept_texts)


def _strings(value: Any) -> Iterator[str]:
    if type(value) is str:
        yield value
    elif type(value) is list:
        for item in value:
            yield from _strings(item)
    elif type(value) is dict:
        for key, item in value.items():
            yield key
            yield from _strings(item)


def _find_quoting_lines(lines: list[str], texts: set[str], kept_text: str) -> set[int]:
    lines_by_piece: dict[str, set[int]] = {}
    for number, line in enumerate(lines):
        for offset in range(len(line) - _MATCH_CHARS + 1):
            lines_by_piece.setdefault(line[offset : offset + _MATCH_CHARS], set()).add(number)
    step = 1 if sum(map(len, texts)) < _FULL_COMPARE_CHARS else _MATCH_CHARS
    pieces = {piece for text in texts for line in _spellings(text) for piece in _iter_pieces(line, step)}
    pieces &= lines_by_piece.keys()
    return {number for piece in pieces if piece not in kept_text for number in lines_by_piece[piece]}


def _spellings(text: str) -> list[str]:
    """The lines of a text, also as JSON escapes them."""
    lines = text.splitlines()
    return lines if text.isascii() else [*lines, *(dumps(line)[1:-1] for line in lines)]


def _iter_pieces(line: str, step: int) -> Iterator[str]:
    """Enough pieces that whoever repeats twice a piece of a line repeats one of them."""
    last = len(line) - _MATCH_CHARS
    for offset in range(0, last + 1, step if last >= _MATCH_CHARS else 1):
        yield line[offset : offset + _MATCH_CHARS]
    if last > 0:
        yield line[last:]
