"""Times that a user types, and how long something took."""

from argparse import ArgumentTypeError

import pytest

from hookonce.base import times
from hookonce.cli._ui.arguments import format_duration, parse_seconds, parse_time, resolve_time


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-02-23", "2026-02-23T00:00:00.000Z"),
        ("2026-02-23T10:15:30Z", "2026-02-23T10:15:30.000Z"),
        ("2026-02-23 10:15:30", "2026-02-23T10:15:30.000Z"),
        ("2026-02-23T10:15:30.5+02:00", "2026-02-23T08:15:30.500Z"),
    ],
)
def test_a_time_is_read(text, meant):
    assert meant == resolve_time(parse_time(text), utc=True)


@pytest.mark.parametrize(("text", "ago"), [("90s", 90), ("10m", 600), ("2h", 7200), ("3d", 259_200), ("1w", 604_800)])
def test_a_time_may_be_said_by_how_long_it_is_ago(text, ago):
    assert times.to_seconds(times.now()) - times.to_seconds(parse_time(text)) == pytest.approx(ago, abs=30)


@pytest.mark.parametrize(
    "text", ["", "x", "10", "-1h", "1y", "2026-13-01", "2026-02-30T00:00:00Z", "999999w", "²h", "0001-01-01"]
)
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ArgumentTypeError):
        parse_time(text)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "x", ""])
def test_what_is_no_number_of_seconds_is_refused(text):
    with pytest.raises(ArgumentTypeError):
        parse_seconds(text)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (None, ""),
        (0.0123, "0.0123 s"),
        (59.9, "59.9 s"),
        (60, "1 min"),
        (3661, "1 h 1 min"),
        (90_000, "1 d 1 h"),
        (3605, "1 h 5 s"),
    ],
)
def test_a_duration_is_told_in_two_units_at_most(given, told):
    assert told == format_duration(given)
