"""Values of documents that others write: what is not as it should be is None. Words let no prose through."""

import re
from typing import Any

from hookonce.model import Json, Object
from hookonce.times import parse, text_of

_WORD = re.compile(r"[\w.:/@+#\[\]()-]{1,200}", re.ASCII)  # an id or a name: no spaces, and short
_MOST = 1 << 53


def obj(value: Json) -> Object:
    """An object, empty if it is none."""
    return value if type(value) is dict else {}


def objects(value: Json) -> list[Object]:
    """The objects of a list."""
    return [one for one in value if type(one) is dict] if type(value) is list else []


def word(value: Json) -> str | None:
    """An id, a name or a reason."""
    return value if type(value) is str and _WORD.fullmatch(value) else None


def count(value: Json) -> int | None:
    """A number of tokens or milliseconds; with a fraction it is rounded down."""
    if type(value) is float and 0 <= value < _MOST:
        return int(value)
    return value if type(value) is int and 0 <= value < _MOST else None


def moment(value: Json) -> str | None:
    """A time, in the form that events have."""
    found: Any = parse(value) if type(value) is str else None
    return None if found is None else text_of(found)


def added(*counts: int | None) -> int | None:
    """The sum of those that are told, None if none is."""
    told = [one for one in counts if one is not None]
    return sum(told) if told else None
