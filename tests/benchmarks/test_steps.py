"""Stamps of a caller and of a daemon become the steps of a call."""

from steps import STEPS, summarize_stamps

WORDS = [words for *_, words in STEPS]


def stamps_of(start):
    """A call of seven steps of 1, 2, 3, ... microseconds, of whose answers the last counts."""
    return [
        ("accept", start + 1000),
        ("frame", start + 3000),
        ("sent", start + 3500),
        ("hook", start + 6000),
        ("result", start + 10_000),
        ("sent", start + 15_000),
    ]


def test_each_step_is_the_time_between_its_two_stamps():
    found = summarize_stamps([(0, 21_000)], stamps_of(0))

    assert list(zip(WORDS, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], strict=True)) == found


def test_a_stamp_belongs_to_the_call_in_whose_time_it_lies():
    calls = [(0, 21_000), (50_000, 71_000), (100_000, 121_000)]
    between = [("accept", 30_000), ("frame", 31_000)]
    found = summarize_stamps(calls, [*stamps_of(0), *between, *stamps_of(50_000), *stamps_of(100_000)])

    assert [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] == [us for _, us in found]


def test_a_call_that_no_daemon_answered_is_left_out():
    calls = [(0, 21_000), (50_000, 400_000)]

    assert 6.0 == dict(summarize_stamps(calls, stamps_of(0)))[WORDS[-1]]
    assert [] == summarize_stamps(calls[1:], [])
    assert [] == summarize_stamps(calls[1:], stamps_of(20_000))
