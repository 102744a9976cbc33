"""Regexes that somebody else wrote, compiled with RE2: linear time on any text, and one engine for all.

Our own are compiled when they are first used.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from re import Pattern
    from typing import AnyStr


class _LazyPattern:
    """A regex that is compiled when it is first used: most calls use few of those that their modules have."""

    def __init__(self, text: Any, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        import re

        value = self.__dict__[name] = getattr(re.compile(self._text, self._flags), name)
        return value


def lazy_pattern(text: "AnyStr", flags: int = 0) -> "Pattern[AnyStr]":
    """A regex of our own, with everything that a compiled one has; tests compile each of them."""
    pattern: Any = _LazyPattern(text, int(flags))
    return pattern  # type: ignore[no-any-return]


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
