"""What a hook has said, without what it repeats of its call: a text that is not kept does not come into the log either.

A line goes as a whole if some characters in a row of it stand in a text that privacy leaves out of the record. Words
that are kept, such as commands and paths, may be repeated.
"""

from collections.abc import Iterator
from json import dumps
from typing import Any

from msgspec import ValidationError, convert, to_builtins

from hookonce.config import settings
from hookonce.model import Event, Record
from hookonce.store.redact import Level, redact
from hookonce.texts import load

_PIECE = 8  # characters in a row that are no accident
_SOME = 1 << 15  # characters of which every piece is compared
_MUCH = 1 << 20  # characters that are too many to be compared while others wait
LINE = "(a line that repeats what is not kept)"
WHOLE = "(left out, because it may repeat what is not kept)"


def unquoted(said: bytes, given: bytes, level: Level | None = None) -> bytes:
    """The lines of what was said that repeat nothing of what was given, as it came, that the level leaves out."""
    level = level or settings.privacy()
    if level == "full" or not said:
        return said
    if len(given) > _MUCH:
        return WHOLE.encode()
    lines = said.decode(errors="replace").splitlines()
    guilty = _guilty(lines, *_parted(given, level))
    return "\n".join(LINE if number in guilty else line for number, line in enumerate(lines)).encode(errors="replace")


def _parted(given: bytes, level: Level) -> tuple[set[str], str]:
    """The texts of a call that are left out of its record, and all that are kept, as one."""
    text = given.decode(errors="replace")
    try:
        tree = load(text)
    except (ValueError, RecursionError):
        return {text}, ""
    texts = set(_strings(tree))
    try:
        known = redact(Record(event=convert(tree, type=Event)), level, native=False)
    except (ValidationError, RecursionError):  # in the words of an agent: there nothing says what is kept
        return texts, ""
    kept = set(_strings(to_builtins(known.event)))
    return texts - kept, "\0".join(kept)


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


def _guilty(lines: list[str], texts: set[str], kept: str) -> set[int]:
    """The numbers of the lines in which a piece of one of these texts stands."""
    places: dict[str, set[int]] = {}
    for number, line in enumerate(lines):
        for at in range(len(line) - _PIECE + 1):
            places.setdefault(line[at : at + _PIECE], set()).add(number)
    step = 1 if sum(map(len, texts)) < _SOME else _PIECE
    pieces = (piece for text in texts for line in _written(text) for piece in _pieces(line, step) if piece in places)
    return {number for piece in pieces if piece not in kept for number in places[piece]}


def _written(text: str) -> list[str]:
    """The lines of a text, and as JSON spells them where that is another way."""
    lines = text.splitlines()
    return lines if text.isascii() else [*lines, *(dumps(line)[1:-1] for line in lines)]


def _pieces(line: str, step: int) -> Iterator[str]:
    """Pieces of a line, so many that whoever repeats twice a piece of it repeats one of them; all of a short one."""
    last = len(line) - _PIECE
    for at in range(0, last + 1, step if last >= _PIECE else 1):
        yield line[at : at + _PIECE]
    if last > 0:
        yield line[last:]
