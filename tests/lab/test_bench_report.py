"""What is made of the times that were measured: rows, ratios, and whether an aim is held."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.lab.bench_cases import (
    BARE_GREP,
    COLD_HOOK,
    COMMAND,
    DAEMON_KILLED,
    ECHO,
    FLOOR,
    FUNCTION,
    GREP,
    NEXT_CALL,
    NO_HOOKS,
    PYTHON,
    PYTHON_SITE,
    SDK_IMPORT,
    SDK_PROGRAM,
    THREE_COMMANDS,
)
from hookonce.lab.bench_report import (
    DIRECT,
    KB,
    BenchRatio,
    BenchRow,
    CallTally,
    DaemonMemory,
    build_ratios,
    build_row,
    describe_ratio,
    percentile,
)

TIMES = st.lists(st.integers(min_value=1, max_value=10**12), min_size=1)


def plain(case, p50, p99=1.0, **more):
    numbers = {"way": DIRECT, "callers": 1, "payload": KB, "calls": 1, "per_second": 1.0, "errors": 0, "wrong": 0}
    return BenchRow(**numbers | {"case": case, "p50_ms": p50, "p99_ms": p99} | more)


def only(rows, case, of="p50_ms", **more):
    """The one ratio of a case by this number."""
    (found,) = [
        one
        for one in build_ratios(rows)
        if (one.case, one.of) == (case, of) and all(getattr(one, name) == value for name, value in more.items())
    ]
    return found


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, 50), (0.99, 99), (1.0, 100), (0.001, 1), (0.0, 1)]
)
def test_a_percentile_is_the_value_at_its_rank(share, expected):
    assert expected == percentile(list(range(1, 101)), share)


@given(times=TIMES, share=st.floats(min_value=0.01, max_value=1.0))
def test_a_percentile_is_the_least_value_that_enough_do_not_exceed(times, share):
    ordered = sorted(times)
    found = percentile(ordered, share)

    def rank_of(value):
        return sum(time <= value for time in ordered)

    assert found in ordered
    assert rank_of(found) >= share * len(ordered) - 1e-9
    assert all(rank_of(less) < share * len(ordered) for less in ordered if less < found)


@given(times=TIMES)
def test_the_order_of_calls_changes_no_number(times):
    one, other = CallTally(call_ns=times, busy_ns=1.0), CallTally(call_ns=times[::-1], busy_ns=1.0)

    assert build_row("x", DIRECT, 1, KB, one) == build_row("x", DIRECT, 1, KB, other)


def test_a_row_tells_milliseconds_calls_a_second_and_what_went_wrong():
    tally = CallTally(call_ns=[1_000_000, 2_000_000, 3_000_000, 4_000_000], busy_ns=2e9, errors=1, wrong=2)

    assert build_row("x", DIRECT, 8, KB, tally, 50) == BenchRow(
        case="x",
        way=DIRECT,
        callers=8,
        payload=KB,
        pause_ms=50,
        calls=4,
        p50_ms=2.0,
        p99_ms=4.0,
        per_second=2.0,
        errors=1,
        wrong=2,
    )


def test_calls_that_a_daemon_did_not_answer_are_counted_where_one_should():
    tally = CallTally(call_ns=[1, 2, 3], busy_ns=1.0, cold_count=2)

    assert 2 == build_row(NO_HOOKS, DIRECT, 1, KB, tally).cold
    assert build_row(FLOOR, DIRECT, 1, KB, CallTally(call_ns=[1], busy_ns=1.0)).cold is None


def test_tallies_share_nothing():
    one, other = CallTally(), CallTally()
    one.call_ns += [1]

    assert [] == other.call_ns


# Of each aim: the case, the rows beside it, its median when the aim is just held, and when it is just missed.
MEDIANS = [
    (NO_HOOKS, {FLOOR: 0.14}, 0.42, 0.43),
    (NO_HOOKS, {ECHO: 0.4}, 0.5, 0.51),
    (FUNCTION, {NO_HOOKS: 0.4, FLOOR: 0.1}, 0.8, 0.81),
    (GREP, {BARE_GREP: 2.0, NO_HOOKS: 0.4}, 2.6, 2.63),
    (THREE_COMMANDS, {COMMAND: 1.0}, 2.2, 2.21),
    (SDK_IMPORT, {PYTHON_SITE: 10.0}, 20.0, 20.1),
    (SDK_PROGRAM, {PYTHON_SITE: 10.0}, 20.0, 20.1),
    (COLD_HOOK, {PYTHON: 8.0}, 32.0, 32.1),
    (DAEMON_KILLED, {COLD_HOOK: 30.0}, 90.0, 90.5),
]


@pytest.mark.parametrize(("case", "others", "held", "missed"), MEDIANS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_median_is_held_up_to_its_aim_and_missed_beyond(case, others, held, missed):
    rows = [plain(name, p50) for name, p50 in others.items()]

    assert only([*rows, plain(case, held)], case).held is True
    assert only([*rows, plain(case, missed)], case).held is False


@pytest.mark.parametrize(
    ("case", "of", "good", "bad"),
    [
        (NO_HOOKS, "per_second", {"per_second": 800.0}, {"per_second": 799.0 - 5}),
        (NO_HOOKS, "cold", {"cold": 0}, {"cold": 1}),
        (FUNCTION, "p99_ms", {"p99": 50.0}, {"p99": 51.0}),
        (FUNCTION, "cold", {"cold": 0}, {"cold": 1}),
    ],
)
def test_a_crowd_is_fast_enough_fair_and_never_answered_without_the_daemon(case, of, good, bad):
    echo = plain(ECHO, 1.0, per_second=1000.0, callers=64)

    assert only([echo, plain(case, 10.0, callers=64, **good)], case, of).held is True
    assert only([echo, plain(case, 10.0, callers=64, **bad)], case, of).held is False


@pytest.mark.parametrize(("cold", "held"), [(0, True), (1, False)])
def test_the_call_after_a_killed_daemon_is_to_be_warm(cold, held):
    assert held is only([plain(NEXT_CALL, 1.0, cold=cold)], NEXT_CALL, "cold").held


@pytest.mark.parametrize(("p50", "held"), [(2.4, True), (2.5, False), (1.0, True)])
def test_with_a_pause_a_ratio_is_at_most_a_fifth_larger(p50, held):
    rows = [plain(FLOOR, 1.0), plain(NO_HOOKS, 2.0), plain(FLOOR, 1.0, pause_ms=50), plain(NO_HOOKS, p50, pause_ms=50)]

    found = only(rows, NO_HOOKS, pause_ms=50)
    assert (2.4, held) == (found.aim, found.held)
    assert 3.0 == only(rows, NO_HOOKS, pause_ms=0).aim


def test_only_plain_calls_are_compared_and_nothing_with_what_was_not_measured():
    rows = [plain(NO_HOOKS, 1.0), plain(ECHO, 1.0, callers=8), plain(ECHO, 1.0, payload=100 * KB)]

    assert [] == build_ratios(rows)


def test_a_ratio_without_an_aim_is_neither_held_nor_missed():
    (found,) = build_ratios([plain(FLOOR, 0.5), plain(ECHO, 1.0)])

    assert (2.0, None, None) == (found.value, found.bound, found.held)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"to": "b", "of": "p50_ms"}, "`a` / `b`, p50"),
        ({"to": "b", "plus": "c", "times": 1.5, "of": "p50_ms"}, "`a` / (`b` + 1.5 × `c`), p50"),
        ({"to": "a", "of": "p99_ms", "to_of": "p50_ms", "callers": 64}, "`a` / `a`, p99 / p50, 64 callers"),
        ({"to": "b", "of": "p50_ms", "pause_ms": 50}, "`a` / `b`, p50, 50 ms between calls"),
        ({"of": "cold", "callers": 64}, "`a`, cold calls, 64 callers"),
    ],
)
def test_a_ratio_is_told_in_words(more, expected):
    assert expected == describe_ratio(BenchRatio(case="a", value=1.0, **more), "`")


def test_memory_is_told_even_of_a_daemon_that_went_away():
    before = {"memory_kb": 100, "answered": 3}

    assert DaemonMemory(daemon="x", before_kb=100, after_kb=120, answered=4) == DaemonMemory.between(
        "x", before, {"memory_kb": 120, "answered": 7}
    )
    assert 0 == DaemonMemory.between("x", before, None).after_kb
