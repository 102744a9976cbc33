"""Argument types of commands (times, durations, counts), whose errors show a valid form, and input files."""

import os
import stat
import sys
from argparse import ArgumentParser, ArgumentTypeError, _ArgumentGroup, _SubParsersAction
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from re import compile as pattern
from typing import BinaryIO

from hookonce.base import times
from hookonce.base.files import MAX_FILE_BYTES
from hookonce.base.json_stream import MAX_LINE_BYTES
from hookonce.cli._ui.messages import warn
from hookonce.cli.help_formatter import HelpFormatter
from hookonce.errors import HookonceError

_RELATIVE_TIME = pattern(r"(\d{1,6})([smhdw])")
_DURATION = pattern(r"(\d+(?:\.\d+)?)(ms|s|m)")
_UNIT_SECONDS = {"ms": 0.001, "s": 1, "m": 60}
_TIMEDELTA_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def add_flag(parser: ArgumentParser | _ArgumentGroup, name: str, text: str) -> None:
    """Add an option without a value."""
    parser.add_argument(name, action="store_true", help=text)


def add_verb(verbs: "_SubParsersAction[ArgumentParser]", name: str, text: str, epilog: str) -> ArgumentParser:
    """Add the parser of a command's verb."""
    return verbs.add_parser(name, help=text, description=text, epilog=epilog, formatter_class=HelpFormatter)


def parse_time(text: str) -> str:
    """Parse a time into RFC 3339: in UTC, or without a zone where it names none and means that of the reader.

    Accepted are RFC 3339, with or without a zone, a day, and how long ago (10m, 2h, 3d).
    """
    if (ago := _RELATIVE_TIME.fullmatch(text)) is not None:
        try:
            return times.format_time(datetime.now(UTC) - timedelta(**{_TIMEDELTA_UNITS[ago[2]]: int(ago[1])}))
        except OverflowError:
            raise ArgumentTypeError(f"{text!r} is earlier than any time that can be recorded") from None
    with suppress(ValueError):
        text = f"{date.fromisoformat(text).isoformat()}T00:00:00"
    try:
        time = times.local_to_utc(text)
    except (ValueError, OverflowError, OSError):
        raise ArgumentTypeError(f"{text!r} is beyond all times") from None
    if time is None:
        raise ArgumentTypeError(f"{text!r} is not a time; use 2026-02-23T10:15:30Z, 2026-02-23, or 10m, 2h, 3d ago")
    return time if times.has_zone(text) else text


def resolve_time(text: str | None, *, utc: bool) -> str | None:
    """The moment that a parsed time means: one without a zone in UTC, or on this machine."""
    if text is None or times.has_zone(text):
        return text
    return times.to_utc(text) if utc else times.local_to_utc(text)


def parse_count(text: str) -> int:
    """A whole number, 0 or more."""
    if not (text.isascii() and text.isdigit()) or len(text) > 15:  # noqa: PLR2004  more than anybody has
        raise ArgumentTypeError(f"{text!r} is not a number of lines")
    return int(text)


def number_parser(maximum: int) -> Callable[[str], int]:
    """Build the parser of a number from 1 to a maximum."""

    def parse_number(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= maximum:
            raise ArgumentTypeError(f"a number from 1 to {maximum} is needed, not {text}")
        return int(text)

    return parse_number


def parse_duration(text: str) -> float:
    """Parse a duration such as `30s`, `500ms`, `2m` or a number of seconds."""
    match = _DURATION.fullmatch(text)
    return parse_seconds(text) if match is None else parse_seconds(str(float(match[1]) * _UNIT_SECONDS[match[2]]))


def parse_seconds(text: str) -> float:
    """Parse a number of seconds, more than 0 and at most a day."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 86_400:  # noqa: PLR2004  a day
        raise ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


def format_duration(seconds: float | None) -> str:
    """Format a duration in two units at most."""
    if seconds is None:
        return ""
    if seconds < 60:  # noqa: PLR2004  a minute
        return f"{seconds:.3g} s"
    minutes, remaining_seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    counts = {"d": days, "h": hours, "min": minutes, "s": remaining_seconds}
    return " ".join([f"{count} {unit}" for unit, count in counts.items() if count][:2])


@contextmanager
def open_input(name: str) -> Iterator[BinaryIO]:
    """Open a file for reading, or standard input for `-`."""
    if name == "-":
        if sys.stdin.isatty():
            warn("reading JSON from the terminal; Ctrl-D ends it")
        yield sys.stdin.buffer
        return
    try:
        stream = open(name, "rb", opener=_open_unblocked)  # noqa: SIM115  only opening is guarded
    except (OSError, ValueError) as problem:
        raise HookonceError(f"cannot read {name}: {getattr(problem, 'strerror', problem)}") from None
    with stream:
        yield stream


def _open_unblocked(name: str, flags: int) -> int:
    """Open what a name leads to; a pipe that nobody writes to is empty, and a device without an end is none to read."""
    handle = os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY)
    if stat.S_ISCHR(os.fstat(handle).st_mode) and not os.isatty(handle) and name != os.devnull:
        os.close(handle)
        raise OSError(None, "it is a device")
    os.set_blocking(handle, True)
    return handle


def read_input(name: str) -> bytes:
    """Read a whole file, or standard input for `-`, of at most so many bytes as we take from others."""
    with open_input(name) as stream:
        return read_bounded(stream, name)


def read_bounded(stream: BinaryIO, name: str) -> bytes:
    """Read what is left of a stream; HookonceError if that is too much."""
    data = stream.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise HookonceError(f"cannot read {name}: it has more than {MAX_FILE_BYTES:,} bytes")
    return data


def line_location(name: str, line: int) -> str:
    """Location of a line in the form that editors understand."""
    return f"line {line}" if name == "-" else f"{name}:{line}"


def add_max_line_option(parser: ArgumentParser) -> None:
    """The option that limits lines."""
    parser.add_argument(
        "--max-line",
        type=_parse_positive,
        default=MAX_LINE_BYTES,
        metavar="N",
        help="refuse lines over N bytes (8 MiB)",
    )


def _parse_positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"{text!r} is not a number of bytes")
    return int(text)
