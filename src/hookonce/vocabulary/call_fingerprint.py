"""Call fingerprint: a keyed hash of a call's tool, input or result without parts that change each time.

An input is compared without numbers, times, ids and temporary paths. A result keeps its numbers: a test run that
has two failures left is further than one that has three. The hash is taken before redaction, so it can be kept at
every level, and tells nobody what it was made of.
"""

from collections.abc import Mapping
from hashlib import blake2b
from re import compile as pattern
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from hookonce.base.jsontext import dump
from hookonce.base.regex import lazy_pattern
from hookonce.model import Event, Result, Tool
from hookonce.vocabulary.tools import ARGUMENTS

FINGERPRINT_FIELD = "likeness"  # in Event.data
_FINGERPRINT_BYTES = 6  # a number that every JSON reader holds exactly
_TEXT_END_CHARS = 1024  # characters of a long text that are looked at on either end: somebody waits
_MAX_END_ITEMS = 8  # and its lines, or entries of a long list
_DIGEST_FIELDS = frozenset({"hash", "length", "lines"})
# Names of values that always change.
_VOLATILE_NAME = lazy_pattern(r"(?i)(?:time|date|stamp|duration|elapsed|_ms|_at|uuid|_id)\Z")

_VOLATILE_PATTERNS = (
    (pattern(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"), "@"),
    (pattern(r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:[A-Z][a-z]{2} {1,2}\d{1,2}|\d{1,2} [A-Z][a-z]{2})\b"), "@"),
    (pattern(r"\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?[AaPp][Mm])?\b"), "@"),
    (pattern(r"\b1\d{9}(?:\d{3}){0,3}(?:\.\d{1,9})?\b"), "@"),
    (pattern(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), "&"),
    (pattern(r"\b(?:0x)?(?=[a-f]{0,64}\d)(?=\d{0,64}[a-f])[0-9a-f]{7,64}\b"), "&"),
    (pattern(r"\b\d{1,9}(?:\.\d{1,9})? ?(?:ns|µs|us|ms|s|sec|secs|seconds?|minutes?)\b"), "~"),
)
_DIGIT = lazy_pattern(r"\d")
_TEMPORARY_PATH = lazy_pattern(r"(?i)(/tmp/|/var/folders/|\\temp\\)[^/\\\s'\"]+")
_NUMBER = lazy_pattern(r"(?<![\w.])[+-]?\d+(?:\.\d+)?(?![\w.])")  # standing alone: a name such as part2 stays itself


def add_fingerprint(event: Event, key: bytes = b"") -> Event:
    """The event with its fingerprint in `data`; to be called before redaction."""
    fingerprint = fingerprint_call(event, key)
    return event if fingerprint is None else replace(event, data=event.data | {FINGERPRINT_FIELD: fingerprint})


def fingerprint_call(event: Event, key: bytes = b"") -> int | None:
    """Fingerprint of a call's input, or of its result once it has one; None for what is no call."""
    fingerprint = event.data.get(FINGERPRINT_FIELD)
    if type(fingerprint) is int:
        return fingerprint
    if event.tool is None:
        return None
    normal_form = _normalize_input(event.tool) if event.tool.result is None else _normalize_result(event.tool.result)
    return int.from_bytes(blake2b(dump(normal_form), digest_size=_FINGERPRINT_BYTES, key=key[:64]).digest(), "big")


def _normalize_input(tool: Tool) -> Any:
    """Contents keep their numbers: to write 1 and to write 2 is not the same."""
    classes: Mapping[str, str] = ARGUMENTS.get(tool.name, {})
    arguments = tool.input.items()
    values = [(name, _normalize_value(value, keep_numbers=classes.get(name) == "content")) for name, value in arguments]
    return [tool.name, sorted(values)]


def _normalize_result(result: Result) -> Any:
    texts = [_normalize_value(value, keep_numbers=True) for value in (to_builtins(result.error), result.output)]
    return [result.ok, result.exit_code, *texts]


def _normalize_value(value: Any, *, keep_numbers: bool) -> Any:
    """A digest is known by its hash."""
    if type(value) is str:
        return _normalize_text(value, keep_numbers=keep_numbers)
    if type(value) is dict:
        if value.keys() >= _DIGEST_FIELDS:
            return [value["hash"]]
        stable_items = [(key, item) for key, item in value.items() if _VOLATILE_NAME.search(key) is None]
        return sorted((key, _normalize_value(item, keep_numbers=keep_numbers)) for key, item in stable_items)
    if type(value) is list:
        if len(value) > _MAX_END_ITEMS + _MAX_END_ITEMS:
            value = [len(value), *value[:_MAX_END_ITEMS], *value[-_MAX_END_ITEMS:]]
        return [_normalize_value(item, keep_numbers=keep_numbers) for item in value]
    if type(value) in (int, float) and not keep_numbers:
        return "#"
    return value


def _normalize_text(text: str, *, keep_numbers: bool) -> str:
    if len(text) > _TEXT_END_CHARS + _TEXT_END_CHARS:
        text = _text_ends(text)
    text = _TEMPORARY_PATH.sub(r"\1*", text)
    if _DIGIT.search(text) is None:
        return text
    for volatile, sign in _VOLATILE_PATTERNS:
        text = volatile.sub(sign, text)
    return text if keep_numbers else _NUMBER.sub("#", text)


def _text_ends(text: str) -> str:
    """Whole lines, so that a longer time does not shift what is compared."""
    first = text[:_TEXT_END_CHARS].splitlines()[:_MAX_END_ITEMS]
    last = text[-_TEXT_END_CHARS:].splitlines()[-_MAX_END_ITEMS:]
    return "\n".join([*first, "." * min(text.count("\n"), _TEXT_END_CHARS), *last])
