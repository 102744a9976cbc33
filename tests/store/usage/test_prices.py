"""What tokens cost, and what is not known about it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.errors import HookonceError
from hookonce.model import Usage
from hookonce.store.usage import tokens
from hookonce.store.usage.prices import (
    PRICE_TABLE,
    _list_prices,
    apply_price,
    cost_of,
    load_prices,
    price_of,
    window_of,
)

LISTED = _list_prices()
ROWS = [price for prices in LISTED.values() for price in prices]


def used(given=0, made=0, read=None, written=None):
    return Usage(input_tokens=given, output_tokens=made, cache_read_tokens=read, cache_write_tokens=written)


def micros(model, usage, day=None, **more):
    return apply_price(price_of(model, day=day, prices=LISTED), usage, **more)


def test_a_call_costs_its_tokens_at_their_own_prices():
    """
    Claude Sonnet 4.5: 3, 15, 0.30, 3.75 and 6 dollars per million.
    """
    usage = used(1_000_000, 100_000, 500_000, 200_000)
    assert 300_000 * 3 + 100_000 * 15 + 500_000 * 3 // 10 + 200_000 * 375 // 100 == micros("claude-sonnet-4-5", usage)
    hour = 150_000 * 375 // 100 + 50_000 * 6
    assert 900_000 + 1_500_000 + 150_000 + hour == micros("claude-sonnet-4-5", usage, hour_writes=50_000)


def test_a_long_request_costs_more_as_a_whole():
    """
    Gemini 2.5 Pro doubles above 200,000 tokens of input; a sum is of calls that exceed a step, however large it is.
    """
    assert 200_000 * 125 // 100 == micros("gemini-2.5-pro", used(200_000))
    assert 200_004 * 250 // 100 == micros("gemini-2.5-pro", used(200_004))
    assert 200_004 * 125 // 100 == micros("gemini-2.5-pro", used(200_004), input_tier=128_000)
    assert 4 * 250 // 100 == micros("gemini-2.5-pro", used(4), input_tier=256_000)


def test_cached_tokens_without_a_price_cost_as_much_as_others():
    """
    A vendor that names no price for a cache gives nothing away.
    """
    assert micros("gpt-5.5-pro", used(1000, 10)) == micros("gpt-5.5-pro", used(1000, 10, 500, 200))


def test_counts_that_cannot_be_all_of_the_input_are_what_was_new():
    """
    Less input than was read from the cache can only mean that the cache is told apart.
    """
    assert micros("claude-opus-5", used(1510, 0, 1000, 500)) == micros("claude-opus-5", used(10, 0, 1000, 500))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("global.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("claude-opus-4-6[1m]", "claude-opus-4-6"),
        ("anthropic/claude-opus-5-5", "claude-opus-5-5"),
        ("gpt-5.5-2026-04-23", "gpt-5.5"),
        ("GPT-5.5", "gpt-5.5"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("gpt-5.5-pro", "gpt-5.5-pro"),
    ],
)
def test_a_model_is_known_by_its_name_with_a_date_or_a_vendor(model, name):
    """
    The longest name that it begins with, if nothing but a date follows.
    """
    assert name == price_of(model, prices=LISTED).name


@pytest.mark.parametrize(
    "model", ["gpt-5.5-turbo", "gpt-5.55", "us.anthropic.claude-haiku-4-5", "claude", "scripted", "", None]
)
def test_what_is_not_listed_has_no_price(model):
    """
    Another model of the family, another region or no model at all: unpriced, and never 0.
    """
    assert price_of(model, prices=LISTED) is None
    assert cost_of(model, used(1000, 10)) is None
    assert window_of(model) is None


def test_tokens_that_are_not_told_have_no_price():
    """
    Half of a bill is no bill.
    """
    assert micros("gpt-5.5", Usage(input_tokens=5)) is None
    assert micros("gpt-5.5", Usage(output_tokens=5)) is None


def test_a_price_holds_from_its_day_on():
    """
    Gemini 3.8 Flash costs twice as much from 2027 on.
    """
    assert (75, 150) == tuple(micros("gemini-3.8-flash", used(100), day=day) for day in ("2026-12-31", "2027-01-01"))
    assert 150 == micros("gemini-3.8-flash", used(100), day="2027-01-01T00:00:00Z")


def test_a_model_has_the_window_of_its_name():
    """
    With a date or without.
    """
    assert 1_000_000 == price_of("claude-opus-5-20260724", prices=LISTED).window


@pytest.mark.parametrize("price", ROWS, ids=lambda price: price.name)
def test_every_row_of_the_table_is_sound(price):
    """
    A name as models are called, more for output than for input, and less for what a cache holds.
    """
    assert price.name == price.name.lower()
    assert price.window is None or 100_000 <= price.window <= 2_000_000
    assert sorted(one.above_tokens for one in price.rates) == [one.above_tokens for one in price.rates]
    for one in price.rates:
        assert 0 < one.cache_read <= one.input < one.output
        assert one.input <= one.cache_write <= one.cache_write_hour


def test_sums_are_kept_apart_by_every_step_that_has_a_price():
    """
    Those that are no longer in the list may stay: sums of former days are counted under them.
    """
    assert {one.above_tokens for prices in LISTED.values() for price in prices for one in price.rates} <= {*tokens.INPUT_TIERS}


def test_no_model_is_listed_twice_for_the_same_day():
    """
    Two prices at a time would be one too many.
    """
    named = [(name, *since) for names, _, _, *since in PRICE_TABLE for name in names.split()]
    assert len(named) == len(set(named)) == len(ROWS)


@given(st.sampled_from(sorted(LISTED)), *[st.integers(0, 10**7)] * 4)
def test_money_is_whole_and_never_negative(model, fresh, made, read, written):
    """
    Millionths of a dollar, as an int, that grow with every token.
    """
    usage, more = (used(fresh + extra + read + written, made, read, written) for extra in (0, 1000))
    assert type(micros(model, usage)) is int
    assert 0 <= micros(model, usage) <= micros(model, more)
    assert micros(model, usage, input_tier=0) <= micros(model, usage)
    assert micros(model, usage, input_tier=tokens.find_input_tier(fresh + read + written)) == micros(model, usage)


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / ".config/hookonce/prices.toml"
    file.parent.mkdir(parents=True)
    return file


def test_without_a_file_of_the_user_the_list_holds(own):
    """
    No file is needed.
    """
    assert LISTED == load_prices()
    own.parent.rmdir()
    assert LISTED == load_prices()


def test_prices_of_the_user_come_first_and_change_with_their_file(own):
    """
    One file adds models and replaces listed ones; fractions are exact.
    """
    own.write_text('["My-Model"]\ninput = 0.1\noutput = "0.3"\nwindow = 9000\n\n["gpt-5.5"]\ninput = 1\noutput = 2\n')
    assert 100_000 + 300_000 == cost_of("vendor/my-model", used(10**6, 10**6))
    assert (9000, None) == (window_of("my-model"), window_of("gpt-5.5"))
    assert 3 == cost_of("gpt-5.5", used(1, 1))
    own.write_text('["gpt-5.5"]\ninput = 7\noutput = 7\ncache_read = 1\ncache_write = 8\ncache_write_hour = 9\n')
    assert 7 + 1 + 8 + 9 == apply_price(price_of("gpt-5.5"), used(4, 0, 1, 2), hour_writes=1)
    assert price_of("my-model") is None


@pytest.mark.parametrize(
    "text",
    [
        "input = 1",
        "[m]\ninput = 1",
        "[m]\ninput = 1\noutput = -1",
        "[m]\ninput = 1\noutput = nan",
        "[m]\ninput = 1\noutput = 1e3",
        "[m]\ninput = 1\noutput = 0.0000001",
        "[m]\ninput = 1\noutput = 1\ncached = 1",
        "[m]\ninput = 1\noutput = 1\nwindow = 0",
        "[m",
    ],
)
def test_a_file_that_cannot_be_used_is_named(own, text):
    """
    A price that we do not understand is no price of somebody else's.
    """
    own.write_text(text)
    with pytest.raises(HookonceError, match=re.escape(str(own))):
        load_prices()
