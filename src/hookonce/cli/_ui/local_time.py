"""Times as a person reads them: local, with the name of the zone; `--utc` shows UTC."""

import os
from argparse import ArgumentParser
from datetime import UTC, datetime

from hookonce.base import times
from hookonce.cli._ui.arguments import add_flag


def add_utc_option(parser: ArgumentParser) -> None:
    """The option that shows times in UTC, and reads those without a zone as such."""
    add_flag(parser, "--utc", "use times and days of UTC; default: this machine's time zone")


def zone_name(*, utc: bool) -> str:
    """The name of the zone that times are shown in."""
    return "UTC" if utc else datetime.now(UTC).astimezone().tzname() or "local"


def day_zone_name(*, is_local: bool) -> str:
    """The name of the zone whose days are counted: that of a place, which holds in summer too, where it is known."""
    abbreviation = zone_name(utc=not is_local)
    place = os.environ.get("TZ", os.path.realpath("/etc/localtime").partition("/zoneinfo/")[2]).removeprefix(":")
    if abbreviation == "UTC" or "/" not in place:
        return abbreviation
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(place)
    except (KeyError, ValueError, OSError):  # an unknown place is read as UTC by the C library, under any name
        return abbreviation
    return place


def format_time(text: str, *, utc: bool) -> str:
    """A time to the second; with its zone where that is another than today's, as in summer."""
    moment = times.parse_time(text)
    if moment is None:
        return text[:19].replace("T", " ")
    local_moment = moment if utc else moment.astimezone()
    zone = "UTC" if utc else local_moment.tzname()
    return local_moment.strftime("%Y-%m-%d %H:%M:%S") + ("" if zone == zone_name(utc=utc) else f" {zone}")


def format_clock(text: str, *, utc: bool) -> str:
    """The time of day."""
    return format_time(text, utc=utc).partition(" ")[2]


class DayClock:
    """Clock of a list in the order of time, which tells a day once, where it begins."""

    def __init__(self, *, utc: bool) -> None:
        self._utc, self._day = utc, ""

    def split_time(self, text: str) -> tuple[str | None, str]:
        """The day, if it is another than that of the time before, and the time of day."""
        day, _, clock = format_time(text, utc=self._utc).partition(" ")
        new_day = None if day == self._day else day
        self._day = day
        return new_day, clock
