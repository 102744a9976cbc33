"""Token usage of sessions: sums by source of the report, and which sources count.

Law: spend is the sum, over all sessions, of what the sources report that count in it.

Some models charge more for a request whose input exceeds a tier. Sums are kept apart by the last of all tiers
that a call exceeds, whatever its model costs now: prices change, and a sum cannot be split afterwards.
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from sqlite3 import Connection
from typing import NamedTuple

from hookonce.model import Event, Usage
from hookonce.vocabulary.events import is_redundant
from hookonce.vocabulary.usage_sources import MODEL, SINGLE_CALL_SOURCES, counting_sources, usage_source_of

INPUT_TIERS = (0, 32_000, 100_000, 128_000, 200_000, 256_000, 272_000)  # all that the list of prices has


def total_input_tokens(input_tokens: int, cache_read: int, cache_write: int) -> int:
    """All input of a call; less than its parts cannot be all: some agents report only what is new."""
    return input_tokens + cache_read + cache_write if input_tokens < cache_read + cache_write else input_tokens


def find_input_tier(input_tokens: int) -> int:
    """The last tier that a number of input tokens exceeds."""
    return INPUT_TIERS[max(bisect_left(INPUT_TIERS, input_tokens) - 1, 0)]


TOKEN_COLUMNS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
PARTIAL_SOURCE = "partial"  # of the model's answer, of which more may come; each tells what it has come to so far
NO_QUARTER = -1  # quarter hour of what an older version has counted, or of what has no time of day
_NO_TOKENS = (0,) * len(TOKEN_COLUMNS)
_MAX_EVENT_TOKENS = 10**12  # tokens that one event is believed, so that no sum is more than a database can hold

TokenCounts = tuple[int, ...]


class UsageKey(NamedTuple):
    """What tokens are summed by within a session; `input_tier` only for sources of single calls."""

    source: str
    day: str
    quarter: int  # hour of the UTC day, or NO_QUARTER
    model: str
    project: str
    input_tier: int


UsageSums = dict[UsageKey, TokenCounts]


class UsageReport(NamedTuple):
    """Usage that one event reports, with its store columns."""

    source: str
    usage: Usage
    day: str
    quarter: int
    model: str
    project: str
    is_final: bool  # whether nothing more of the model's answer will come


UsageReports = list[UsageReport | None]  # in their order; None where something else has come in between


def collect_report(reports: UsageReports, event: Event, day: str, quarter: int, model: str, project: str) -> None:
    """Collect the usage that an event reports."""
    source, usage = usage_source_of(event), event.usage
    if is_redundant(event) or (usage is None and source == MODEL):
        return
    if usage is not None and source is not None:
        reports.append(UsageReport(source, usage, day, quarter, model, project, bool(event.data.get("finish_reason"))))
    elif not reports or reports[-1] is not None:
        reports.append(None)


def add_session_usage(connection: Connection, agent: str, session: str, reports: UsageReports) -> None:
    """Add reports to the usage of a session and to the spend."""
    if reports in ([], [None]) and connection.execute(_SELECT_PARTIAL, (agent, session)).fetchone() is None:
        return
    before = {UsageKey(*row[:6]): row[6:] for row in connection.execute(_SELECT_USAGE, (agent, session))}
    after = dict(before)
    for report in reports:
        _apply_report(after, report)
    if after == before:
        return
    deleted_rows = [(agent, session, *key) for key in before.keys() - after.keys()]
    changed_rows = [(agent, session, *key, *numbers) for key, numbers in after.items() if before.get(key) != numbers]
    connection.executemany(_DELETE_USAGE, deleted_rows)
    connection.executemany(_UPSERT_USAGE, changed_rows)
    _update_spend(connection, agent, before, after)


def _apply_report(sums: UsageSums, report: UsageReport | None) -> None:
    if report is None or report.source != MODEL:
        _close_partial(sums)
    if report is None:
        return
    numbers = count_tokens(report.usage)
    if report.source == MODEL:
        _apply_partial(sums, report, numbers)
        if report.is_final:
            _close_partial(sums)
        return
    tier = tier_of(numbers) if report.source in SINGLE_CALL_SOURCES else 0
    _add_counts(sums, UsageKey(report.source, report.day, report.quarter, report.model, report.project, tier), numbers)


def count_tokens(usage: Usage) -> TokenCounts:
    """The counts of a usage in the order of `TOKEN_COLUMNS`; one that is not told is 0."""
    return tuple(min(max(getattr(usage, name) or 0, 0), _MAX_EVENT_TOKENS) for name in TOKEN_COLUMNS)


def _apply_partial(sums: UsageSums, report: UsageReport, numbers: TokenCounts) -> None:
    partial_key = next((key for key in sums if key.source == PARTIAL_SOURCE), None)
    max_numbers = tuple(map(max, sums.pop(partial_key) if partial_key is not None else _NO_TOKENS, numbers))
    tier = tier_of(max_numbers)
    sums[UsageKey(PARTIAL_SOURCE, report.day, report.quarter, report.model, report.project, tier)] = max_numbers


def _close_partial(sums: UsageSums) -> None:
    partial_key = next((key for key in sums if key.source == PARTIAL_SOURCE), None)
    if partial_key is not None:
        _add_counts(sums, partial_key._replace(source=MODEL), sums.pop(partial_key))


def tier_of(numbers: TokenCounts) -> int:
    """The tier of one call with these counts."""
    input_tokens, _, cache_read, cache_write, _ = numbers
    return find_input_tier(total_input_tokens(input_tokens, cache_read, cache_write))


def _add_counts(sums: UsageSums, key: UsageKey, numbers: TokenCounts) -> None:
    previous = sums.get(key)
    sums[key] = numbers if previous is None else tuple(map(int.__add__, previous, numbers))


def _update_spend(connection: Connection, agent: str, before: UsageSums, after: UsageSums, since: str = "") -> None:
    """Another source may count now: what counted before is subtracted."""
    change: dict[UsageKey, TokenCounts] = {}
    for sums, sign in ((after, 1), (before, -1)):
        for key, numbers in effective_usage(sums):
            _add_counts(change, key, tuple(sign * number for number in numbers))
    rows = [(key, numbers) for key, numbers in change.items() if any(numbers) and key.day >= since]
    connection.executemany(
        _ADD_PROJECT_USAGE, [(key.day, agent, key.model, key.input_tier, key.project, *counts) for key, counts in rows]
    )
    connection.executemany(_ADD_SPEND, [(key.day, agent, key.model, key.input_tier, *counts) for key, counts in rows])
    quarter_rows = [
        (key.day, key.quarter, agent, key.model, key.input_tier, key.project, *counts)
        for key, counts in rows
        if key.quarter != NO_QUARTER
    ]
    connection.executemany(_ADD_QUARTER_USAGE, quarter_rows)
    for key, numbers in rows:
        if min(numbers) < 0:  # all of it may have been taken back
            quarter_key = (key.day, agent, key.model, key.input_tier, key.project, key.quarter)
            connection.execute(_DELETE_ZERO_QUARTER_USAGE, quarter_key)
            connection.execute(_DELETE_ZERO_PROJECT_USAGE, (key.day, agent, key.model, key.input_tier, key.project))
            connection.execute(_DELETE_ZERO_SPEND, (key.day, agent, key.model, key.input_tier))


def effective_usage(sums: UsageSums) -> Iterator[tuple[UsageKey, TokenCounts]]:
    """The usage of a session that counts, without its source."""
    sources = counting_sources({MODEL if key.source == PARTIAL_SOURCE else key.source for key in sums})
    for key, numbers in sums.items():
        if (MODEL if key.source == PARTIAL_SOURCE else key.source) in sources:
            yield key._replace(source=""), numbers


def usage_by_source(connection: Connection, agent: str, session: str) -> dict[str, TokenCounts]:
    """All usage of a session by source."""
    counts_by_source: dict[str, TokenCounts] = {}
    for source, _, _, _, _, _, *numbers in connection.execute(_SELECT_USAGE, (agent, session)):
        source_name = MODEL if source == PARTIAL_SOURCE else source
        counts_by_source[source_name] = tuple(map(int.__add__, counts_by_source.get(source_name, _NO_TOKENS), numbers))
    return counts_by_source


def rebuild_spend(connection: Connection, since: str) -> None:
    """Recompute the spend from a day on."""
    for name in ("usage_by_project", "spend", "quarter_usage"):
        connection.execute(f"DELETE FROM main.{name} WHERE day >= ?", (since,))  # noqa: S608  our own words
    rows = connection.execute(_SELECT_ALL_USAGE).fetchall()
    for (agent, _), session_rows in groupby(rows, key=itemgetter(0, 1)):
        sums = {UsageKey(*row[2:8]): row[8:] for row in session_rows}
        _update_spend(connection, agent, {}, sums, since)


_TOKEN_NAMES = ", ".join(TOKEN_COLUMNS)
_ADD_TOKENS = ", ".join(f"{name} = {name} + excluded.{name}" for name in TOKEN_COLUMNS)
_ZERO_TOKENS = " AND ".join(f"{name} = 0" for name in TOKEN_COLUMNS)
_SELECT_USAGE = f"""SELECT source, day, quarter, model, project, input_tier, {_TOKEN_NAMES} FROM token_usage
    WHERE agent = ? AND session = ?"""  # noqa: S608
_SELECT_PARTIAL = f"SELECT 1 FROM token_usage WHERE agent = ? AND session = ? AND source = '{PARTIAL_SOURCE}'"  # noqa: S608
_SELECT_ALL_USAGE = "SELECT * FROM main.token_usage ORDER BY agent, session"
_DELETE_USAGE = """DELETE FROM token_usage WHERE agent = ? AND session = ? AND source = ? AND day = ? AND quarter = ?
    AND model = ? AND project = ? AND input_tier = ?"""
_UPSERT_USAGE = "INSERT OR REPLACE INTO token_usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ADD_PROJECT_USAGE = (
    f"INSERT INTO usage_by_project VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET {_ADD_TOKENS}"  # noqa: S608
)
_ADD_SPEND = f"INSERT INTO spend VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET {_ADD_TOKENS}"  # noqa: S608
_ADD_QUARTER_USAGE = (
    f"INSERT INTO quarter_usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET {_ADD_TOKENS}"  # noqa: S608
)
_ZERO_ROW = f"day = ? AND agent = ? AND model = ? AND input_tier = ? AND {_ZERO_TOKENS}"
_DELETE_ZERO_SPEND = f"DELETE FROM spend WHERE {_ZERO_ROW}"  # noqa: S608
_DELETE_ZERO_PROJECT_USAGE = f"DELETE FROM usage_by_project WHERE {_ZERO_ROW} AND project = ?"  # noqa: S608
_DELETE_ZERO_QUARTER_USAGE = f"DELETE FROM quarter_usage WHERE {_ZERO_ROW} AND project = ? AND quarter = ?"  # noqa: S608


def load_session_tokens(connection: Connection, agent: str, session: str) -> dict[str, int] | None:
    """Tokens of a session by `TOKEN_COLUMNS`; None if nothing was reported."""
    rows = connection.execute(_SELECT_USAGE, (agent, session)).fetchall()
    token_counts = [numbers for _, numbers in effective_usage({UsageKey(*row[:6]): row[6:] for row in rows})]
    return dict(zip(TOKEN_COLUMNS, map(sum, zip(*token_counts, strict=True)), strict=True)) if token_counts else None
