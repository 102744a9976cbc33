"""JSON documents from a stream: one per line, or one pretty-printed document; memory stays flat."""

import json
from collections.abc import Iterator
from math import isfinite
from typing import Any, BinaryIO, Literal

from msgspec import DecodeError, Struct
from msgspec.json import decode

from hookonce.errors import HookonceError

MAX_LINE_BYTES = 8 * 1024 * 1024
TOO_DEEP = "the JSON is nested too deeply"
_BOM = b"\xef\xbb\xbf"
_UTF_16_BOMS = (b"\xff\xfe", b"\xfe\xff")


class StreamLine(Struct, frozen=True, gc=False):
    """One document of a stream: its line number, its bytes without the line's end, or why it could not be read."""

    number: int
    raw: bytes
    fault: str | None = None


class JsonSyntaxError(HookonceError):
    """Bytes that are no JSON document."""


def parse_json(raw: bytes) -> Any:
    """Parse a document; the last of duplicate keys wins."""
    try:
        return decode(raw)
    except RecursionError:
        raise JsonSyntaxError(TOO_DEEP) from None
    except (DecodeError, ValueError):
        return _parse_slowly(raw)


def _parse_slowly(raw: bytes) -> Any:
    """The slower parser knows lone surrogates, which JavaScript writes, and names the place of a fault."""
    try:
        return json.loads(raw.decode(), parse_constant=_reject_constant, parse_float=_parse_finite)
    except UnicodeDecodeError as fault:
        hint = "; this looks like UTF-16, convert it to UTF-8" if raw.startswith(_UTF_16_BOMS) else ""
        raise JsonSyntaxError(f"invalid UTF-8 at byte {fault.start}{hint}") from None
    except RecursionError:
        raise JsonSyntaxError(TOO_DEEP) from None
    except json.JSONDecodeError as fault:
        raise JsonSyntaxError(f"invalid JSON: {_describe_fault(fault)}") from None
    except ValueError:  # the only one left: Python does not read integers of thousands of digits
        raise JsonSyntaxError("invalid JSON: a number has too many digits") from None


def _describe_fault(fault: json.JSONDecodeError) -> str:
    position = f"line {fault.lineno} column {fault.colno}" if "\n" in fault.doc.rstrip() else f"character {fault.pos}"
    hint = "; several documents must stand one on a line each" if fault.msg == "Extra data" else ""
    return f"{fault.msg} at {position}{hint}"


def _reject_constant(name: str) -> Any:
    raise JsonSyntaxError(f"invalid JSON: {name} is not a JSON number")


def _parse_finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise JsonSyntaxError(f"invalid JSON: the number {text[:20]} is too large")
    return number


def duplicate_keys(raw: bytes) -> list[str]:
    """The keys that an object repeats, in the order found."""
    duplicates: list[str] = []

    def collect_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key, value in pairs:
            if key in members:
                duplicates.append(key)
            members[key] = value
        return members

    json.loads(raw, object_pairs_hook=collect_pairs)
    return duplicates


def duplicate_paths(raw: bytes) -> list[str]:
    """The paths of the keys that an object repeats, such as `$.hooks[0].event`; most documents have none."""
    if not duplicate_keys(raw):
        return []

    def collect_pairs(pairs: list[tuple[str, Any]]) -> "_Members":
        members = _Members()
        for key, value in pairs:
            if key in members:
                members.duplicates.append(f".{key}")
            members.duplicates += [f".{key}{path}" for path in _inner_duplicates(value)]
            members[key] = value
        return members

    return [f"${path}" for path in _inner_duplicates(json.loads(raw, object_pairs_hook=collect_pairs))]


class _Members(dict[str, Any]):
    """An object, and the paths in it at which a key is repeated."""

    def __init__(self) -> None:
        super().__init__()
        self.duplicates: list[str] = []


def _inner_duplicates(value: Any) -> list[str]:
    if isinstance(value, _Members):
        return value.duplicates
    if type(value) is not list:
        return []
    return [f"[{index}]{path}" for index, item in enumerate(value) for path in _inner_duplicates(item)]


def read_documents(stream: BinaryIO, limit: int = MAX_LINE_BYTES) -> Iterator[StreamLine]:
    """Read the documents of a stream; where its first line is only the beginning of one, the stream may be that one."""
    lines = _read_lines(stream, limit)
    first = next((line for line in lines if not _is_blank(line)), None)
    if first is None:
        return
    head = _join_or_split(first, lines, limit) if _json_state(first.raw) == "cut" else [first]
    yield from (line for line in head if not _is_blank(line))
    yield from (line for line in lines if not _is_blank(line))


def _join_or_split(first: StreamLine, lines: Iterator[StreamLine], limit: int) -> list[StreamLine]:
    """The first lines joined, if they are one document or nothing at all, else as they are.

    A line that is an object of its own, where the lines so far are no beginning of a document, tells the two apart.
    """
    batch, size, checked_bytes = [first], len(first.raw), 0
    for line in lines:
        batch.append(line)
        size += len(line.raw) + 1
        if line.fault is not None or size > limit:
            break
        if size >= 2 * checked_bytes and _is_object(line.raw):
            if _json_state(_join_lines(batch)) == "broken":
                return batch
            checked_bytes = size
    else:
        raw = _join_lines(batch)
        return batch if checked_bytes and _json_state(raw) != "whole" else [StreamLine(first.number, raw)]
    if batch[-1].fault is None and _json_state(_join_lines(batch)) == "cut":
        for _ in lines:  # the rest of a document that is too long
            pass
        return [_oversize_line(first.number, limit, "document")]
    return batch


def _is_blank(line: StreamLine) -> bool:
    return line.fault is None and (not line.raw or line.raw.isspace())


def _join_lines(lines: list[StreamLine]) -> bytes:
    return b"\n".join(line.raw for line in lines)


def _is_object(raw: bytes) -> bool:
    if raw.lstrip()[:1] != b"{":
        return False
    try:
        parse_json(raw)
    except JsonSyntaxError:
        return False
    return True


def _json_state(raw: bytes) -> Literal["whole", "cut", "broken"]:
    """Whether a document stands here, or begins here and ends on a later line, or neither."""
    try:
        json.loads(raw.decode())
    except json.JSONDecodeError as fault:
        return "cut" if 0 < len(fault.doc.rstrip()) <= fault.pos else "broken"
    except (ValueError, RecursionError):
        return "broken"
    return "whole"


def _read_lines(stream: BinaryIO, limit: int) -> Iterator[StreamLine]:
    number = 0
    while chunk := stream.readline(limit + 2):
        number += 1
        raw = chunk.rstrip(b"\r\n")
        if len(raw) <= limit:
            yield StreamLine(number, raw.removeprefix(_BOM))
            continue
        yield _oversize_line(number, limit, "line")
        while chunk and not chunk.endswith(b"\n"):  # skip the rest of it without keeping it
            chunk = stream.readline(limit)


def _oversize_line(number: int, limit: int, unit: str) -> StreamLine:
    return StreamLine(number, b"", f"the {unit} is longer than {limit} bytes; --max-line raises the limit")
