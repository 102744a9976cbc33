"""Names of fields, and keys that are none."""

from functools import lru_cache
from re import ASCII
from re import compile as pattern

_FIELD_NAME = pattern(r"[\w$.:/+-]{1,100}", ASCII)


@lru_cache(maxsize=4096)
def is_field_name(key: str) -> bool:
    """Whether a key may be the name of a field; others are somebody's text, such as a question above its answer."""
    return _FIELD_NAME.fullmatch(key) is not None
