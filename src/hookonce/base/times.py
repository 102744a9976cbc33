"""Time conversion: RFC 3339 text is what events carry; numbers are what some agents and formats speak."""

from datetime import UTC, date, datetime, timedelta

from hookonce.base.regex import lazy_pattern

EPOCH_TEXT = "1970-01-01T00:00:00Z"
_RFC3339 = lazy_pattern(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LOCAL_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  without a zone, its text costs half as much
_MAX_EXACT_MS = 2**42  # until then a float has the microsecond


def parse_time(text: str) -> datetime | None:
    """The moment that the text names (UTC where it names no zone), or None when it is no time."""
    moment = _parse_rfc3339(text)
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)


def has_zone(text: str) -> bool:
    """Whether the text is a time with a zone, as RFC 3339 demands."""
    moment = _parse_rfc3339(text)
    return moment is not None and moment.tzinfo is not None


def _parse_rfc3339(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.upper()) if _RFC3339.fullmatch(text) else None
    except ValueError:
        return None


def to_seconds(text: str) -> float | None:
    """Seconds since 1970, with microseconds."""
    moment = parse_time(text)
    return None if moment is None else (moment - _EPOCH) / timedelta(seconds=1)


def elapsed_ms(first: str, last: str) -> int | None:
    """Milliseconds from one time to another; None if one is invalid, 0 if the clock was set back."""
    start, end = to_seconds(first), to_seconds(last)
    return None if start is None or end is None else max(round((end - start) * 1000), 0)


def to_nanoseconds(text: str) -> int | None:
    """Nanoseconds since 1970, exact to the microsecond."""
    moment = parse_time(text)
    return None if moment is None else (moment - _EPOCH) // timedelta(microseconds=1) * 1000


def from_seconds(value: float) -> str | None:
    """Text of a number of seconds since 1970, or None when no calendar holds it."""
    try:
        moment = _EPOCH + timedelta(seconds=value)
    except (OverflowError, ValueError):
        return None
    return format_time(moment)


def from_milliseconds(value: float) -> str | None:
    """Text of a number of milliseconds since 1970."""
    if type(value) is int and 0 <= value < _MAX_EXACT_MS:
        seconds, milliseconds = divmod(value, 1000)
        return f"{(_LOCAL_EPOCH + timedelta(0, seconds)).isoformat()}.{milliseconds:03}Z"
    try:
        return from_seconds(value / 1000)
    except OverflowError:
        return None


def format_time(moment: datetime) -> str:
    """RFC 3339 in UTC: milliseconds where they suffice, microseconds where not."""
    utc = moment.astimezone(UTC)
    precision = "milliseconds" if utc.microsecond % 1000 == 0 else "microseconds"
    return utc.isoformat(timespec=precision).replace("+00:00", "Z")


def local_day_start(day: date) -> datetime:
    """The moment at which a day begins on this machine; where its midnight is skipped, the one that comes instead."""
    return datetime.fromtimestamp(datetime(day.year, day.month, day.day).timestamp(), UTC)  # noqa: DTZ001  a local time


def local_to_utc(text: str) -> str | None:
    """The moment in UTC that a text names on this machine, if it names no zone of its own; None when it is no time."""
    moment = _parse_rfc3339(text)
    return None if moment is None else format_time(datetime.fromtimestamp(moment.timestamp(), UTC))


def format_local(text: str) -> str:
    """A time as people on this machine read it in a sentence: to the second, with its zone; as it is if it is none."""
    moment = parse_time(text)
    return text if moment is None else f"{moment.astimezone():%Y-%m-%d %H:%M:%S %Z}"


def to_utc(text: str) -> str:
    """The same time in UTC, so that times compare as texts; what is no time stays as it is."""
    moment = None if text.endswith("Z") else parse_time(text)
    return text if moment is None else format_time(moment)


def now() -> str:
    """The present moment as text."""
    return format_time(datetime.now(UTC))
