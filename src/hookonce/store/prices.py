"""What a model call costs, by its vendor's list and the user's own file. What is not known has no price: never 0.

The file is `~/.config/hookonce/prices.toml`, a table for each model, in dollars per million tokens:

    ["my-model"]
    input = 1.25
    output = 10
    cache_read = 0.125    # these three cost as much as input unless they are named
    cache_write = 1.25
    cache_write_hour = 2
    window = 400000       # tokens of context
"""

import re
import tomllib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.model import Usage
from hookonce.store import steps
from hookonce.store.price_table import TABLE, Row, Source

_MILLION = 1_000_000
_DECIMAL = re.compile(r"(\d{1,6})(?:\.(\d{1,6}))?", re.ASCII)
_FIELDS = ("input", "output", "cache_read", "cache_write", "cache_write_hour")
# Before a name: who else offers it. After it: the day on which it was made, or that it is the latest.
_BEFORE = re.compile(r"(?:.*/)?(?:global\.)?(?:anthropic\.)?")
_AFTER = re.compile(
    r"(?:[-@](?:\d{8}|\d{4}-\d\d-\d\d|latest|default))?(?:-v\d+(?::\d+)?)?(?:\[1m\])?(?:-preview(?:-\d\d-\d{2,4})?)?"
)


class Rates(Struct, frozen=True):
    """Millionths of a dollar per million tokens, for requests with more input than `over`."""

    over: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    cache_write_hour: int


class Price(Struct, frozen=True, kw_only=True):
    """What a model costs from a day on; the last rates whose input is exceeded hold."""

    name: str
    rates: tuple[Rates, ...]
    window: int | None = None
    since: str = ""
    source: str
    checked: str | None = None
    documented: bool = False


class Cost(Struct, frozen=True, kw_only=True):
    """Millionths of a dollar, and whose price it was."""

    micros: int
    price: str
    source: str
    checked: str | None = None
    documented: bool = False


Prices = dict[str, tuple[Price, ...]]


def cost_of(
    model: str | None,
    usage: Usage,
    *,
    hour_writes: int = 0,
    day: str | None = None,
    over: int | None = None,
    prices: Prices | None = None,
) -> Cost | None:
    """What a call has cost on a day, today by default; None if the model or its tokens are not known.

    Input and output of the usage are all tokens, those of caches and of reasoning among them. `hour_writes` are those
    of the written tokens that are kept for an hour. Of many calls whose tokens are one sum, `over` is the step that the
    input of each exceeds.
    """
    price = price_of(model, day=day, prices=prices)
    return None if price is None else charged(price, usage, hour_writes=hour_writes, over=over)


def charged(price: Price, usage: Usage, *, hour_writes: int = 0, over: int | None = None) -> Cost | None:
    """What a call has cost at a price; see `cost_of`."""
    told, made = usage.input_tokens, usage.output_tokens
    if told is None or made is None:
        return None
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    given = steps.given(told, read, written)
    rates = _fitting(price, steps.step(given) if over is None else over)
    hour = min(hour_writes, written)
    counts = (given - read - written, made, read, written - hour, hour)
    total = sum(count * getattr(rates, name) for count, name in zip(counts, _FIELDS, strict=True))
    return Cost(
        micros=(total + _MILLION // 2) // _MILLION,
        price=price.name,
        source=price.source,
        checked=price.checked,
        documented=price.documented,
    )


def _fitting(price: Price, over: int) -> Rates:
    return next(one for one in reversed(price.rates) if one.over <= over)


def window_of(model: str | None, *, prices: Prices | None = None) -> int | None:
    """How many tokens of context a model takes, None if that is not known."""
    price = price_of(model, prices=prices)
    return None if price is None else price.window


def price_of(model: str | None, *, day: str | None = None, prices: Prices | None = None) -> Price | None:
    """The price of a model on a day: of the longest name that it begins with, if nothing but a date follows."""
    known = known_prices() if prices is None else prices
    rest = _BEFORE.sub("", (model or "").lower(), count=1)
    fitting = [name for name in (rest[:end] for end in range(len(rest), 0, -1)) if name in known]
    found = next((name for name in fitting if _AFTER.fullmatch(rest[len(name) :])), None)
    if found is None:
        return None
    when = day or datetime.now(UTC).date().isoformat()
    return next((one for one in reversed(known[found]) if one.since <= when[:10]), None)


def file() -> Path:
    """Where the user's own prices stand."""
    return paths.configuration() / "prices.toml"


def known_prices() -> Prices:
    """The list, and the user's own prices in its place; a HookonceError if their file cannot be used."""
    own = file()
    try:
        text = own.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return _listed()
    except (OSError, ValueError) as problem:
        raise HookonceError(f"{own} cannot be read: {problem}") from None
    return _listed() | _own(text, str(own))


@cache
def _listed() -> Prices:
    found: Prices = {}
    for source in TABLE:
        for row in source.rows:
            found[row.name] = tuple(sorted((*found.get(row.name, ()), _price(row, source)), key=lambda one: one.since))
    return found


def _price(row: Row, source: Source) -> Price:
    first, *more = row.prices.split("|")
    tiers = [_rates(0, first.split()), *(_rates(int(words[0]), words[1:]) for words in map(str.split, more))]
    return Price(
        name=row.name,
        rates=tuple(tiers),
        window=row.window,
        since=row.since,
        source=source.page,
        checked=source.checked,
        documented=source.documented,
    )


def _rates(over: int, told: list[str]) -> Rates:
    """Prices in order; a written cache for an hour costs as much as one for minutes where nothing else is told."""
    given, made, *cached = map(_micros, told)
    read = cached[0] if cached else given
    written = cached[1] if len(cached) > 1 else given
    return Rates(over, given, made, read, written, cached[2] if len(cached) > 2 else written)  # noqa: PLR2004


def _micros(text: str) -> int:
    """Dollars as millionths, without going through a fraction."""
    found = _DECIMAL.fullmatch(text)
    if found is None:
        raise ValueError(f"{text} is no price")
    return int(found[1]) * _MILLION + int((found[2] or "").ljust(6, "0"))


@cache
def _own(text: str, file: str) -> Prices:
    try:
        told = tomllib.loads(text, parse_float=str)  # a price is never a binary fraction
        return {name.lower(): (_own_price(name.lower(), one, file),) for name, one in told.items()}
    except (ValueError, KeyError, AttributeError, RecursionError) as problem:
        raise HookonceError(f"{file} cannot be used: {problem}") from None


def _own_price(name: str, told: dict[str, Any], file: str) -> Price:
    unknown = told.keys() - {*_FIELDS, "window"}
    if unknown or not {"input", "output"} <= told.keys():
        wrong = f"knows no {min(unknown)}" if unknown else "needs input and output"
        raise ValueError(f"{name} {wrong}")
    amounts = {key: _micros(str(told[key])) for key in _FIELDS if key in told}
    given, written = amounts["input"], amounts.get("cache_write", amounts["input"])
    rates = Rates(
        0, given, amounts["output"], amounts.get("cache_read", given), written, amounts.get("cache_write_hour", written)
    )
    window = told.get("window")
    if window is not None and (type(window) is not int or window <= 0):
        raise ValueError(f"the window of {name} is a number of tokens")
    return Price(name=name, rates=(rates,), window=window, source=file)
