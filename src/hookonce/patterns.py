"""Patterns that somebody else wrote: RE2, so that no text takes longer than its length, and one engine for all."""

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=512)
def compiled(text: str) -> Any:
    """The pattern as RE2 compiles it, without look-around and back references; a ValueError where it cannot."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options=options)
    except re2.error as fault:
        reason = fault.args[0]
        raise ValueError(reason.decode() if isinstance(reason, bytes) else str(reason)) from None


def picks(text: str, name: str) -> bool:
    """Whether a pattern of some agent's own file fits a short name; look-ahead and the like are Python's to read."""
    import re

    try:
        return compiled(text).search(name) is not None
    except ValueError:
        pass
    try:
        return len(text) <= _SHORT and re.search(text, name) is not None
    except (re.error, RecursionError, OverflowError):
        return False


_SHORT = 300  # characters of a pattern that may be tried by an engine that can take for ever
