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
