"""stats: how much of what happened, and what hooks cost, from the summaries alone."""

from collections.abc import Mapping
from sqlite3 import Connection

from msgspec import Struct

from hookonce.store.spool import lost
from hookonce.store.tally import HookCost, Span, counts, hooks, spent
from hookonce.store.told import TOKENS


class Count(Struct, frozen=True, kw_only=True):
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
    agents: list[Count]
    types: list[Count]
    tools: list[Count]
    decisions: list[Count]
    days: list[Count]
    tokens: dict[str, int] | None
    hooks: list[HookCost] | None
    lost_records: int


def stats(connection: Connection, span: Span) -> Stats:
    """The numbers of a time, of one agent or of all."""
    found = counts(connection, span)
    tools = {name: count for name, count in found["tool"].items() if name}
    decisions = {name or "none": count for name, count in found["outcome"].items()}
    return Stats(
        since=span.since,
        until=span.until,
        agent=span.agent,
        events=sum(found["agent"].values()),
        agents=_most(found["agent"]),
        types=_most(found["type"]),
        tools=_most(tools),
        decisions=_most(decisions),
        days=[Count(name=name, events=count) for name, count in sorted(found["day"].items())],
        tokens=_tokens(connection, span),
        hooks=hooks(connection, span) if span.agent is None else None,
        lost_records=lost(),
    )


def _tokens(connection: Connection, span: Span) -> dict[str, int] | None:
    found = [one.tokens for one in spent(connection, span, projects=False)]
    return dict(zip(TOKENS, map(sum, zip(*found, strict=True)), strict=True)) if found else None


def _most(found: Mapping[str, int]) -> list[Count]:
    """Most first; equals by name."""
    return [Count(name=name, events=count) for name, count in sorted(found.items(), key=lambda one: (-one[1], one[0]))]
