"""Regexes that somebody else wrote, compiled with RE2: linear time on any text, and one engine for all."""

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=512)
def compile_re2(text: str) -> Any:
    """The RE2 regex of a text, cached; no look-around and back references; ValueError where it is none."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options=options)
    except re2.error as fault:
        reason = fault.args[0]
        raise ValueError(reason.decode() if isinstance(reason, bytes) else str(reason)) from None


def fits_native_pattern(text: str, name: str) -> bool:
    """Whether a regex of an agent's file fits a short name; look-around and the like fall back to Python's engine."""
    import re

    try:
        return compile_re2(text).search(name) is not None
    except ValueError:
        pass
    try:
        return len(text) <= _MAX_FALLBACK_CHARS and re.search(text, name) is not None
    except (re.error, RecursionError, OverflowError):
        return False


_MAX_FALLBACK_CHARS = 300  # characters of a pattern that may be tried by an engine that can take for ever
