"""Prices of model calls: list prices, and the user's own file (docs/hooks.md). An unknown model has no price: never 0.

Table prices are dollars per million tokens: input, output, cache read, cache write, cache write for an hour; what
is missing at the end costs as much as input. After a bar come a number of input tokens and the prices of requests
with more than that; they hold for all of such a request. `since` is the first day of a price that replaces
another one of the same name. Prices for priority, batches or regions are not listed, nor models whose price
depends on the hour. Pages were read in copies that may be some weeks old.
"""

import re
import tomllib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookonce.base import paths
from hookonce.errors import HookonceError
from hookonce.model import Usage
from hookonce.store.usage import tokens

_M = 1_000_000
_GEMINI_WINDOW = 1_048_576
_GPT_WINDOW = 1_050_000

# Names of models without a date, their context window, their prices, and the first day of these. Looked up on
# 2026-11-15, in the pages that stand above them.
PRICE_TABLE: tuple[tuple[str, int | None, str] | tuple[str, int | None, str, str], ...] = (
    # https://platform.claude.com/docs/en/about-claude/pricing
    ("claude-fable-5-1", _M, "10 50 0.25 12.50 20"),
    ("claude-mythos-5-1", None, "10 50 0.25 12.50 20"),
    ("claude-fable-5 claude-mythos-5", None, "10 50 1 12.50 20"),
    ("claude-opus-5 claude-opus-4-8 claude-opus-4-7", _M, "5 25 0.50 6.25 10"),
    ("claude-opus-4-6", None, "5 25 0.50 6.25 10"),
    ("claude-opus-4-5", 200_000, "5 25 0.50 6.25 10"),
    ("claude-opus-4-1 claude-opus-4-0 claude-opus-4", 200_000, "15 75 1.50 18.75 30"),
    ("claude-sonnet-5", _M, "2 10 0.20 2.50 4"),
    ("claude-sonnet-4-6", _M, "3 15 0.30 3.75 6"),
    ("claude-sonnet-4-5 claude-sonnet-4-0 claude-sonnet-4 claude-3-7-sonnet", 200_000, "3 15 0.30 3.75 6"),
    ("claude-haiku-4-5", 200_000, "1 5 0.10 1.25 2"),
    ("claude-3-5-haiku", 200_000, "0.80 4 0.08 1 1.60"),
    ("claude-3-haiku", 200_000, "0.25 1.25 0.03 0.30 0.50"),
    # what was not seen, or not with all of its prices, in the vendor's pages: models.dev, docs.github.com, others
    ("claude-opus-5-5", _M, "4 20 0.20 5 8"),
    ("claude-sonnet-5-5", _M, "2 10 0.10 2.50 4"),
    ("claude-haiku-5-5", _M, "0.10 0.50 0.01 0.125 0.20 | 100000 0.50 2.50 0.05 0.625 1"),
    ("gpt-6-astra", _GPT_WINDOW, "10 50 1 12.50 | 272000 20 75 2 25"),
    ("gpt-6.1-sol", _GPT_WINDOW, "2 10 0.10 2.50 | 272000 4 15 0.20 5"),
    ("gpt-6-luna", _GPT_WINDOW, "0.10 0.50 0.01 0.125 | 272000 0.20 0.75 0.02 0.25"),
    ("gpt-5.6-terra", _GPT_WINDOW, "2 12 0.20 2.50 | 272000 4 18 0.40 5"),
    ("gpt-5.6-luna", _GPT_WINDOW, "0.20 1.20 0.02 0.25 | 272000 0.40 1.80 0.04 0.50"),
    ("gpt-5.5", _GPT_WINDOW, "5 30 0.50 | 272000 10 45 1"),
    ("gpt-5.5-pro", _GPT_WINDOW, "30 180"),
    ("gpt-5.4", _GPT_WINDOW, "2.50 15 0.25"),
    ("gpt-5.4-mini", None, "0.75 4.50 0.075"),
    ("gpt-5.4-nano", None, "0.20 1.25 0.02"),
    ("gpt-5.3-codex gpt-5.2-codex gpt-5.2", 400_000, "1.75 14 0.175"),
    ("gpt-5", 400_000, "1.25 10 0.125"),
    ("gpt-5-mini", 400_000, "0.25 2 0.025"),
    ("gpt-4.1", None, "2 8 0.50"),
    ("gemini-3.8-flash", _M, "0.75 3.75 0.075"),
    ("gemini-3.8-flash", _M, "1.50 7.50 0.15", "2027-01-01"),
    ("gemini-3.7-flash", None, "0.75 3.75 0.075"),
    ("gemini-3.6-flash", _GEMINI_WINDOW, "0.75 3.75 0.075"),
    ("gemini-3.6-flash", _GEMINI_WINDOW, "1.50 7.50 0.15", "2027-01-01"),
    ("gemini-3.5-flash", _GEMINI_WINDOW, "1.50 9 0.15"),
    ("gemini-3.5-flash-lite gemini-2.5-flash", _GEMINI_WINDOW, "0.30 2.50 0.03"),
    ("gemini-3.1-pro-preview", _GEMINI_WINDOW, "2 12 0.20 | 200000 4 18 0.40"),
    ("gemini-3.1-flash-lite", _GEMINI_WINDOW, "0.25 1.50 0.025"),
    ("gemini-3-flash-preview", _GEMINI_WINDOW, "0.50 3 0.05"),
    ("gemini-2.5-pro", _GEMINI_WINDOW, "1.25 10 0.125 | 200000 2.50 15 0.25"),
    ("gemini-2.5-flash-lite", _GEMINI_WINDOW, "0.10 0.40 0.01"),
    ("grok-4.7", 500_000, "2 6 0.50 | 200000 4 12 1"),
    ("kimi-k3", _GEMINI_WINDOW, "3 15 0.30"),
    ("glm-5.3 glm-5.2", _M, "1.40 4.40 0.26"),
    ("qwen3-max", None, "1.20 6 0.24 1.50 | 32000 2.40 12 0.48 3 | 128000 3 15 0.60 3.75"),
    ("qwen3-coder-plus", _M, "1 5 0.20 1.25 | 32000 1.80 9 0.36 2.25 | 128000 3 15 0.60 3.75 | 256000 6 60 1.20 7.50"),
    (
        "qwen3-coder-flash",
        None,
        "0.30 1.50 0.06 0.375 | 32000 0.50 2.50 0.10 0.625 | 128000 0.80 4 0.16 1 | 256000 1.60 9.60 0.32 2",
    ),
    # https://developers.openai.com/api/docs/models
    ("gpt-6-sol", _GPT_WINDOW, "2 10 0.20 2.50 | 272000 4 15 0.40 5"),
    ("gpt-5.6-sol gpt-5.6", _GPT_WINDOW, "4 20 0.40 5 | 272000 8 30 0.80 10"),
    ("gpt-5-codex", 400_000, "1.25 10 0.125"),
)

