"""Refused stops are counted, and an agent that is never let go ends all the same."""

import pytest

from hookonce.agents._reply.answer import DEFAULT_REASON
from hookonce.dispatch import stop_limit
from tests.dispatch.event_factory import below, event


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))


def refused(times, reason="finish the tests", **more):
    """Whether each of so many stops may be refused."""
    return [stop_limit.refuse_stop(event("agent_stop", **more), reason) for _ in range(times)]


def says(text, **more):
    """Somebody, or something, has sent a prompt."""
    stop_limit.reset_stops(event("before_prompt", prompt=text, **more))


def test_a_stop_is_refused_five_times_and_no_more():
    """
    After that the agent is let go, however often it asks.
    """
    assert [True] * 5 + [False] * 3 == refused(8)


@pytest.mark.parametrize("other", [{"agent": "codex"}, {"session": "s2"}, {"subagent": below(1)}, {"session": None}])
def test_agents_sessions_and_sub_agents_are_counted_apart(other):
    """
    One that never stops does not let another one go.
    """
    assert [False] == refused(6)[5:]

    assert [True] * 5 + [False] == refused(6, **other)
    assert [False] == refused(1)


def test_a_prompt_begins_the_count_anew():
    """
    Somebody has spoken; of that session, and of nobody else's.
    """
    assert [False] == refused(6)[5:]
    says("go on", session="s2")
    assert [False] == refused(1)
    says("go on")
    assert [True] * 5 + [False] == refused(6)


@pytest.mark.parametrize("text", ["", "  \n", "finish the tests", " finish\nthe  tests \n", None])
def test_our_own_reason_coming_back_is_nobody_s_word(text):
    """
    Agents send it as the next prompt, or a prompt without text; neither begins the count anew.
    """
    assert [False] == refused(6)[5:]
    says(text)
    assert [False] == refused(1)


def test_a_reason_that_was_never_given_is_known_again_too():
    """
    Where an agent needs some text we give it one, which comes back like any other.
    """
    assert [False] == refused(6, None)[5:]
    says(DEFAULT_REASON)
    assert [False] == refused(1)


def test_the_last_reason_counts():
    """
    What was said before may be a person's words now.
    """
    refused(3, "first")
    refused(3, "second")
    says("second")
    assert [False] == refused(1)
    says("first")
    assert [True] == refused(1)
