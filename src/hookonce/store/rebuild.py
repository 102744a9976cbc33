"""Summaries made anew from the rows. What began before rows were removed cannot be counted again, and stays."""

from collections.abc import Callable, Iterator
from sqlite3 import Connection
from typing import Any

from hookonce.model import SCHEMA, Decision, Event, Stored, Tool
from hookonce.store import entry, rollup, told
from hookonce.store.writer import Writer, current

_AT_ONCE = 5000
# Each summary, and the column that says when something began.
_BEGIN = {"counts": "day", "told": "day", "places": "day", "spent": "day", "hooks": "day", "sessions": "first"}
_ROWS = """SELECT seq, body, erased, id, time, type, agent, tool, outcome FROM events
    WHERE seq > ? ORDER BY seq LIMIT ?"""
_OUTCOMES = {"allow", "ask", "deny"}


def rebuild(writer: Writer, tell: Callable[[int, int], None] = lambda _done, _all: None) -> int:
    """Count all rows again, aside, and then put that in the place of the summaries; how many rows there were.

    Others go on writing while rows are counted; only the last of them and the exchange are one transaction.
    """
    connection = writer.connection
    for name in _BEGIN:  # as long as they are there, whoever says `counts` means this one
        connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM main.{name} WHERE FALSE")  # noqa: S608
    try:
        _keyed(connection)
        last, count = _count(connection, 0, 0, tell)
        connection.execute("BEGIN IMMEDIATE")
        try:
            _, count = _count(connection, last, count, tell)
            _exchange(connection)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    finally:
        for name in _BEGIN:
            connection.execute(f"DROP TABLE temp.{name}")
    return count


def _keyed(connection: Connection) -> None:
    """Keys as the real ones have them: what is counted twice is added."""
    for name in _BEGIN:
        columns = connection.execute(f"PRAGMA main.table_info({name})").fetchall()
        keys = ", ".join(column[1] for column in sorted(columns, key=lambda one: one[5]) if column[5])
        connection.execute(f"CREATE UNIQUE INDEX temp.{name}_by_key ON {name} ({keys})")


def _count(connection: Connection, last: int, count: int, tell: Callable[[int, int], None]) -> tuple[int, int]:
    everything = current(connection).seq
    while found := connection.execute(_ROWS, (last, _AT_ONCE)).fetchall():
        rollup.add(connection, [(entry.columns(one), one) for one in _records(found)])
        last, count = found[-1][0], count + len(found)
        tell(last, everything)
    return last, count


def _records(rows: list[tuple[Any, ...]]) -> Iterator[Stored]:
    """What rows tell; of one that was erased, what still stands beside it."""
    for _, body, erased, *beside in rows:
        try:
            yield _left(*beside) if erased else entry.read(body).record
        except ValueError:
            yield _left(*beside)


def _left(name: str, time: str, kind: str, agent: str, tool: str | None, outcome: str | None) -> Stored:
    known = None if tool is None else Tool(name=tool, native=tool)
    event = Event(id=name, schema=SCHEMA, type=kind, agent=agent, time=time, time_source="none", tool=known)
    decision = Decision(outcome=outcome) if outcome in _OUTCOMES else None  # type: ignore[arg-type]
    return Stored(event=event, decision=decision, level="minimal")


def _exchange(connection: Connection) -> None:
    since = _whole_since(connection)
    for name, begin in _BEGIN.items():
        connection.execute(f"DELETE FROM main.{name} WHERE {begin} >= ?", (since,))  # noqa: S608  our own words
        connection.execute(f"INSERT OR IGNORE INTO main.{name} SELECT * FROM temp.{name} WHERE {begin} >= ?", (since,))  # noqa: S608
    if since:  # who counts in a session may have spoken on a day that is gone
        told.spend_all(connection, since)


def _whole_since(connection: Connection) -> str:
    """The first day of which every row is there; all of them if none was ever removed."""
    if connection.execute("SELECT 1 FROM tombstones LIMIT 1").fetchone() is None:
        return ""
    found = connection.execute("SELECT min(substr(coalesce(received, time), 1, 10)) FROM events").fetchone()[0]
    return str(found or "9999")
