"""Accumulator of transcript lines: fed by an agent's line parser, it deduplicates, completes and batches items.

With the readers of untrusted JSON values: a value of a wrong type is None, and identifiers let no prose
through.
"""

import re
from typing import Any

from hookonce.model import Json, Object
from hookonce.times import parse_time, format_time

_IDENTIFIER_PATTERN = re.compile(r"[\w.:/@+#\[\]()-]{1,200}", re.ASCII)  # an id or a name: no spaces, and short
_COUNT_LIMIT = 1 << 53


def as_object(value: Json) -> Object:
    """The value if it is an object, else an empty one."""
    return value if type(value) is dict else {}


def as_objects(value: Json) -> list[Object]:
    """The objects among the items of a list."""
    return [item for item in value if type(item) is dict] if type(value) is list else []


def as_identifier(value: Json) -> str | None:
    """An id, a name or a reason: short and without spaces, else None."""
    return value if type(value) is str and _IDENTIFIER_PATTERN.fullmatch(value) else None


def as_count(value: Json) -> int | None:
    """A number of tokens or milliseconds; with a fraction it is rounded down."""
    if type(value) is float and 0 <= value < _COUNT_LIMIT:
        return int(value)
    return value if type(value) is int and 0 <= value < _COUNT_LIMIT else None


def as_time(value: Json) -> str | None:
    """A time in the form that events have."""
    time: Any = parse_time(value) if type(value) is str else None
    return None if time is None else format_time(time)


def sum_counts(*counts: int | None) -> int | None:
    """The sum of the numbers that are not None; None if there is none."""
    numbers = [number for number in counts if number is not None]
    return sum(numbers) if numbers else None
