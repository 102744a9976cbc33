"""What tokens were worth: each call of a model once, whoever tells of it, and no price that nobody knows."""

import pytest

from hookonce.inspect.stats import build_cost_report, load_price_lookup
from hookonce.model import Event, Stored, Usage
from hookonce.store.entry import build_entry
from hookonce.store.rollup import RollupFilter
from hookonce.store.writer import Writer


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own for each test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def bill(*told, by="agent", price=lambda one: sum(one.tokens)):
    """The bill of what agents have told: the type of an event, and more of it."""
    entries = [build_entry(stored(number, *one)) for number, one in enumerate(told)]
    with Writer() as writer:
        writer.append(entries)
        return build_cost_report(writer.connection, RollupFilter(), by, price)


def stored(number, kind, tokens, day="2026-11-15", **more):
    known = {"id": f"e{number}", "schema": "hookonce/1", "type": kind, "agent": "codex", "model": "gpt-5"}
    known |= {"time": f"{day}T10:00:00Z", "time_source": "agent", "session": "s1"}
    usage = Usage(input_tokens=tokens) if type(tokens) is int else tokens
    return Stored(event=Event(**(known | {"usage": usage} | more)), level="minimal")


@pytest.mark.parametrize(
    ("told", "tokens"),
    [
        ([("after_model", 3), ("before_model", None), ("after_model", 4), ("agent_stop", 7)], 7),
        ([("agent_stop", 7), ("agent_response", 7)], 7),
        ([("agent_stop", 7), ("session_end", 7)], 7),
        ([("session_end", 7)], 7),
        ([("session_abort", 7), ("session_end", 5)], 5),
        ([("after_tool_execute", 2), ("session_end", 7)], 7),
        ([("agent_stop", 7), ("after_tool_execute", 2)], 9),
        ([("agent_stop", 7), ("session_end", 7, "2026-11-16")], 7),
        ([("after_model", 7), ("agent_stop", 7, "2026-11-16")], 7),
        ([], 0),
    ],
    ids=str,
)
def test_each_call_of_a_model_counts_once(told, tokens):
    """
    Whoever knows best of a session is believed, on whatever day.
    """
    found = bill(*told)

    assert tokens == found.total.input_tokens
    assert tokens == (found.total.micro_dollars or 0)


def test_what_has_no_price_is_never_nothing():
    found = bill(("agent_stop", 5), price=lambda _: None)

    assert (None, ["gpt-5"]) == (found.total.micro_dollars, found.total.unpriced)


def test_output_that_was_never_told_has_no_price():
    """
    An agent that tells only what went in has made something all the same.
    """
    found = bill(("agent_stop", 5), price=load_price_lookup())

    assert (None, ["gpt-5"]) == (found.total.micro_dollars, found.total.unpriced)


def test_a_sum_is_not_taken_for_one_long_request():
    """
    The requests of one day come to more than any of them was, and long ones have another price.
    """
    usage = Usage(input_tokens=150_000, output_tokens=10)
    with Writer() as writer:
        bills = []
        for number in range(2):
            writer.append([build_entry(stored(number, "agent_stop", usage, model="gemini-2.5-pro"))])
            bills.append(build_cost_report(writer.connection, RollupFilter(), "model", load_price_lookup()).total.micro_dollars)

    assert abs(bills[1] - 2 * bills[0]) <= 1