_DECIMAL = re.compile(r"(\d{1,6})(?:\.(\d{1,6}))?", re.ASCII)
_RATE_FIELDS = ("input", "output", "cache_read", "cache_write", "cache_write_hour")
# Before a name: the platform that offers the model. After it: a date, `latest`, a version or a context size.
_NAME_PREFIX = re.compile(r"(?:.*/)?(?:global\.)?(?:anthropic\.)?")
_NAME_SUFFIX = re.compile(
    r"(?:[-@](?:\d{8}|\d{4}-\d\d-\d\d|latest|default))?(?:-v\d+(?::\d+)?)?(?:\[1m\])?(?:-preview(?:-\d\d-\d{2,4})?)?"
)


class Rates(Struct, frozen=True):
    """Millionths of a dollar per million tokens, for requests with more input than `above_tokens`."""

    above_tokens: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    cache_write_hour: int


class Price(Struct, frozen=True, kw_only=True):
    """Price of a model from a day on; the last rates whose `above_tokens` is exceeded apply."""

    name: str
    rates: tuple[Rates, ...]
    window: int | None = None
    since: str = ""


PricesByModel = dict[str, tuple[Price, ...]]


def cost_of(model: str | None, usage: Usage) -> int | None:
    """Cost of a call today in millionths of a dollar; None if the model or its tokens are not known."""
    price = price_of(model)
    return None if price is None else apply_price(price, usage)


