"""Times: RFC 3339 text is what events carry; numbers are what some agents and formats speak."""

from datetime import UTC, datetime, timedelta
from re import compile as pattern

EPOCH = "1970-01-01T00:00:00Z"
_RFC3339 = pattern(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)?",
)
_START = datetime(1970, 1, 1, tzinfo=UTC)


def parse(text: str) -> datetime | None:
    """The moment that the text names (UTC where it names no zone), or None when it is no time."""
    return _calendar(text) if _RFC3339.fullmatch(text) is not None else None


def _calendar(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def has_zone(text: str) -> bool:
    """Whether the text is a time with a zone, as RFC 3339 demands."""
    found = _RFC3339.fullmatch(text)
    return found is not None and found.group(2) is not None and _calendar(text) is not None


def seconds(text: str) -> float | None:
    """Seconds since 1970, with microseconds."""
    moment = parse(text)
    return None if moment is None else (moment - _START) / timedelta(seconds=1)


def nanoseconds(text: str) -> int | None:
    """Nanoseconds since 1970, exact to the microsecond."""
    moment = parse(text)
    return None if moment is None else (moment - _START) // timedelta(microseconds=1) * 1000


def from_seconds(value: float) -> str | None:
    """Text of a number of seconds since 1970, or None when no calendar holds it."""
    try:
        moment = _START + timedelta(seconds=value)
    except (OverflowError, ValueError):
        return None
    return text_of(moment)


def from_milliseconds(value: float) -> str | None:
    """Text of a number of milliseconds since 1970."""
    try:
        return from_seconds(value / 1000)
    except OverflowError:
        return None


def text_of(moment: datetime) -> str:
    """RFC 3339 in UTC: milliseconds where they suffice, microseconds where not."""
    utc = moment.astimezone(UTC)
    precision = "milliseconds" if utc.microsecond % 1000 == 0 else "microseconds"
    return utc.isoformat(timespec=precision).replace("+00:00", "Z")


def now() -> str:
    """The present moment as text."""
    return text_of(datetime.now(UTC))
