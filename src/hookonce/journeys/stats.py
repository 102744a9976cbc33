"""Statistics and cost reports (`hookonce stats`, `hookonce cost`), from the store's summaries alone."""

from collections.abc import Mapping
from sqlite3 import Connection

from msgspec import Struct

from hookonce.store.spool import lost_record_count
from hookonce.store.tally import HookCost, RollupFilter, load_event_counts, load_hook_costs, load_spend
from hookonce.store.told import TOKEN_COLUMNS


class NamedCount(Struct, frozen=True, kw_only=True):
    """How many events there are of something."""

    name: str
    events: int


class Stats(Struct, frozen=True, kw_only=True):
    """What happened. `decisions` has `none` for events about which nothing was decided.

    `hooks` is null where one agent is asked for: which agent a hook ran for is not counted. `tokens` is null where
    nobody has told of any.
    """

    since: str | None
    until: str | None
    agent: str | None
    events: int
    agents: list[NamedCount]
    types: list[NamedCount]
    tools: list[NamedCount]
    decisions: list[NamedCount]
    days: list[NamedCount]
    tokens: dict[str, int] | None
    hooks: list[HookCost] | None
    lost_records: int


def build_stats(connection: Connection, span: RollupFilter) -> Stats:
    """Build the statistics of a time span, of one agent or of all."""
    tallies = load_event_counts(connection, span)
    tools = {name: count for name, count in tallies["tool"].items() if name}
    decisions = {name or "none": count for name, count in tallies["outcome"].items()}
    return Stats(
        since=span.since,
        until=span.until,
        agent=span.agent,
        events=sum(tallies["agent"].values()),
        agents=_sort_counts(tallies["agent"]),
        types=_sort_counts(tallies["type"]),
        tools=_sort_counts(tools),
        decisions=_sort_counts(decisions),
        days=[NamedCount(name=name, events=count) for name, count in sorted(tallies["day"].items())],
        tokens=_sum_tokens(connection, span),
        hooks=load_hook_costs(connection, span) if span.agent is None else None,
        lost_records=lost_record_count(),
    )


def _sum_tokens(connection: Connection, span: RollupFilter) -> dict[str, int] | None:
    token_rows = [entry.tokens for entry in load_spend(connection, span, projects=False)]
    return dict(zip(TOKEN_COLUMNS, map(sum, zip(*token_rows, strict=True)), strict=True)) if token_rows else None


def _sort_counts(counts_by_name: Mapping[str, int]) -> list[NamedCount]:
    """Highest first; equals by name."""
    return [NamedCount(name=name, events=count) for name, count in sorted(counts_by_name.items(), key=lambda item: (-item[1], item[0]))]
