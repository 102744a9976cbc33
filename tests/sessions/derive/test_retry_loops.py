"""What is a loop and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.model import SCHEMA, Event, Record, Result, Tool
from hookonce.sessions.derive.retry import (
    MAX_LOOP_CALLS,
    MIN_LOOP_ROUNDS,
    MIN_ROUNDS_WITHOUT_RESULT,
    CallFingerprint,
    elapsed_ms,
    find_loop,
)
from hookonce.store.privacy.redact import LEVELS, redact
from hookonce.vocabulary.call_fingerprint import add_fingerprint, fingerprint_call


def act(given=1, outcome=1, *, second=0, who=None, spent=None, action="shell"):
    time = f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z"
    return CallFingerprint(id="i", subagent=who, action=action, input_fingerprint=given, result_fingerprint=outcome, time=time, session_tokens=spent)


def event(given, result=None, name="shell"):
    return Event(
        id="i",
        schema=SCHEMA,
        type="before_tool_execute" if result is None else "after_tool_execute",
        agent="codex",
        time="2026-01-01T00:00:00Z",
        time_source="agent",
        tool=Tool(name=name, native=name, input=given, result=result),
    )


def command(text):
    return fingerprint_call(event({"command": text}))


def output(text, **more):
    return fingerprint_call(event({}, Result(ok=True, output=text, **more)))


@pytest.mark.covers("AH-37")
def test_the_same_call_with_the_same_result_is_a_loop_with_its_cost():
    """
    How often, what, for how many tokens and how long.
    """
    loop = find_loop([act(second=10 * number, spent=100 * number) for number in range(5)])

    assert loop is not None
    assert (5, "shell", 400, 40_000) == (loop.iteration_count, loop.action_name, loop.tokens_consumed, loop.elapsed_ms)


def test_a_few_times_are_no_loop():
    """
    Whoever tries three times is not lost yet.
    """
    assert find_loop([act()] * (MIN_LOOP_ROUNDS - 1)) is None
    assert find_loop([act()] * MIN_LOOP_ROUNDS) is not None


def test_calls_in_turn_are_a_loop_too():
    """
    Edit, test, edit, test, with nothing changing.
    """
    loop = find_loop([act(1), act(2)] * MIN_LOOP_ROUNDS)

    assert loop is not None
    assert (MIN_LOOP_ROUNDS, 2) == (loop.iteration_count, loop.period)


def test_changing_results_are_no_loop():
    """
    The same command, further each time.
    """
    assert find_loop([act(outcome=number) for number in range(20)]) is None


def test_calls_whose_results_nobody_tells_take_longer_to_be_a_loop():
    """
    Without results a watch looks like a loop.
    """
    assert find_loop([act(outcome=None)] * (MIN_ROUNDS_WITHOUT_RESULT - 1)) is None
    assert find_loop([act(outcome=None)] * MIN_ROUNDS_WITHOUT_RESULT) is not None


def test_each_sub_agent_loops_for_itself():
    """
    Two sub-agents that do the same thing twice are not one that does it four times.
    """
    assert find_loop([act(who="a"), act(who="b")] * (MIN_LOOP_ROUNDS - 1)) is None


def test_tokens_that_nobody_tells_stay_unknown():
    """
    Unknown is not nothing.
    """
    loop = find_loop([act()] * MIN_LOOP_ROUNDS)

    assert loop is not None
    assert loop.tokens_consumed is None


@given(
    st.lists(st.integers(0, 2), max_size=30),
    st.lists(st.integers(10, 12), min_size=1, max_size=MAX_LOOP_CALLS, unique=True),
    st.integers(MIN_LOOP_ROUNDS, 8),
)
def test_whatever_came_before_a_loop_does_not_hide_it(before, round_, times):
    """
    A window that ends in rounds is found to do so, with at least their number.
    """
    loop = find_loop([act(number) for number in before] + [act(number) for number in round_] * times)

    assert loop is not None
    assert (times, len(round_)) == (loop.iteration_count, loop.period)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("curl http://x/?t=1767225600", "curl http://x/?t=1767225999"),
        ("echo 2026-01-01T10:00:00Z", "echo 2026-01-02T11:30:00.5Z"),
        ("sleep 5", "sleep 30"),
        ("cat /tmp/tmpab12/out", "cat /tmp/tmpzz98/out"),
        ("kill 4711", "kill 4712"),
        ("git show 1f3a9bc", "git show 99ab01c"),
        ("get 6f1c1f0e-7c1b-4e62-9d53-2a4b5c6d7e8f", "get 0f1c1f0e-7c1b-4e62-9d53-2a4b5c6d7e8e"),
    ],
)
def test_inputs_that_differ_in_what_always_changes_are_alike(one, other):
    """
    Numbers, times, ids and temporary paths do not make a call another one.
    """
    assert command(one) == command(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("make test", "make lint"), ("mkdir part1", "mkdir part2"), ("cat a.py", "cat b.py"), ("ls /srv/a", "ls /srv/b")],
)
def test_inputs_that_differ_in_words_are_not_alike(one, other):
    """
    A number that belongs to a name is part of it.
    """
    assert command(one) != command(other)


def test_writing_other_content_is_another_call():
    """
    Contents keep their numbers.
    """
    one, other = ({"path": "a", "content": f"x = {number}"} for number in (1, 2))

    assert fingerprint_call(event(one, name="file_write")) != fingerprint_call(event(other, name="file_write"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[10:00:01] failed", "[10:05:59] failed"),
        ("3 failed in 0.31s", "3 failed in 12.02s"),
        ("at 2026-01-01 10:00:01,123 no route", "at 2026-01-03 10:00:01,999 no route"),
        ("Thu Jan  1 10:00:00 UTC", "Fri Jan 12 10:01:00 UTC"),
        ("request 6f1c1f0e-7c1b-4e62-9d53-2a4b5c6d7e8f", "request 0f1c1f0e-7c1b-4e62-9d53-2a4b5c6d7e8e"),
    ],
)
def test_results_that_differ_in_what_always_changes_are_alike(one, other):
    """
    A loop with changing timestamps is a loop.
    """
    assert output(one) == output(other)


@pytest.mark.parametrize(
    ("one", "other"), [("3 failed, 7 passed", "2 failed, 8 passed"), ("ok", "no"), ({"left": 3}, {"left": 2})]
)
def test_results_that_differ_in_their_counts_are_not_alike(one, other):
    """
    A test watch with changing results is not a loop.
    """
    assert output(one) != output(other)


def test_success_and_exit_code_are_part_of_a_result():
    """
    The same text from something that failed is another result.
    """
    assert output("x") != output("x", exit_code=1)


@pytest.mark.parametrize("level", LEVELS)
def test_likeness_is_told_before_texts_are_left_out_and_stays_at_every_level(level):
    """
    Kept records know that two results with other times were alike, though only their hashes are kept.
    """
    told = [
        add_fingerprint(event({}, Result(ok=True, output=f"[10:00:{second:02}] failed")), b"key") for second in (1, 2)
    ]
    one, other = (redact(Record(event=one), level).event for one in told)

    assert fingerprint_call(one) == fingerprint_call(other) == fingerprint_call(told[0])


def test_another_key_gives_another_number():
    """
    Who does not have the key cannot try out what a number was made of.
    """
    plain = event({"command": "ls"})

    assert fingerprint_call(plain, b"a") != fingerprint_call(plain, b"b")


def test_texts_that_were_left_out_are_compared_by_their_hash():
    """
    Without the number, equal hashes are alike and others are not.
    """
    one, same, other = ({"hash": f"sha256:{digit * 64}", "length": 3, "lines": 1} for digit in "aab")

    assert output(one) == output(same) != output(other)


def test_a_clock_that_was_set_back_takes_no_time():
    """
    Never less than nothing; and unknown where a time is none.
    """
    assert 0 == elapsed_ms("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z")
    assert elapsed_ms("yesterday", "2026-01-01T00:00:00Z") is None


@given(st.text(max_size=200), st.binary(max_size=80))
def test_any_text_has_its_number(text, key):
    """
    Whatever a command or a result is, and whatever the key.
    """
    assert 0 <= (fingerprint_call(event({"command": text}, Result(output=text)), key) or 0) < 2**48


def test_long_results_are_compared_by_their_ends_and_lines():
    """
    A long log with other times is alike; with one more line, or another summary, it is not.
    """
    log = [f"10:00:{second % 60:02} waiting" for second in range(5000)]
    later = [line.replace("10:", "11:") for line in log]

    assert output("\n".join([*log, "2 failed"])) == output("\n".join([*later, "2 failed"]))
    assert output("\n".join([*log, "2 failed"])) != output("\n".join([*log, "1 failed"]))
    assert output("\n".join(log[:100])) != output("\n".join(log[:101]))
    assert output(log) == output(later) != output(later[1:])
