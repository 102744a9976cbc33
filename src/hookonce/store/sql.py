"""Questions in SQL: whatever can be asked is answered, whatever would change something is refused."""

import sqlite3
from collections.abc import Iterator
from sqlite3 import Connection
from time import monotonic
from typing import Any

from hookonce.errors import HookonceError

_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_TELLING = {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "user_version"}
_REFUSED = {"load_extension", "writefile", "readfile", "edit", "fts3_tokenizer"}
_STEPS = 20_000  # of SQLite's machine, from one look at the clock to the next
_LONGEST = 64 << 20  # bytes of one value


def ask(connection: Connection, statement: str, seconds: float = 30.0) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """The names of the columns, and the rows; HookonceError if it is no question, or takes too long."""
    until = monotonic() + seconds
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.set_authorizer(_allowed)
    connection.set_progress_handler(lambda: monotonic() > until, _STEPS)
    try:
        cursor = connection.execute(statement)
    except (sqlite3.Error, sqlite3.Warning) as problem:
        raise _problem(problem, seconds) from None
    if cursor.description is None:
        raise HookonceError("that is no question; a statement that begins with SELECT is one")
    return [str(column[0]) for column in cursor.description], _rows(cursor, seconds)


def _rows(cursor: sqlite3.Cursor, seconds: float) -> Iterator[tuple[Any, ...]]:
    while True:
        try:
            row = cursor.fetchone()
        except sqlite3.Error as problem:
            raise _problem(problem, seconds) from None
        if row is None:
            return
        yield row


def _allowed(action: int, first: str | None, second: str | None, _where: str | None, _by: str | None) -> int:
    if action == sqlite3.SQLITE_PRAGMA:
        asks = first in _TELLING and (first != "user_version" or second is None)
        return sqlite3.SQLITE_OK if asks else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and second in _REFUSED:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _problem(problem: Exception, seconds: float) -> HookonceError:
    if "not authorized" in str(problem) or "prohibited" in str(problem):
        return HookonceError("only questions are answered: SELECT, or PRAGMA table_info(events)")
    if "interrupted" in str(problem):
        return HookonceError(f"that took longer than {seconds:g} seconds; --timeout gives it more")
    return HookonceError(f"SQLite says: {problem}")
