"""Times and numbers that a user types."""

from argparse import ArgumentTypeError
from datetime import UTC, date, datetime, timedelta
from re import compile as pattern

from hookonce import times

_AGO = pattern(r"(\d{1,6})([smhdw])")
_SPAN = pattern(r"(\d+(?:\.\d+)?)(ms|s|m)")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60}
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(text: str) -> str:
    """A time in UTC: as RFC 3339 has it, a day, or how long ago it was."""
    if (ago := _AGO.fullmatch(text)) is not None:
        return _before(int(ago[1]), _UNITS[ago[2]], text)
    try:
        return f"{date.fromisoformat(text).isoformat()}T00:00:00Z"
    except ValueError:
        found = times.parse(text)
    if found is None:
        raise ArgumentTypeError(f"{text!r} is no time; say 2026-02-23T10:15:30Z, 2026-02-23, or 10m, 2h, 3d ago")
    return times.text_of(found)


def _before(count: int, unit: str, text: str) -> str:
    try:
        return times.text_of(datetime.now(UTC) - timedelta(**{unit: count}))
    except OverflowError:
        raise ArgumentTypeError(f"{text!r} is before all times") from None


def number(text: str) -> int:
    """A whole number, 0 or more."""
    if not (text.isascii() and text.isdigit()) or len(text) > 15:  # noqa: PLR2004  more than anybody has
        raise ArgumentTypeError(f"{text!r} is no number of lines")
    return int(text)


def span(text: str) -> float:
    """A time that something may take, as `30s`, `500ms`, `2m` or a number of seconds."""
    found = _SPAN.fullmatch(text)
    return seconds(text) if found is None else seconds(str(float(found[1]) * _SECONDS[found[2]]))


def seconds(text: str) -> float:
    """A time that something may take: more than nothing, and less than a day."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= 86_400:  # noqa: PLR2004  a day
        raise ArgumentTypeError(f"{text!r} is no number of seconds")
    return found


def short(time: str) -> str:
    """A time to the second, as tables show it."""
    return time[:19].replace("T", " ")


def lasted(seconds: float | None) -> str:
    """How long something took, in two units at most."""
    if seconds is None:
        return ""
    if seconds < 60:  # noqa: PLR2004  a minute
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    told = [f"{count} {unit}" for count, unit in ((days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")) if count]
    return " ".join(told[:2])
