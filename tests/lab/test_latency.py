"""What is made of the times that were measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.lab.latency import (
    DIRECT,
    ECHO,
    FLOOR,
    KB,
    WARM,
    BenchRow,
    CallTally,
    DaemonMemory,
    build_ratios,
    build_row,
    percentile,
)

TIMES = st.lists(st.integers(min_value=1, max_value=10**12), min_size=1)


def plain(case, p50, p99=1.0, **more):
    numbers = {"way": DIRECT, "callers": 1, "payload": KB, "calls": 1, "per_second": 1.0, "errors": 0, "wrong": 0}
    return BenchRow(**numbers | {"case": case, "p50_ms": p50, "p99_ms": p99} | more)


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, 50), (0.99, 99), (1.0, 100), (0.001, 1), (0.0, 1)]
)
def test_a_percentile_is_the_value_at_its_rank(share, expected):
    assert expected == percentile(list(range(1, 101)), share)


@given(times=TIMES, share=st.floats(min_value=0.01, max_value=1.0))
def test_a_percentile_is_the_least_value_that_enough_do_not_exceed(times, share):
    ordered = sorted(times)
    found = percentile(ordered, share)

    def reached(value):
        return sum(time <= value for time in ordered)

    assert found in ordered
    assert reached(found) >= share * len(ordered) - 1e-9
    assert all(reached(less) < share * len(ordered) for less in ordered if less < found)


@given(times=TIMES)
def test_the_order_of_calls_changes_no_number(times):
    one, other = CallTally(call_ns=times, busy_ns=1.0), CallTally(call_ns=times[::-1], busy_ns=1.0)

    assert build_row("x", DIRECT, 1, KB, one) == build_row("x", DIRECT, 1, KB, other)


def test_a_row_tells_milliseconds_calls_a_second_and_what_went_wrong():
    tally = CallTally(call_ns=[1_000_000, 2_000_000, 3_000_000, 4_000_000], busy_ns=2e9, errors=1, wrong=2)

    assert build_row("x", DIRECT, 8, KB, tally) == BenchRow(
        case="x", way=DIRECT, callers=8, payload=KB, calls=4, p50_ms=2.0, p99_ms=4.0, per_second=2.0, errors=1, wrong=2
    )


def test_calls_that_a_daemon_did_not_answer_are_counted_where_one_should():
    tally = CallTally(call_ns=[1, 2, 3], busy_ns=1.0, cold_count=2)

    assert 2 == build_row(WARM, DIRECT, 1, KB, tally).cold
    assert build_row(FLOOR, DIRECT, 1, KB, CallTally(call_ns=[1], busy_ns=1.0)).cold is None


def test_tallies_share_nothing():
    one, other = CallTally(), CallTally()
    one.call_ns += [1]

    assert [] == other.call_ns


def test_ours_is_to_be_little_longer_than_an_echo_and_a_peers_much_longer_than_ours():
    rows = [plain(ECHO, 1.0, 2.0), plain(WARM, 1.3, 4.0), plain("peer", 52.0), plain("other", 13.0)]
    found = {(one.case, one.to, one.of): one for one in build_ratios(rows, ["peer", "other"])}

    assert (1.3, "most", True) == told(found[WARM, ECHO, "p50_ms"])
    assert (2.0, "most", False) == told(found[WARM, ECHO, "p99_ms"])
    assert (40.0, "least", True) == told(found["peer", WARM, "p50_ms"])
    assert (10.0, "least", False) == told(found["other", WARM, "p50_ms"])


def told(ratio):
    return ratio.value, ratio.bound, ratio.held


def test_only_plain_calls_are_compared_and_nothing_with_what_was_not_measured():
    rows = [plain(WARM, 1.0), plain(ECHO, 1.0, callers=64), plain(ECHO, 1.0, payload=100 * KB), plain("peer", 9.0)]

    assert [("peer", WARM)] == [(one.case, one.to) for one in build_ratios(rows, ["peer"])]


def test_a_ratio_to_the_floor_has_no_aim():
    (only,) = build_ratios([plain(FLOOR, 0.5), plain(ECHO, 1.0)], [])

    assert (2.0, None, None) == told(only)


def test_memory_is_told_even_of_a_daemon_that_went_away():
    before = {"memory_kb": 100, "answered": 3}

    assert DaemonMemory(daemon="x", before_kb=100, after_kb=120, answered=4) == DaemonMemory.between(
        "x", before, {"memory_kb": 120, "answered": 7}
    )
    assert 0 == DaemonMemory.between("x", before, None).after_kb
