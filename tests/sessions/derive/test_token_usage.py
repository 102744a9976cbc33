"""Every call of the model is counted once."""

import pytest

from hookonce.model import Origin, Usage
from hookonce.sessions.derive.token_usage import Spending, token_count, total_usage, update_spending
from tests.sessions.derive.records import Story


def spent(*events):
    spending = Spending()
    for event in events:
        spending = update_spending(spending, event)
    return total_usage(spending)


def test_who_knows_best_counts_alone():
    """
    A transcript before model events, those before what a stop tells.
    """
    story = Story()
    usage, read = Usage(total_tokens=10), Origin(via=["transcript"])
    stop = story.event("agent_stop", usage=usage)
    model = story.event("after_model", usage=Usage(total_tokens=11))
    line = story.event("after_model", usage=Usage(total_tokens=12), origin=read)

    assert [10, 11, 12] == [spent(*told).total_tokens for told in ([stop], [stop, model], [stop, model, line])]


def test_pieces_of_one_answer_are_one_call():
    """
    Each piece tells what it has come to so far; another event or the last piece ends the answer.
    """
    story = Story("gemini-cli")
    pieces = [
        story.event("after_model", usage=Usage(input_tokens=10, output_tokens=n, total_tokens=10 + n)) for n in (1, 5)
    ]
    last = story.event("after_model", usage=Usage(input_tokens=10, output_tokens=7), data={"finish_reason": "STOP"})
    tool = story.before().event

    assert 15 == spent(*pieces).total_tokens
    assert 30 == spent(*pieces, tool, *pieces).total_tokens
    assert 14 == spent(last, last).output_tokens


def test_what_a_call_tells_of_its_sub_agent_is_added():
    """
    Nobody else tells it.
    """
    story = Story("cline")
    inner = story.done(usage=Usage(input_tokens=3, output_tokens=1)).event

    assert 14 == spent(story.event("agent_stop", usage=Usage(total_tokens=10)), inner).total_tokens


def test_nothing_told_is_unknown():
    """
    Unknown is not nothing.
    """
    assert spent(Story().event("agent_stop")) is None


def test_an_end_that_sums_up_is_not_added_to_its_parts():
    """
    It counts only where nothing else does.
    """
    story = Story()
    end = story.event("session_end", usage=Usage(total_tokens=10))
    stop = story.event("agent_stop", usage=Usage(total_tokens=9))

    assert [10, 9] == [spent(*told).total_tokens for told in ([end], [stop, end])]
    assert 10 == spent(story.event("agent_stop", usage=Usage(total_tokens=10)), end).total_tokens


@pytest.mark.parametrize(
    ("usage", "all_of_them"),
    [
        (Usage(input_tokens=1, output_tokens=2, cache_read_tokens=10, cache_write_tokens=20), 33),
        (Usage(input_tokens=100, output_tokens=2, cache_read_tokens=10), 102),
        (Usage(input_tokens=1, output_tokens=2, cache_read_tokens=10), 13),
        (Usage(input_tokens=1, total_tokens=9), 9),
        (Usage(reasoning_tokens=1), None),
    ],
)
def test_tokens_of_a_cache_are_counted_once(usage, all_of_them):
    """
    Some tell them among the input, some beside it.
    """
    assert all_of_them == token_count(usage)
