"""Readers of untrusted JSON values: a value of a wrong type is None, and identifiers let no prose through."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hookonce.agents._reply.answer import value_at
from hookonce.base.files import read_regular_file
from hookonce.base.jsontext import as_dict, load
from hookonce.base.times import format_time, from_milliseconds, parse_time
from hookonce.model import Json, Object, Usage

_IDENTIFIER_PATTERN = re.compile(r"[\w.:/@+#\[\]()-]{1,200}", re.ASCII)  # an id or a name: no spaces, and short
_MAX_COUNT = 1 << 53
_MAX_EXIT_CODE = 1 << 31


def as_dicts(value: Json) -> list[Object]:
    """The objects among the items of a list."""
    return [item for item in value if type(item) is dict] if type(value) is list else []


def as_identifier(value: Json) -> str | None:
    """An id, a name or a reason: short and without spaces, else None."""
    return value if type(value) is str and _IDENTIFIER_PATTERN.fullmatch(value) else None


def as_count(value: Json) -> int | None:
    """A number of tokens or milliseconds; with a fraction it is rounded down."""
    if type(value) is float and 0 <= value < _MAX_COUNT:
        return int(value)
    return value if type(value) is int and 0 <= value < _MAX_COUNT else None


def as_exit_code(value: Json) -> int | None:
    """An exit code; one below zero is a signal."""
    return value if type(value) is int and abs(value) < _MAX_EXIT_CODE else None


def as_time(value: Json) -> str | None:
    """A time in the form that events have."""
    time: Any = parse_time(value) if type(value) is str else None
    return None if time is None else format_time(time)


def as_ms_time(value: Json) -> str | None:
    """A time of an agent that counts milliseconds."""
    return from_milliseconds(value) if type(value) is int else None


def parse_usage(counters: Object, keys: Mapping[str, str], required_keys: Sequence[str] = ()) -> Usage | None:
    """Usage by our names: the count under a key (`a.b` lies deeper), or the sum of several (`a+b`).

    None without input and output, or without one of the required keys. Where the table has no total, it is their sum.
    """
    counts = {
        ours: sum_counts(*(_count_at(counters, key) for key in theirs.split("+"))) for ours, theirs in keys.items()
    }
    total_tokens = sum_counts(counts["input_tokens"], counts["output_tokens"])
    if total_tokens is None or any(_count_at(counters, key) is None for key in required_keys):
        return None
    return Usage(**{"total_tokens": total_tokens} | counts)


def _count_at(counters: Object, key: str) -> int | None:
    return as_count(value_at(counters, key.split(".")))


def read_metadata(path: Path) -> Object | None:
    """What the `.meta.json` beside a sub-agent's file says of the call that started it; None beside any other file."""
    try:
        text = read_regular_file(path.with_suffix(".meta.json")).decode() if path.name.startswith("agent-") else ""
        return as_dict(load(text)) if text else None
    except (OSError, ValueError, RecursionError):
        return None


def sum_counts(*counts: int | None) -> int | None:
    """The sum of the numbers that are not None; None if there is none."""
    numbers = [number for number in counts if number is not None]
    return sum(numbers) if numbers else None
