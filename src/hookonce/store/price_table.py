"""Prices of model calls: a table of list prices, and the user's own file. An unknown model has no price: never 0.

Table prices are dollars per million tokens: input, output, cache read, cache write, cache write for an hour; what
is missing at the end costs as much as input. After a bar come a number of input tokens and the prices of requests
with more than that; they hold for all of such a request. `since` is the first day of a price that replaces
another one of the same name. Prices for priority, batches or regions are not listed, nor models whose price
depends on the hour. Pages were read in copies that may be some weeks old.

The user's file is `~/.config/hookonce/prices.toml`, a table for each model, in dollars per million tokens:

    ["my-model"]
    input = 1.25
    output = 10
    cache_read = 0.125    # these three cost as much as input unless they are named
    cache_write = 1.25
    cache_write_hour = 2
    window = 400000       # tokens of context
"""

from typing import NamedTuple


class PriceRow(NamedTuple):
    """One model: its name without a date, its context window and its prices."""

    name: str
    window: int | None
    prices: str
    since: str = ""


class PriceSource(NamedTuple):
    """A page with prices, the day of the look-up, and whether it is the vendor's own."""

    page: str
    checked_on: str
    is_documented: bool
    rows: tuple[PriceRow, ...]


_M = 1_000_000
_GEMINI_WINDOW = 1_048_576
_GPT_WINDOW = 1_050_000
_CHECKED_ON = "2026-11-15"

