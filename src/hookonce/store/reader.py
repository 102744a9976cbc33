"""Looking at the database: nothing of it is changed, and where nothing was kept there is an empty one."""

import sqlite3
from pathlib import Path
from sqlite3 import Connection

from hookonce.errors import HookonceError
from hookonce.store import database
from hookonce.store.schema import VERSION, migrate


def opened(path: Path | None = None) -> Connection:
    """The database for one who looks; HookonceError if there is something else in its place."""
    place = path or database.file()
    try:
        connection, version = _tried(place)
    except sqlite3.DatabaseError as problem:
        raise HookonceError(f"{place} cannot be read as a record of events: {problem}. Next: hookonce doctor") from None
    if 0 < version < VERSION:
        connection.close()
        connection = _renewed(place)
    if version > VERSION:
        connection.close()
        raise HookonceError(f"the store was written by a newer hookonce (version {version}, we know {VERSION})")
    if not version:  # somebody is about to make it
        connection.close()
        connection = sqlite3.connect(":memory:", isolation_level=None)
        migrate(connection)
    return connection


def _tried(place: Path) -> tuple[Connection, int]:
    connection = database.reading(place)
    try:
        return connection, _version(connection)
    except sqlite3.OperationalError:
        connection.close()
        if not _is_at_rest(place):
            raise
    except sqlite3.DatabaseError:
        connection.close()
        raise
    still = sqlite3.connect(f"{place.resolve().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
    return still, _version(still)


def _renewed(place: Path) -> Connection:
    """A record of an older hookonce, brought up to date."""
    try:
        database.writing(place).close()
    except (sqlite3.Error, OSError) as problem:
        raise HookonceError(f"{place} is of an older hookonce, and cannot be brought up to date: {problem}") from None
    return database.reading(place)


def _is_at_rest(place: Path) -> bool:
    """Whether nobody writes it: in a folder that we may not write to, only such a one can be opened."""
    log = place.with_name(f"{place.name}-wal")
    return not log.exists() or not log.stat().st_size


def _version(connection: Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found
