"""Statistics and cost reports (`hookonce stats`, `hookonce cost`), from the store's summaries alone."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from sqlite3 import Connection
from typing import Literal

from msgspec import Struct

from hookonce.model import Usage
from hookonce.store.rollup import (
    HookCost,
    RollupFilter,
    SpendRow,
    find_utc_days,
    load_agent_counts,
    load_event_counts,
    load_hook_costs,
    load_session_spend,
    load_spend,
)
from hookonce.store.spool.files import lost_record_count
from hookonce.store.usage import prices
from hookonce.store.usage.tokens import TOKEN_COLUMNS


class NamedCount(Struct, frozen=True, kw_only=True):
    """How many events there are of something."""

    name: str
    events: int


class AgentCount(NamedCount, frozen=True, kw_only=True):
    """How much of what one agent has done: all its events, its tool calls, and what was refused or asked about."""

    calls: int
    refusals: int
    asks: int


class Stats(Struct, frozen=True, kw_only=True):
    """What happened. `decisions` has `none` for events about which nothing was decided.

    Days are those of `zone`, but for `utc_days`: an older version has counted these by days of UTC.
    `hooks` is null where one agent is asked for: which agent a hook ran for is not counted. `tokens` is null where
    nobody has told of any.
    """

    since: str | None
    until: str | None
    agent: str | None
    zone: str
    utc_days: list[str]
    events: int
    agents: list[AgentCount]
    types: list[NamedCount]
    tools: list[NamedCount]
    decisions: list[NamedCount]
    days: list[NamedCount]
    tokens: dict[str, int] | None
    hooks: list[HookCost] | None
    lost_records: int


def build_stats(connection: Connection, span: RollupFilter, zone: str = "UTC") -> Stats:
    """Build the statistics of a time span, of one agent or of all."""
    tallies = load_event_counts(connection, span)
    token_rows = [entry.tokens for entry in load_spend(connection, span, projects=False)]
    sums = list(map(sum, zip(*token_rows, strict=True)))
    return Stats(
        since=span.since,
        until=span.until,
        agent=span.agent,
        zone=zone,
        utc_days=find_utc_days(span),
        events=sum(tallies["agent"].values()),
        agents=_load_agents(connection, span),
        types=_sort_counts(tallies["type"]),
        tools=_sort_counts({name: count for name, count in tallies["tool"].items() if name}),
        decisions=_sort_counts({name or "none": count for name, count in tallies["outcome"].items()}),
        days=[NamedCount(name=name, events=count) for name, count in sorted(tallies["day"].items())],
        tokens=dict(zip(TOKEN_COLUMNS, sums, strict=True)) if sums else None,
        hooks=load_hook_costs(connection, span) if span.agent is None else None,
        lost_records=lost_record_count(),
    )


def _load_agents(connection: Connection, span: RollupFilter) -> list[AgentCount]:
    counts = load_agent_counts(connection, span)
    agents = [AgentCount(name=name, **numbers) for name, numbers in counts.items()]
    return sorted(agents, key=lambda agent: (-agent.events, agent.name))


def _sort_counts(counts_by_name: Mapping[str, int]) -> list[NamedCount]:
    counts = sorted(counts_by_name.items(), key=lambda item: (-item[1], item[0]))
    return [NamedCount(name=name, events=count) for name, count in counts]


CostGrouping = Literal["day", "agent", "model", "project", "session"]
COST_GROUPINGS: tuple[CostGrouping, ...] = ("day", "agent", "model", "project", "session")
UNKNOWN_NAME = "unknown"
PriceLookup = Callable[[SpendRow], int | None]  # in millionths of a dollar; None where nobody knows


class CostRow(Struct, frozen=True, kw_only=True):
    """Tokens and what they cost, under one name. Without any price `micro_dollars` is null, never 0.

    `unpriced` names models some of whose tokens are among the counted, but not among the cost. `agent` is that of a
    session; the session `unknown` is of tokens that belong to none, or to one that was erased.
    """

    name: str
    agent: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    micro_dollars: int | None = None
    unpriced: list[str] = []


class CostReport(Struct, frozen=True, kw_only=True):
    """Spend by day, agent, model, project or session, and in all; `zone` and `utc_days` as in `Stats`."""

    by: CostGrouping
    since: str | None
    until: str | None
    agent: str | None
    zone: str
    utc_days: list[str]
    rows: list[CostRow]
    total: CostRow


PricedSpend = tuple[SpendRow, int | None]


def build_cost_report(
    connection: Connection, span: RollupFilter, by: CostGrouping, price: PriceLookup, zone: str = "UTC"
) -> CostReport:
    """Build the cost report of a time span."""
    load_rows = load_session_spend if by == "session" else partial(load_spend, projects=by == "project")
    priced_entries = [(entry, price(entry)) for entry in load_rows(connection, span)]
    groups: dict[tuple[str, str], list[PricedSpend]] = {}
    for entry in priced_entries:
        agent = entry[0].agent if by == "session" else ""  # two agents may call a session the same
        groups.setdefault((getattr(entry[0], by) or UNKNOWN_NAME, agent), []).append(entry)
    rows = [_cost_row(name, members, agent or None) for (name, agent), members in sorted(groups.items())]
    if by != "day":
        rows.sort(key=lambda row: (-(row.micro_dollars or 0), -row.input_tokens - row.output_tokens))
    total = _cost_row("total", priced_entries)
    return CostReport(
        by=by,
        since=span.since,
        until=span.until,
        agent=span.agent,
        zone=zone,
        utc_days=find_utc_days(span),
        rows=rows,
        total=total,
    )


def load_price_lookup() -> PriceLookup:
    """Load a lookup of prices, from the list and from the user's file, on the day of each sum."""
    price_table = prices.load_prices()

    @cache
    def rates_on(model: str, day: str) -> prices.Price | None:
        return prices.price_of(model, day=day, prices=price_table)

    def cost_of(entry: SpendRow) -> int | None:
        rates, tokens = rates_on(entry.model, entry.day), dict(zip(TOKEN_COLUMNS, entry.tokens, strict=True))
        usage = Usage(**tokens | {"output_tokens": tokens["output_tokens"] or None})  # no output: it is not reported
        return None if rates is None else prices.apply_price(rates, usage, input_tier=entry.input_tier)

    return cost_of


def _cost_row(name: str, members: Iterable[PricedSpend], agent: str | None = None) -> CostRow:
    sums, costs, models_without_price = [0] * len(TOKEN_COLUMNS), list[int](), set[str]()
    for entry, micros in members:
        sums = [total + count for total, count in zip(sums, entry.tokens, strict=True)]
        if micros is None:
            models_without_price.add(entry.model or UNKNOWN_NAME)
        else:
            costs.append(micros)
    micros_sum, models = sum(costs) if costs else None, sorted(models_without_price)
    tokens = dict(zip(TOKEN_COLUMNS, sums, strict=True))
    return CostRow(name=name, agent=agent, **tokens, micro_dollars=micros_sum, unpriced=models)
