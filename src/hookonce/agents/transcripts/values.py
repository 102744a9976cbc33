"""Readers of untrusted JSON values: a value of a wrong type is None, and identifiers let no prose through."""

import re
from typing import Any

from hookonce.base.times import format_time, parse_time
from hookonce.model import Json, Object

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


def sum_counts(*counts: int | None) -> int | None:
    """The sum of the numbers that are not None; None if there is none."""
    numbers = [number for number in counts if number is not None]
    return sum(numbers) if numbers else None