PRICE_TABLE: tuple[PriceSource, ...] = (
    PriceSource(
        "https://platform.claude.com/docs/en/about-claude/pricing",
        _CHECKED_ON,
        is_documented=True,
        rows=(
            PriceRow("claude-fable-5-1", _M, "10 50 0.25 12.50 20"),
            PriceRow("claude-mythos-5-1", None, "10 50 0.25 12.50 20"),
            PriceRow("claude-fable-5", None, "10 50 1 12.50 20"),
            PriceRow("claude-mythos-5", None, "10 50 1 12.50 20"),
            PriceRow("claude-opus-5", _M, "5 25 0.50 6.25 10"),
            PriceRow("claude-opus-4-8", _M, "5 25 0.50 6.25 10"),
            PriceRow("claude-opus-4-7", _M, "5 25 0.50 6.25 10"),
            PriceRow("claude-opus-4-6", None, "5 25 0.50 6.25 10"),
            PriceRow("claude-opus-4-5", 200_000, "5 25 0.50 6.25 10"),
            PriceRow("claude-opus-4-1", 200_000, "15 75 1.50 18.75 30"),
            PriceRow("claude-opus-4-0", 200_000, "15 75 1.50 18.75 30"),
            PriceRow("claude-opus-4", 200_000, "15 75 1.50 18.75 30"),
            PriceRow("claude-sonnet-5", _M, "2 10 0.20 2.50 4"),
            PriceRow("claude-sonnet-4-6", _M, "3 15 0.30 3.75 6"),
            PriceRow("claude-sonnet-4-5", 200_000, "3 15 0.30 3.75 6"),
            PriceRow("claude-sonnet-4-0", 200_000, "3 15 0.30 3.75 6"),
            PriceRow("claude-sonnet-4", 200_000, "3 15 0.30 3.75 6"),
            PriceRow("claude-3-7-sonnet", 200_000, "3 15 0.30 3.75 6"),
            PriceRow("claude-haiku-4-5", 200_000, "1 5 0.10 1.25 2"),
            PriceRow("claude-3-5-haiku", 200_000, "0.80 4 0.08 1 1.60"),
            PriceRow("claude-3-haiku", 200_000, "0.25 1.25 0.03 0.30 0.50"),
        ),
    ),
    PriceSource(  # what was not seen, or not with all of its prices, in the vendor's own pages
        "models.dev, docs.github.com and others that quote the vendor",
        _CHECKED_ON,
        is_documented=False,
        rows=(
            PriceRow("claude-opus-5-5", _M, "4 20 0.20 5 8"),
            PriceRow("claude-sonnet-5-5", _M, "2 10 0.10 2.50 4"),
            PriceRow("claude-haiku-5-5", _M, "0.10 0.50 0.01 0.125 0.20 | 100000 0.50 2.50 0.05 0.625 1"),
            PriceRow("gpt-6-astra", _GPT_WINDOW, "10 50 1 12.50 | 272000 20 75 2 25"),
            PriceRow("gpt-6.1-sol", _GPT_WINDOW, "2 10 0.10 2.50 | 272000 4 15 0.20 5"),
            PriceRow("gpt-6-luna", _GPT_WINDOW, "0.10 0.50 0.01 0.125 | 272000 0.20 0.75 0.02 0.25"),
            PriceRow("gpt-5.6-terra", _GPT_WINDOW, "2 12 0.20 2.50 | 272000 4 18 0.40 5"),
            PriceRow("gpt-5.6-luna", _GPT_WINDOW, "0.20 1.20 0.02 0.25 | 272000 0.40 1.80 0.04 0.50"),
            PriceRow("gpt-5.5", _GPT_WINDOW, "5 30 0.50 | 272000 10 45 1"),
            PriceRow("gpt-5.5-pro", _GPT_WINDOW, "30 180"),
            PriceRow("gpt-5.4", _GPT_WINDOW, "2.50 15 0.25"),
            PriceRow("gpt-5.4-mini", None, "0.75 4.50 0.075"),
            PriceRow("gpt-5.4-nano", None, "0.20 1.25 0.02"),
            PriceRow("gpt-5.3-codex", 400_000, "1.75 14 0.175"),
            PriceRow("gpt-5.2-codex", 400_000, "1.75 14 0.175"),
            PriceRow("gpt-5.2", 400_000, "1.75 14 0.175"),
            PriceRow("gpt-5", 400_000, "1.25 10 0.125"),
            PriceRow("gpt-5-mini", 400_000, "0.25 2 0.025"),
            PriceRow("gpt-4.1", None, "2 8 0.50"),
            PriceRow("gemini-3.8-flash", _M, "0.75 3.75 0.075"),
            PriceRow("gemini-3.8-flash", _M, "1.50 7.50 0.15", "2027-01-01"),
            PriceRow("gemini-3.7-flash", None, "0.75 3.75 0.075"),
            PriceRow("gemini-3.6-flash", _GEMINI_WINDOW, "0.75 3.75 0.075"),
            PriceRow("gemini-3.6-flash", _GEMINI_WINDOW, "1.50 7.50 0.15", "2027-01-01"),
            PriceRow("gemini-3.5-flash", _GEMINI_WINDOW, "1.50 9 0.15"),
            PriceRow("gemini-3.5-flash-lite", _GEMINI_WINDOW, "0.30 2.50 0.03"),
            PriceRow("gemini-3.1-pro-preview", _GEMINI_WINDOW, "2 12 0.20 | 200000 4 18 0.40"),
            PriceRow("gemini-3.1-flash-lite", _GEMINI_WINDOW, "0.25 1.50 0.025"),
            PriceRow("gemini-3-flash-preview", _GEMINI_WINDOW, "0.50 3 0.05"),
            PriceRow("gemini-2.5-pro", _GEMINI_WINDOW, "1.25 10 0.125 | 200000 2.50 15 0.25"),
            PriceRow("gemini-2.5-flash", _GEMINI_WINDOW, "0.30 2.50 0.03"),
            PriceRow("gemini-2.5-flash-lite", _GEMINI_WINDOW, "0.10 0.40 0.01"),
            PriceRow("grok-4.7", 500_000, "2 6 0.50 | 200000 4 12 1"),
            PriceRow("kimi-k3", _GEMINI_WINDOW, "3 15 0.30"),
            PriceRow("glm-5.3", _M, "1.40 4.40 0.26"),
            PriceRow("glm-5.2", _M, "1.40 4.40 0.26"),
            PriceRow("qwen3-max", None, "1.20 6 0.24 1.50 | 32000 2.40 12 0.48 3 | 128000 3 15 0.60 3.75"),
            PriceRow(
                "qwen3-coder-plus",
                _M,
                "1 5 0.20 1.25 | 32000 1.80 9 0.36 2.25 | 128000 3 15 0.60 3.75 | 256000 6 60 1.20 7.50",
            ),
            PriceRow(
                "qwen3-coder-flash",
                None,
                "0.30 1.50 0.06 0.375 | 32000 0.50 2.50 0.10 0.625 | 128000 0.80 4 0.16 1 | 256000 1.60 9.60 0.32 2",
            ),
        ),
    ),
    PriceSource(
        "https://developers.openai.com/api/docs/models",
        _CHECKED_ON,
        is_documented=True,
        rows=(
            PriceRow("gpt-6-sol", _GPT_WINDOW, "2 10 0.20 2.50 | 272000 4 15 0.40 5"),
            PriceRow("gpt-5.6-sol", _GPT_WINDOW, "4 20 0.40 5 | 272000 8 30 0.80 10"),
            PriceRow("gpt-5.6", _GPT_WINDOW, "4 20 0.40 5 | 272000 8 30 0.80 10"),
            PriceRow("gpt-5-codex", 400_000, "1.25 10 0.125"),
        ),
    ),
)
