"""cost: what the tokens that agents have told were worth, from the summaries alone."""

from collections.abc import Callable, Iterable
from functools import cache
from sqlite3 import Connection
from typing import Literal

from msgspec import Struct

from hookonce.model import Usage
from hookonce.store import prices
from hookonce.store.tally import Span, Spent, spent
from hookonce.store.told import TOKENS

By = Literal["day", "agent", "model", "project"]
WAYS: tuple[By, ...] = ("day", "agent", "model", "project")
UNKNOWN = "unknown"
Price = Callable[[Spent], int | None]  # in millionths of a dollar; None where nobody knows


class Line(Struct, frozen=True, kw_only=True):
    """Tokens and what they cost, under one name. Without any price `micro_dollars` is null, never 0.

    `unpriced` names models some of whose tokens are among the counted, but not among the cost.
    """

    name: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    micro_dollars: int | None = None
    unpriced: list[str] = []


class Cost(Struct, frozen=True, kw_only=True):
    """What was spent: by day, agent, model or project, and in all."""

    by: By
    since: str | None
    until: str | None
    agent: str | None
    rows: list[Line]
    total: Line


Priced = tuple[Spent, int | None]


def cost(connection: Connection, span: Span, by: By, price: Price) -> Cost:
    """The bill of a time."""
    told = [(one, price(one)) for one in spent(connection, span, projects=by == "project")]
    names: dict[str, list[Priced]] = {}
    for one in told:
        names.setdefault(getattr(one[0], by) or UNKNOWN, []).append(one)
    rows = [_line(name, found) for name, found in sorted(names.items())]
    if by != "day":
        rows.sort(key=lambda row: (-(row.micro_dollars or 0), -row.input_tokens - row.output_tokens))
    total = _line("total", told)
    return Cost(by=by, since=span.since, until=span.until, agent=span.agent, rows=rows, total=total)


def listed() -> Price:
    """Prices of the list and of the user's file on the day of each sum."""
    known = prices.known_prices()

    @cache
    def dated(model: str, day: str) -> prices.Price | None:
        return prices.price_of(model, day=day, prices=known)

    def price(one: Spent) -> int | None:
        rates = dated(one.model, one.day)
        found = None if rates is None else prices.charged(rates, _usage(one), over=one.over)
        return None if found is None else found.micros

    return price


def _usage(one: Spent) -> Usage:
    """The sums as usage; an agent of which a day has seen no output at all does not tell it."""
    counts = dict(zip(TOKENS, one.tokens, strict=True))
    return Usage(**counts | {"output_tokens": counts["output_tokens"] or None})


def _line(name: str, found: Iterable[Priced]) -> Line:
    sums, known, unpriced = [0] * len(TOKENS), list[int](), set[str]()
    for one, micros in found:
        sums = [left + right for left, right in zip(sums, one.tokens, strict=True)]
        if micros is None:
            unpriced.add(one.model or UNKNOWN)
        else:
            known.append(micros)
    worth = sum(known) if known else None
    return Line(name=name, **dict(zip(TOKENS, sums, strict=True)), micro_dollars=worth, unpriced=sorted(unpriced))
