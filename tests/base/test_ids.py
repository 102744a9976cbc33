"""Ids are the same everywhere and never twice; times are read and written without loss."""

import uuid
from datetime import UTC, datetime, timedelta, timezone
from time import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.base import times
from hookonce.base.ids import MAX_EPOCH_PAYLOADS, StreamIds, derive_id, id_from_foreign, is_uuid, new_id, time_of

ROOT = uuid.uuid5(uuid.NAMESPACE_DNS, "hookonce.dev")
texts = st.text(max_size=30)


@given(st.lists(texts, max_size=4))
def test_derived_ids_are_uuids_of_version_5(parts):
    """
    An id is uuid5 of our root and the parts, as the standard library makes it.
    """
    made = derive_id(*parts)

    assert str(uuid.uuid5(ROOT, "\0".join(parts))) == made
    assert (5, uuid.RFC_4122) == (uuid.UUID(made).version, uuid.UUID(made).variant)


def test_lone_surrogates_have_ids_too():
    """
    Two texts that differ in a lone surrogate have two ids.
    """
    assert 2 == len({derive_id("a", "\ud800"), derive_id("a", "\ud801")})


def test_an_id_is_the_same_for_ever():
    """
    These ids were given once and must not change.
    """
    assert "70ef1724-8faa-5251-986e-e7cd1722af8e" == id_from_foreign("e1")
    assert "3eff3387-8d3f-5f66-a614-ed2ee0112e81" == StreamIds().next("claude-code", b'{"session_id":"s1"}')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("550e8400-e29b-41d4-a716-446655440000", True),
        ("550E8400-E29B-41D4-A716-446655440000", True),
        ("550e8400e29b41d4a716446655440000", False),
        ("550e8400-e29b-41d4-a716-44665544000", False),
        ("550e8400-e29b-41d4-a716-446655440000\n", False),
        ("g50e8400-e29b-41d4-a716-446655440000", False),
        ("{550e8400-e29b-41d4-a716-446655440000}", False),
        ("", False),
    ],
)
def test_a_uuid_keeps_its_text(text, expected):
    """
    A UUID in its usual form is kept as it is, anything else is mapped to one.
    """
    assert expected == is_uuid(text)
    assert expected == (id_from_foreign(text) == text)
    assert is_uuid(id_from_foreign(text))


payloads = st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]), max_size=40)


@given(payloads, st.integers(1, 5))
def test_no_id_comes_twice_in_a_stream(stream, epoch):
    """
    Repeated payloads get different ids, even where the memory for them is tiny and begins anew again and again.
    """
    ids, again = StreamIds(epoch), StreamIds(epoch)
    made = [ids.next("codex", payload) for payload in stream]

    assert len(stream) == len(set(made))
    assert made == [again.next("codex", payload) for payload in stream]


def test_memory_for_ids_is_bounded():
    """
    A stream remembers at most an epoch's number of different payloads.
    """
    ids = StreamIds(100)
    made = [ids.next("codex", str(number).encode()) for number in range(1000)]

    assert 1000 == len(set(made))
    assert len(ids._counts) <= 100
    assert 65_536 == MAX_EPOCH_PAYLOADS


def test_a_full_memory_still_knows_what_it_has_seen():
    """
    A payload that is remembered starts no new epoch, so that its count goes on.
    """
    ids = StreamIds(2)
    first = [ids.next("codex", payload) for payload in (b"a", b"b", b"a", b"b", b"a")]

    assert 5 == len(set(first))
    assert derive_id("codex", "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", "2") == first[4]


def test_the_first_occurrence_has_the_same_id_in_every_stream():
    """
    An id depends on agent and bytes alone; two agents that say the same have two ids.
    """
    assert StreamIds().next("codex", b"x") == StreamIds(1).next("codex", b"x")
    assert StreamIds().next("codex", b"x") != StreamIds().next("cline", b"x")


def test_new_ids_differ_and_tell_when_they_were_made():
    """
    However many are made in one moment.
    """
    made = [new_id() for _ in range(1000)]

    assert (1000, True) == (len(set(made)), all(map(is_uuid, made)))
    assert abs(time_of(made[-1]) - time()) < 10


TIMES = [
    ("2026-02-23T10:15:30Z", True, 1771841730.0),
    ("2026-02-23t10:15:30z", True, 1771841730.0),
    ("2026-02-23 10:15:30Z", True, 1771841730.0),
    ("2026-02-23T10:15:30.123456+01:00", True, 1771838130.123456),
    ("2026-02-23T10:15:30+0100", True, 1771838130.0),
    ("2026-02-23T10:15:30", False, 1771841730.0),
    ("1969-12-31T23:59:59Z", True, -1.0),
    ("1970-01-01T00:00:00Z", True, 0.0),
    ("2026-02-30T10:15:30Z", False, None),
    ("2026-02-23T25:00:00Z", False, None),
    ("2026-02-23", False, None),
    ("20260223T101530Z", False, None),
    ("2026-02-23T10:15:30Z ", False, None),
    ("yesterday", False, None),
    ("", False, None),
    ("٢٠٢٦-02-23T10:15:30Z", False, None),
]


@pytest.mark.parametrize(("text", "zoned", "expected"), TIMES)
def test_times_are_read_as_rfc_3339(text, zoned, expected):
    """
    A time has a date, a time of day and for RFC 3339 a zone; UTC is taken where none is named.
    """
    assert zoned == times.has_zone(text)
    assert expected == times.to_seconds(text)
    moment = times.parse_time(text)
    assert (expected is None) == (moment is None)
    if moment is not None:
        assert round(expected * 1_000_000) * 1000 == times.to_nanoseconds(text)


moments = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1))  # noqa: DTZ001


@given(moments, st.integers(-14 * 60, 14 * 60))
def test_moments_come_back(moment, minutes):
    """
    Text of a moment in any zone names the same moment, in UTC.
    """
    there = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))

    text = times.format_time(there)

    assert text.endswith("Z")
    assert times.has_zone(text)
    assert there == times.parse_time(text)


@given(st.integers(-2_000_000_000_000, 7_000_000_000_000))
def test_milliseconds_come_back(milliseconds):
    """
    A number of milliseconds becomes a time that is as many milliseconds after 1970.
    """
    text = times.from_milliseconds(milliseconds)

    assert (milliseconds * 1_000_000, times.from_seconds(milliseconds / 1000)) == (times.to_nanoseconds(text), text)


@pytest.mark.parametrize("number", [1e300, -1e300, 10**400, float("inf"), float("nan"), 1e15])
def test_numbers_beyond_the_calendar_are_no_times(number):
    """
    A number that no calendar holds gives nothing and breaks nothing.
    """
    assert None is times.from_seconds(number)
    assert None is times.from_milliseconds(number * 1000)


def test_now_is_now():
    """
    The present moment has a zone and is near.
    """
    assert times.has_zone(times.now())
    assert abs(datetime.now(UTC) - times.parse_time(times.now())) < timedelta(seconds=10)
