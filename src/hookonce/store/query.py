"""Queries: filters over records, session lookup, open sessions, and read-only SQL."""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from sqlite3 import Connection
from time import monotonic
from typing import Any

from msgspec import Struct

from hookonce.base.jsontext import dump
from hookonce.errors import HookonceError
from hookonce.model import Stored
from hookonce.store.entry import decode_entry

NO_VALUE = "none"  # looked for: what has no such thing
_MAX_LISTED_SESSIONS = 3  # sessions that are listed where one was meant
_EXACT_COLUMNS = ("agent", "session", "type", "tool", "outcome", "model")


class RecordFilter(Struct, frozen=True, kw_only=True):
    """Filter of records; None matches everything. Times are inclusive at the start and exclusive at the end."""

    agent: str | None = None
    session: str | None = None
    type: str | None = None
    tool: str | None = None
    outcome: str | None = None
    model: str | None = None
    project: str | None = None
    path: str | None = None  # a relative one matches anywhere
    text: str | None = None
    since: str | None = None
    until: str | None = None
    after: int = 0  # the last row that is known already
    last: int | None = None


class EventRow(Struct, frozen=True):
    """A row: its number, its exact bytes, and whether they were erased."""

    seq: int
    body: bytes
    is_erased: bool


def select_rows(connection: Connection, record_filter: RecordFilter) -> Iterator[EventRow]:
    """Matching rows by time and arrival; with `last`, only that many of the newest."""
    where, values = _build_where(record_filter)
    order = "time, seq" if record_filter.last is None else "time DESC, seq DESC LIMIT ?"
    statement = f"SELECT seq, time, body, erased FROM events WHERE {where} ORDER BY {order}"  # noqa: S608  our own words
    if record_filter.last is not None:
        statement = f"SELECT * FROM ({statement}) ORDER BY time, seq"  # noqa: S608  as above
        values = [*values, record_filter.last]
    for seq, _, body, is_erased in connection.execute(statement, values):
        yield EventRow(seq, body, bool(is_erased))


def find_records(connection: Connection, record_filter: RecordFilter) -> Iterator[Stored]:
    """Matching records; erased and damaged ones are left out."""
    for row in select_rows(connection, record_filter):
        with suppress(ValueError):
            if not row.is_erased:
                yield decode_entry(row.body).record


def newest_bodies(connection: Connection, event_type: str, since: str, max_rows: int) -> Iterator[bytes]:
    """Bodies of records of one type, the newest first, read one at a time; erased ones are left out."""
    statement = (
        "SELECT body FROM events WHERE type = ? AND time >= ? AND erased = 0 ORDER BY time DESC, seq DESC LIMIT ?"
    )
    return (row[0] for row in connection.execute(statement, (event_type, time_bound(since), max_rows)))


def _build_where(record_filter: RecordFilter) -> tuple[str, list[str | int]]:
    parts, values = ["TRUE"], list[str | int]()
    for part, value in _build_conditions(record_filter):
        parts.append(part)
        values += [value] * part.count("?")
    return " AND ".join(parts), values


def _build_conditions(record_filter: RecordFilter) -> Iterator[tuple[str, str | int]]:
    if record_filter.after:  # without it the order of the index would be given up for that of the table
        yield "seq > ?", record_filter.after
    for name in _EXACT_COLUMNS:
        if (value := getattr(record_filter, name)) is not None:
            yield f"{name} IS NULL" if value == NO_VALUE else f"{name} {'GLOB' if '*' in value else '='} ?", value
    if record_filter.project is not None:
        yield "project GLOB ?", record_filter.project
    if record_filter.path is not None:
        yield "path GLOB ?", record_filter.path if record_filter.path[:1] in {"/", "*"} else f"*/{record_filter.path}"
    if record_filter.text is not None:
        yield "erased = 0 AND instr(body, CAST(? AS BLOB)) > 0", dump(record_filter.text)[1:-1].decode()
    for sign, time_limit in ((">=", record_filter.since), ("<", record_filter.until)):
        if time_limit is not None:
            yield f"time {sign} ?", time_bound(time_limit)


def time_bound(time: str) -> str:
    """A UTC time as a bound: without `Z` and trailing zeros it sorts before all later ones, however exact."""
    plain = time.removesuffix("Z")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def resolve_session(connection: Connection, session: str, agent: str | None = None) -> str:
    """The full name of a session from a unique prefix; of one agent if named. HookonceError if not unique."""
    rows = connection.execute(
        "SELECT DISTINCT session FROM sessions WHERE (session = ? OR session GLOB ?) AND agent = coalesce(?, agent)"
        " ORDER BY session = ? DESC LIMIT 4",
        (session, f"{escape_glob(session)}*", agent, session),
    ).fetchall()
    names = [str(row[0]) for row in rows]
    if session in names or len(names) == 1:
        return names[0]
    if not names:
        agent_text = f" of {agent}" if agent is not None else ""
        raise HookonceError(f"no session{agent_text} begins with {session!r}; hookonce sessions lists them")
    more = ", …" if len(names) > _MAX_LISTED_SESSIONS else ""
    names_text = f"{', '.join(names[:_MAX_LISTED_SESSIONS])}{more}"
    raise HookonceError(f"several sessions begin with {session!r}: {names_text}; type more of the id")


