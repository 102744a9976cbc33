"""Reading the summaries: how many events by anything they are counted under, what hooks cost, what was spent."""

from collections.abc import Iterator
from sqlite3 import Connection

from msgspec import Struct

from hookonce.store.query import bare
from hookonce.store.rollup import upper
from hookonce.store.told import TOKENS

KINDS = ("agent", "type", "tool", "outcome", "day")
_DAY = 10  # characters


class Span(Struct, frozen=True, kw_only=True):
    """Which summaries: days from and to (that one not), and one agent or all."""

    since: str | None = None
    until: str | None = None
    agent: str | None = None


class HookCost(Struct, frozen=True, kw_only=True):
    """What a hook did and took. A percentile is the upper end of its bucket, at most a quarter too high."""

    hook: str
    runs: int
    failures: int
    refusals: int
    tokens: int
    mean_ms: float
    p50_ms: float
    p95_ms: float


class Spent(Struct, frozen=True):
    """Tokens of calls whose input exceeds a step (`over`) and not the next; the counts are those of `TOKENS`."""

    day: str
    agent: str
    model: str
    over: int
    project: str
    tokens: tuple[int, ...]


def counts(connection: Connection, span: Span) -> dict[str, dict[str, int]]:
    """The number of events by agent, type, tool, outcome and day."""
    where, values = _where(span)
    found: dict[str, dict[str, int]] = {kind: {} for kind in KINDS}
    for kinds in (KINDS[:-1], KINDS[-1:]):  # days are many, and the rest of all of them together is not
        columns = ", ".join(kinds)
        text = f"SELECT {columns}, sum(events) FROM counts WHERE {where} GROUP BY {columns}"  # noqa: S608  our own words
        for *names, events in connection.execute(text, values):
            for kind, name in zip(kinds, names, strict=True):
                found[kind][name] = found[kind].get(name, 0) + events
    return found


def hooks(connection: Connection, span: Span) -> list[HookCost]:
    """What each hook cost, the dearest first; which agent called it is not counted."""
    where, values = _where(Span(since=span.since, until=span.until))
    text = f"""SELECT hook, bucket, sum(runs), sum(failures), sum(refusals), sum(ms), sum(tokens)
        FROM hooks WHERE {where} GROUP BY hook, bucket ORDER BY hook, bucket"""  # noqa: S608  our own words
    rows: dict[str, list[tuple[float, ...]]] = {}
    for hook, *numbers in connection.execute(text, values):
        rows.setdefault(hook, []).append(tuple(numbers))
    return [
        one
        for _, one in sorted(((-sum(row[4] for row in of), _cost(hook, of)) for hook, of in rows.items()), key=_first)
    ]


def _first(pair: tuple[float, HookCost]) -> tuple[float, str]:
    return pair[0], pair[1].hook


def _cost(hook: str, rows: list[tuple[float, ...]]) -> HookCost:
    runs, failures, refusals, ms, tokens = (sum(row[index] for row in rows) for index in range(1, 6))
    sizes = [(int(row[0]), int(row[1])) for row in rows]
    return HookCost(
        hook=hook,
        runs=int(runs),
        failures=int(failures),
        refusals=int(refusals),
        tokens=int(tokens),
        mean_ms=round(ms / runs, 3),
        p50_ms=round(percentile(sizes, 0.5), 3),
        p95_ms=round(percentile(sizes, 0.95), 3),
    )


def percentile(sizes: list[tuple[int, int]], part: float) -> float:
    """The time within which that part of runs was over, from buckets and how many runs are in each, in order."""
    wanted = part * sum(count for _, count in sizes)
    seen = 0
    for bucket, count in sizes:
        seen += count
        if seen >= wanted:
            return upper(bucket)
    return 0.0


def spent(connection: Connection, span: Span, *, projects: bool) -> Iterator[Spent]:
    """Tokens by day, agent, model and length of the request, and by project if that is wanted; each call once."""
    where, values = _where(span)
    table, place = ("places", "project") if projects else ("spent", "''")
    text = f"SELECT day, agent, model, over, {place}, {', '.join(TOKENS)} FROM {table} WHERE {where}"  # noqa: S608
    for day, agent, model, over, project, *sums in connection.execute(text, values):
        yield Spent(day, agent, model, over, project, tuple(sums))


def _where(span: Span) -> tuple[str, list[str]]:
    parts, values = ["TRUE"], []
    if span.since is not None:
        parts.append("day >= ?")
        values.append(bare(span.since)[:_DAY])
    if span.until is not None:  # a day that has begun by then is counted whole
        parts.append("day < ?" if _is_midnight(span.until) else "day <= ?")
        values.append(bare(span.until)[:_DAY])
    if span.agent is not None:
        parts.append("agent = ?")
        values.append(span.agent)
    return " AND ".join(parts), values


def _is_midnight(time: str) -> bool:
    return bare(time)[_DAY:] in {"", "T00:00:00"}