def apply_price(price: Price, usage: Usage, *, hour_writes: int = 0, input_tier: int | None = None) -> int | None:
    """Cost of a call at a price in millionths of a dollar; None if its tokens are not known.

    Input and output of the usage include the tokens of caches and of reasoning. `hour_writes` are the cache writes
    that are kept for an hour. For a sum over several calls, `input_tier` is the tier that each of them exceeds.
    """
    input_tokens, output_tokens = usage.input_tokens, usage.output_tokens
    if input_tokens is None or output_tokens is None:
        return None
    cache_read, cache_write = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    total_input = tokens.total_input_tokens(input_tokens, cache_read, cache_write)
    tier = tokens.find_input_tier(total_input) if input_tier is None else input_tier
    rates = next(rates for rates in reversed(price.rates) if rates.above_tokens <= tier)
    hour_write = min(hour_writes, cache_write)
    counts = (total_input - cache_read - cache_write, output_tokens, cache_read, cache_write - hour_write, hour_write)
    total: int = sum(count * getattr(rates, name) for count, name in zip(counts, _RATE_FIELDS, strict=True))
    return (total + _M // 2) // _M


def window_of(model: str | None) -> int | None:
    """Context window of a model in tokens; None if unknown."""
    price = price_of(model)
    return None if price is None else price.window


def price_of(model: str | None, *, day: str | None = None, prices: PricesByModel | None = None) -> Price | None:
    """Price of a model on a day: of the longest listed name that it begins with, up to a date suffix."""
    prices_by_name = load_prices() if prices is None else prices
    bare_name = _NAME_PREFIX.sub("", (model or "").lower(), count=1)
    candidates = [name for name in (bare_name[:end] for end in range(len(bare_name), 0, -1)) if name in prices_by_name]
    best_name = next((name for name in candidates if _NAME_SUFFIX.fullmatch(bare_name[len(name) :])), None)
    if best_name is None:
        return None
    on_day = day or datetime.now(UTC).date().isoformat()
    return next((price for price in reversed(prices_by_name[best_name]) if price.since <= on_day[:10]), None)


def prices_file() -> Path:
    """The user's own price file."""
    return paths.config_dir() / "prices.toml"


def load_prices() -> PricesByModel:
    """The table, overridden by the user's file; HookonceError if that cannot be used."""
    own_file = prices_file()
    try:
        text = own_file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return _list_prices()
    except (OSError, ValueError) as problem:
        raise HookonceError(f"{own_file} cannot be read: {problem}") from None
    return _list_prices() | _parse_own_prices(text, str(own_file))


@cache
def _list_prices() -> PricesByModel:
    prices: PricesByModel = {}
    for names, window, amounts, *since in PRICE_TABLE:
        tiers = (words.split() for words in f"0 {amounts}".split("|"))
        parsed_tiers = [(int(above), map(_parse_micros, tier)) for above, *tier in tiers]
        rates = tuple(_build_rates(above, dict(zip(_RATE_FIELDS, tier, strict=False))) for above, tier in parsed_tiers)
        for name in names.split():
            new_price = Price(name=name, rates=rates, window=window, since=since[0] if since else "")
            prices[name] = tuple(sorted((*prices.get(name, ()), new_price), key=lambda price: price.since))
    return prices


def _build_rates(above_tokens: int, amounts: dict[str, int]) -> Rates:
    """Cache writes for an hour cost as much as others where nothing else is listed."""
    cost = amounts["input"]
    write = amounts.get("cache_write", cost)
    read, hour = amounts.get("cache_read", cost), amounts.get("cache_write_hour", write)
    return Rates(above_tokens, cost, amounts["output"], read, write, hour)


def _parse_micros(text: str) -> int:
    """Without going through a binary fraction."""
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise ValueError(f"{text} is no price")
    return int(match[1]) * _M + int((match[2] or "").ljust(6, "0"))


@cache
def _parse_own_prices(text: str, file: str) -> PricesByModel:
    try:
        document = tomllib.loads(text, parse_float=str)  # a price is never a binary fraction
        return {name.lower(): (_parse_own_price(name.lower(), table),) for name, table in document.items()}
    except (ValueError, KeyError, AttributeError, RecursionError) as problem:
        raise HookonceError(f"{file} cannot be used: {problem}") from None


def _parse_own_price(name: str, table: dict[str, Any]) -> Price:
    unknown = table.keys() - {*_RATE_FIELDS, "window"}
    if unknown or not {"input", "output"} <= table.keys():
        problem = f"knows no {min(unknown)}" if unknown else "needs input and output"
        raise ValueError(f"{name} {problem}")
    rates = _build_rates(0, {key: _parse_micros(str(table[key])) for key in _RATE_FIELDS if key in table})
    window = table.get("window")
    if window is not None and (type(window) is not int or window <= 0):
        raise ValueError(f"the window of {name} is a number of tokens")
    return Price(name=name, rates=(rates,), window=window)
