"""cost: what the tokens that agents have told were worth, from the summaries alone."""

from collections.abc import Callable, Iterable, Iterator
from sqlite3 import Connection
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookonce.model import Usage
from hookonce.store.prices import cost_of, known_prices
from hookonce.store.rollup import TOKENS
from hookonce.store.tally import Span, Spent, spent

By = Literal["day", "agent", "model", "project"]
WAYS: tuple[By, ...] = ("day", "agent", "model", "project")
UNKNOWN = "unknown"
Price = Callable[[Spent], int | None]  # in millionths of a dollar; None where nobody knows
# Those who tell of the same calls of a model; the first that does is believed, and beside it only calls of tools.
_TELLERS = ("after_model", "agent_stop", "agent_response", "session_end", "session_abort")
_ENDS = frozenset(_TELLERS[3:])


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
    told = [(one, price(one)) for one in _believed(list(spent(connection, span, projects=by == "project")))]
    names: dict[str, list[Priced]] = {}
    for one in told:
        names.setdefault(getattr(one[0], by) or UNKNOWN, []).append(one)
    rows = [_line(name, found) for name, found in sorted(names.items())]
    if by != "day":
        rows.sort(key=lambda row: (-(row.micro_dollars or 0), -row.input_tokens - row.output_tokens))
    total = _line("total", told)
    return Cost(by=by, since=span.since, until=span.until, agent=span.agent, rows=rows, total=total)


def listed() -> Price:
    """Prices of the list and of the user's file on the day of each sum.

    Sums do not say how large a single request was, so all of them have the price of an ordinary one.
    """
    prices = {name: tuple(replace(one, rates=one.rates[:1]) for one in dated) for name, dated in known_prices().items()}

    def price(one: Spent) -> int | None:
        found = cost_of(one.model, _usage(one), day=one.day, prices=prices)
        return None if found is None else found.micros

    return price


def _usage(one: Spent) -> Usage:
    """The sums as usage; an agent of which a day has seen no output at all does not tell it."""
    counts = dict(zip(TOKENS, one.tokens, strict=True))
    return Usage(**counts | {"output_tokens": counts["output_tokens"] or None})


def _believed(found: list[Spent]) -> Iterator[Spent]:
    """Each call of a model once: of those who tell of it, whoever knows best on that day in that place.

    The end of a session sums up what was told on days before; it counts where its agent tells nothing else.
    """
    talkative = {one.agent for one in found if one.type not in _ENDS}
    best: dict[tuple[str, str, str], int] = {}
    for one in found:
        if one.type in _TELLERS:
            place = (one.day, one.agent, one.project)
            best[place] = min(best.get(place, len(_TELLERS)), _TELLERS.index(one.type))
    for one in found:
        if one.type in _ENDS and one.agent in talkative:
            continue
        if one.type not in _TELLERS or _TELLERS.index(one.type) == best[one.day, one.agent, one.project]:
            yield one


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
