"""Rebuild of the rollup tables from the rows. What began before rows were removed cannot be recounted."""

from collections.abc import Iterator
from sqlite3 import Connection
from typing import Any

from hookonce.model import SCHEMA, Decision, Event, Stored, Tool
from hookonce.store import entry, rollup
from hookonce.store.integrity.write_guard import guarded_transaction
from hookonce.store.maintenance.quarantine import ProgressCallback
from hookonce.store.usage import tokens
from hookonce.store.writer import Writer, read_chain_head

_BATCH_ROWS = 5000
# Each summary, and the column that says when something began.
_BEGIN_COLUMNS = {
    **dict.fromkeys(("daily_counts", "hook_runs", "token_usage", "usage_by_project", "spend"), "day"),
    **dict.fromkeys(("quarter_counts", "quarter_hook_runs", "quarter_usage"), "day"),
    "sessions": "first_time",
}
_SELECT_ROWS = """SELECT seq, body, erased, id, time, type, agent, tool, outcome FROM events
    WHERE seq > ? ORDER BY seq LIMIT ?"""
_OUTCOMES = {"allow", "ask", "deny"}


def rebuild_summaries(writer: Writer, report_progress: ProgressCallback = lambda _count, _total: None) -> int:
    """Recount all rows into temporary tables, while others write, and swap them in; returns the number of rows."""
    connection = writer.connection
    for name in _BEGIN_COLUMNS:  # as long as they are there, their names mean these and not those of `main`
        connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM main.{name} WHERE FALSE")  # noqa: S608
    try:
        _create_indexes(connection)
        last, count = _count_rows(connection, 0, 0, report_progress)
        with guarded_transaction(connection):
            _, count = _count_rows(connection, last, count, report_progress)
            _swap_tables(connection)
    finally:
        for name in _BEGIN_COLUMNS:
            connection.execute(f"DROP TABLE IF EXISTS temp.{name}")
    return count


def _create_indexes(connection: Connection) -> None:
    """Primary keys of the real tables, for their upserts."""
    for name in _BEGIN_COLUMNS:
        columns = connection.execute(f"PRAGMA main.table_info({name})").fetchall()
        keys = ", ".join(column[1] for column in sorted(columns, key=lambda info: info[5]) if column[5])
        connection.execute(f"CREATE UNIQUE INDEX temp.{name}_by_key ON {name} ({keys})")


def _count_rows(connection: Connection, last: int, count: int, report_progress: ProgressCallback) -> tuple[int, int]:
    total = read_chain_head(connection).seq
    while rows := connection.execute(_SELECT_ROWS, (last, _BATCH_ROWS)).fetchall():
        rollup.add_records(connection, [(entry.index_columns(record), record) for record in _decode_records(rows)])
        last, count = rows[-1][0], count + len(rows)
        report_progress(last, total)
    return last, count


def _decode_records(rows: list[tuple[Any, ...]]) -> Iterator[Stored]:
    """Of an erased row, a record of its remaining columns."""
    for _, body, is_erased, *column_values in rows:
        try:
            yield _build_erased_record(*column_values) if is_erased else entry.decode_entry(body).record
        except ValueError:
            yield _build_erased_record(*column_values)


def _build_erased_record(
    event_id: str, time: str, event_type: str, agent: str, tool_name: str | None, outcome: str | None
) -> Stored:
    tool = None if tool_name is None else Tool(name=tool_name, native=tool_name)
    event = Event(id=event_id, schema=SCHEMA, type=event_type, agent=agent, time=time, time_source="none", tool=tool)
    decision = Decision(outcome=outcome) if outcome in _OUTCOMES else None  # type: ignore[arg-type]
    return Stored(event=event, decision=decision, level="minimal")


def _swap_tables(connection: Connection) -> None:
    since = _first_complete_day(connection)
    for name, begin_column in _BEGIN_COLUMNS.items():
        connection.execute(f"DELETE FROM main.{name} WHERE {begin_column} >= ?", (since,))  # noqa: S608  our own words
        select = f"SELECT * FROM temp.{name} WHERE {begin_column} >= ?"  # noqa: S608
        connection.execute(f"INSERT OR IGNORE INTO main.{name} {select}", (since,))
        connection.execute(f"DROP TABLE temp.{name}")  # what is counted from here on goes into `main`
    connection.execute("DELETE FROM main.undivided_days WHERE day >= ?", (since,))
    if since:  # who counts in a session may have spoken on a day that is gone
        tokens.rebuild_spend(connection, since)


def _first_complete_day(connection: Connection) -> str:
    """The first day of which every row is there; empty if none was ever removed."""
    if connection.execute("SELECT 1 FROM tombstones LIMIT 1").fetchone() is None:
        return ""
    first_day = connection.execute("SELECT min(substr(coalesce(received, time), 1, 10)) FROM events").fetchone()[0]
    return str(first_day or "9999")
