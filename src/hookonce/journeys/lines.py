"""JSON documents from a stream: one per line, or one pretty-printed document; memory stays flat."""

import json
from collections.abc import Iterator
from math import isfinite
from typing import BinaryIO, Literal, NamedTuple

from msgspec import DecodeError
from msgspec.json import decode

from hookonce.errors import HookonceError
from hookonce.model import Json, Object

MAX_LINE = 8 * 1024 * 1024
TOO_DEEP = "the JSON is nested too deeply"
_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Line(NamedTuple):
    """One document of a stream: where it began, its bytes without the line's end, or why it could not be read."""

    number: int
    raw: bytes
    fault: str | None = None


class BadJson(HookonceError):
    """Bytes that are no JSON document."""


def parse(raw: bytes) -> Json:
    """The document; the last of duplicate keys wins."""
    try:
        return decode(raw)
    except RecursionError:
        raise BadJson(TOO_DEEP) from None
    except (DecodeError, ValueError):
        return _second_reading(raw)


def _second_reading(raw: bytes) -> Json:
    """The slower parser knows lone surrogates, which JavaScript writes, and names the place of a fault."""
    try:
        return json.loads(raw.decode(), parse_constant=_no_number, parse_float=_finite)
    except UnicodeDecodeError as fault:
        hint = "; this looks like UTF-16, convert it to UTF-8" if raw.startswith(_UTF_16) else ""
        raise BadJson(f"invalid UTF-8 at byte {fault.start}{hint}") from None
    except RecursionError:
        raise BadJson(TOO_DEEP) from None
    except json.JSONDecodeError as fault:
        raise BadJson(f"invalid JSON: {_told(fault)}") from None
    except ValueError:  # the only one left: Python does not read integers of thousands of digits
        raise BadJson("invalid JSON: a number has too many digits") from None


def _told(fault: json.JSONDecodeError) -> str:
    place = f"line {fault.lineno} column {fault.colno}" if "\n" in fault.doc.rstrip() else f"character {fault.pos}"
    more = "; several documents must stand one on a line each" if fault.msg == "Extra data" else ""
    return f"{fault.msg} at {place}{more}"


def _no_number(name: str) -> Json:
    raise BadJson(f"invalid JSON: {name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise BadJson(f"invalid JSON: the number {text[:20]} is too large")
    return number


def duplicate_keys(raw: bytes) -> list[str]:
    """The keys that an object repeats, in the order found."""
    repeated: list[str] = []

    def watch(pairs: list[tuple[str, Json]]) -> Object:
        seen: Object = {}
        for key, value in pairs:
            if key in seen:
                repeated.append(key)
            seen[key] = value
        return seen

    json.loads(raw, object_pairs_hook=watch)
    return repeated


def documents(stream: BinaryIO, limit: int = MAX_LINE) -> Iterator[Line]:
    """The documents of a stream; where its first line is only the beginning of one, the stream may be that one."""
    lines = _lines(stream, limit)
    first = next((line for line in lines if not _is_blank(line)), None)
    if first is None:
        return
    begun = _whole_or_lines(first, lines, limit) if _state(first.raw) == "cut" else [first]
    yield from (line for line in begun if not _is_blank(line))
    yield from (line for line in lines if not _is_blank(line))


def _whole_or_lines(first: Line, lines: Iterator[Line], limit: int) -> list[Line]:
    """The first lines joined, if they are one document or nothing at all, else as they are.

    A line that is an object of its own, where the lines so far are no beginning of a document, tells the two apart.
    """
    taken, size, judged = [first], len(first.raw), 0
    for line in lines:
        taken.append(line)
        size += len(line.raw) + 1
        if line.fault is not None or size > limit:
            break
        if size >= 2 * judged and _is_object(line.raw):
            if _state(_joined(taken)) == "broken":
                return taken
            judged = size
    else:
        return taken if judged and _state(_joined(taken)) != "whole" else [Line(first.number, _joined(taken))]
    if taken[-1].fault is None and _state(_joined(taken)) == "cut":
        for _ in lines:  # the rest of a document that is too long
            pass
        return [_too_long(first.number, limit, "document")]
    return taken


def _is_blank(line: Line) -> bool:
    return line.fault is None and (not line.raw or line.raw.isspace())


def _joined(lines: list[Line]) -> bytes:
    return b"\n".join(line.raw for line in lines)


def _is_object(raw: bytes) -> bool:
    if raw.lstrip()[:1] != b"{":
        return False
    try:
        parse(raw)
    except BadJson:
        return False
    return True


def _state(raw: bytes) -> Literal["whole", "cut", "broken"]:
    """Whether a document stands here, or begins here and ends on a later line, or neither."""
    try:
        json.loads(raw.decode())
    except json.JSONDecodeError as fault:
        return "cut" if 0 < len(fault.doc.rstrip()) <= fault.pos else "broken"
    except (ValueError, RecursionError):
        return "broken"
    return "whole"


def _lines(stream: BinaryIO, limit: int) -> Iterator[Line]:
    number = 0
    while read := stream.readline(limit + 2):
        number += 1
        raw = read.rstrip(b"\r\n")
        if len(raw) <= limit:
            yield Line(number, raw.removeprefix(_BOM))
            continue
        while read and not read.endswith(b"\n"):  # skip the rest of it without keeping it
            read = stream.readline(limit)
        yield _too_long(number, limit, "line")


def _too_long(number: int, limit: int, what: str) -> Line:
    return Line(number, b"", f"the {what} is longer than {limit} bytes; --max-line raises the limit")