def newest_session(connection: Connection, agent: str | None = None) -> tuple[str, str] | None:
    """Agent and name of the session that was heard of last; of one agent if named."""
    query = "SELECT agent, session FROM sessions WHERE agent = coalesce(?, agent) ORDER BY last_time DESC LIMIT 1"
    row: tuple[str, str] | None = connection.execute(query, (agent,)).fetchone()
    return row


def session_agent(connection: Connection, session: str) -> str | None:
    """The agent of a session; HookonceError where several have a session of that name."""
    rows = connection.execute("SELECT agent FROM sessions WHERE session = ? ORDER BY agent", (session,)).fetchall()
    names = [str(row[0]) for row in rows]
    if len(names) > 1:
        choices = " or ".join(f"--agent {name}" for name in names)
        raise HookonceError(f"{' and '.join(names)} each have a session {session!r}; choose with {choices}")
    return names[0] if names else None


def escape_glob(text: str) -> str:
    """A text escaped as a GLOB pattern."""
    return text.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]")


_READ_ACTIONS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_READ_PRAGMAS = {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "user_version"}
_FORBIDDEN_FUNCTIONS = {"load_extension", "writefile", "readfile", "edit", "fts3_tokenizer"}
_CLOCK_CHECK_STEPS = 20_000  # of SQLite's machine, from one look at the clock to the next
_MAX_VALUE_BYTES = 64 << 20  # bytes of one value


def run_sql(
    connection: Connection, statement: str, timeout_s: float = 30.0
) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Run a read-only statement: column names and rows; HookonceError if it writes or exceeds the time limit."""
    deadline = monotonic() + timeout_s
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.set_authorizer(_authorize)
    connection.set_progress_handler(lambda: monotonic() > deadline, _CLOCK_CHECK_STEPS)
    try:
        cursor = connection.execute(statement)
    except (sqlite3.Error, sqlite3.Warning) as problem:
        raise _translate_error(problem, timeout_s) from None
    if cursor.description is None:
        raise HookonceError("that is no question; a statement that begins with SELECT is one")
    return [str(column[0]) for column in cursor.description], _iter_rows(cursor, timeout_s)


def _iter_rows(cursor: sqlite3.Cursor, timeout_s: float) -> Iterator[tuple[Any, ...]]:
    try:
        yield from cursor
    except sqlite3.Error as problem:
        raise _translate_error(problem, timeout_s) from None


def _authorize(action: int, first: str | None, second: str | None, _where: str | None, _by: str | None) -> int:
    if action == sqlite3.SQLITE_PRAGMA:
        is_read = first in _READ_PRAGMAS and (first != "user_version" or second is None)
        return sqlite3.SQLITE_OK if is_read else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and second in _FORBIDDEN_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _READ_ACTIONS else sqlite3.SQLITE_DENY


def _translate_error(problem: Exception, timeout_s: float) -> HookonceError:
    if "not authorized" in str(problem) or "prohibited" in str(problem):
        return HookonceError("only questions are answered: SELECT, or PRAGMA table_info(events)")
    if "interrupted" in str(problem):
        return HookonceError(f"that took longer than {timeout_s:g} seconds; --timeout gives it more")
    return HookonceError(f"SQLite says: {problem}")


MAX_OPEN_SESSIONS = 300  # sessions that are looked at, those that were heard of last
_SESSION_TAIL_ROWS = 16  # rows of each: with an end comes what follows from it
_SELECT_NEWEST_SESSIONS = "SELECT agent, session, last_time FROM sessions ORDER BY last_time DESC LIMIT ?"
_SELECT_LAST_TYPES = "SELECT type FROM events WHERE session = ? AND agent = ? ORDER BY time DESC, seq DESC LIMIT ?"


def open_sessions(
    connection: Connection, end_types: frozenset[str], begin_types: frozenset[str], limit: int = MAX_OPEN_SESSIONS
) -> Iterator[tuple[str, str, str]]:
    """Agent, name and last time of each recent session whose last rows hold no end, or work after it."""
    for agent, session, last in connection.execute(_SELECT_NEWEST_SESSIONS, (limit,)).fetchall():
        event_types = (row[0] for row in connection.execute(_SELECT_LAST_TYPES, (session, agent, _SESSION_TAIL_ROWS)))
        if next((name for name in event_types if name in end_types | begin_types), None) not in end_types:
            yield agent, session, last
