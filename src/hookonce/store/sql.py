"""Questions in SQL: whatever can be asked is answered, whatever would change something is refused."""

import sqlite3
from collections.abc import Iterator
from sqlite3 import Connection
from time import monotonic
from typing import Any

from hookonce.errors import HookonceError

_READ_ACTIONS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_READ_PRAGMAS = {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "user_version"}
_FORBIDDEN_FUNCTIONS = {"load_extension", "writefile", "readfile", "edit", "fts3_tokenizer"}
_CLOCK_CHECK_STEPS = 20_000  # of SQLite's machine, from one look at the clock to the next
_MAX_VALUE_BYTES = 64 << 20  # bytes of one value


def run_sql(connection: Connection, statement: str, timeout_s: float = 30.0) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
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
    while True:
        try:
            row = cursor.fetchone()
        except sqlite3.Error as problem:
            raise _translate_error(problem, timeout_s) from None
        if row is None:
            return
        yield row


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
