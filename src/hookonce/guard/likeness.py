"""What makes two calls alike: tool, input and result without what changes from one time to the next.

An input is compared without numbers, times, ids and temporary paths. A result keeps its numbers, because a test run
that has two failures left is further than one that has three. What remains becomes a number, made with a key before
anything is left out for privacy: so it can be kept at every level, and tells nobody what it was made of.
"""

from collections.abc import Mapping
from hashlib import blake2b
from re import compile as pattern
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from hookonce.canon.arguments import ARGUMENTS
from hookonce.model import Event, Result, Tool
from hookonce.texts import dump

NAME = "likeness"  # in Event.data
_BYTES = 6  # a number that every JSON reader holds exactly
_HALF = 1024  # characters of a long text that are looked at on either end: somebody waits
_FEW = 8  # and its lines, or entries of a long list
_DIGEST = frozenset({"hash", "length", "lines"})
_PASSING = pattern(r"(?i)(?:time|date|stamp|duration|elapsed|_ms|_at|uuid|_id)\Z")  # names of values that always change

_CHANGES = (
    (pattern(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"), "@"),
    (pattern(r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:[A-Z][a-z]{2} {1,2}\d{1,2}|\d{1,2} [A-Z][a-z]{2})\b"), "@"),
    (pattern(r"\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?[AaPp][Mm])?\b"), "@"),
    (pattern(r"\b1\d{9}(?:\d{3}){0,3}(?:\.\d{1,9})?\b"), "@"),
    (pattern(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), "&"),
    (pattern(r"\b(?:0x)?(?=[a-f]{0,64}\d)(?=\d{0,64}[a-f])[0-9a-f]{7,64}\b"), "&"),
    (pattern(r"\b\d{1,9}(?:\.\d{1,9})? ?(?:ns|µs|us|ms|s|sec|secs|seconds?|minutes?)\b"), "~"),
)
_DIGIT = pattern(r"\d")
_TEMPORARY = pattern(r"(?i)(/tmp/|/var/folders/|\\temp\\)[^/\\\s'\"]+")
_NUMBER = pattern(r"(?<![\w.])[+-]?\d+(?:\.\d+)?(?![\w.])")  # standing alone: a name such as part2 stays itself


def marked(event: Event, key: bytes = b"") -> Event:
    """The event with the number of its input or result, to be taken before texts are left out."""
    number = mark(event, key)
    return event if number is None else replace(event, data=event.data | {NAME: number})


def mark(event: Event, key: bytes = b"") -> int | None:
    """The number of what a call was given, or of what it came to once it has; None for what is no call."""
    known = event.data.get(NAME)
    if type(known) is int:
        return known
    if event.tool is None:
        return None
    plain = _given(event.tool) if event.tool.result is None else _outcome(event.tool.result)
    return int.from_bytes(blake2b(dump(plain), digest_size=_BYTES, key=key[:64]).digest(), "big")


def _given(tool: Tool) -> Any:
    """Contents keep their numbers: to write 1 and to write 2 is not the same."""
    classes: Mapping[str, str] = ARGUMENTS.get(tool.name, {})
    plain = {name: _plain(value, numbers=classes.get(name) == "content") for name, value in tool.input.items()}
    return [tool.name, sorted(plain.items())]


def _outcome(result: Result) -> Any:
    return [
        result.ok,
        result.exit_code,
        _plain(to_builtins(result.error), numbers=True),
        _plain(result.output, numbers=True),
    ]


def _plain(value: Any, *, numbers: bool) -> Any:
    """The same tree without what changes; a text that was left out is known by its hash."""
    if type(value) is str:
        return _text(value, numbers=numbers)
    if type(value) is dict:
        if value.keys() >= _DIGEST:
            return [value["hash"]]
        told = [(key, item) for key, item in value.items() if _PASSING.search(key) is None]
        return sorted((key, _plain(item, numbers=numbers)) for key, item in told)
    if type(value) is list:
        ends = value if len(value) <= _FEW + _FEW else [len(value), *value[:_FEW], *value[-_FEW:]]
        return [_plain(item, numbers=numbers) for item in ends]
    if type(value) in (int, float) and not numbers:
        return "#"
    return value


def _text(text: str, *, numbers: bool) -> str:
    if len(text) > _HALF + _HALF:
        text = _ends(text)
    text = _TEMPORARY.sub(r"\1*", text)
    if _DIGIT.search(text) is None:
        return text
    for changing, sign in _CHANGES:
        text = changing.sub(sign, text)
    return text if numbers else _NUMBER.sub("#", text)


def _ends(text: str) -> str:
    """The first and the last lines of a long text, whole, so that a longer time does not shift what is compared."""
    first, last = text[:_HALF].splitlines()[:_FEW], text[-_HALF:].splitlines()[-_FEW:]
    return "\n".join([*first, "." * min(text.count("\n"), _HALF), *last])
