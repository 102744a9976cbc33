"""Looking at the database: nothing of it is changed, and where nothing was kept there is an empty one."""

import sqlite3
from pathlib import Path
from sqlite3 import Connection

from hookonce.errors import HookonceError
from hookonce.store import database
from hookonce.store.schema import VERSION, migrate


def open_reader(path: Path | None = None) -> Connection:
    """A read-only connection of the current schema version; HookonceError if the file is no such database."""
    database_path = path or database.database_file()
    try:
        connection, version = _try_open(database_path)
    except sqlite3.DatabaseError as problem:
        raise HookonceError(f"{database_path} cannot be read as a record of events: {problem}. Next: hookonce doctor") from None
    if 0 < version < VERSION:
        connection.close()
        connection = _migrate_and_open(database_path)
    if version > VERSION:
        connection.close()
        raise HookonceError(f"the store was written by a newer hookonce (version {version}, we know {VERSION})")
    if not version:  # somebody is about to make it
        connection.close()
        connection = sqlite3.connect(":memory:", isolation_level=None)
        migrate(connection)
    return connection


def _try_open(database_path: Path) -> tuple[Connection, int]:
    connection = database.connect_reader(database_path)
    try:
        return connection, _schema_version(connection)
    except sqlite3.OperationalError:
        connection.close()
        if not _is_idle(database_path):
            raise
    except sqlite3.DatabaseError:
        connection.close()
        raise
    idle_connection = sqlite3.connect(f"{database_path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
    return idle_connection, _schema_version(idle_connection)


def _migrate_and_open(database_path: Path) -> Connection:
    try:
        database.connect_writer(database_path).close()
    except (sqlite3.Error, OSError) as problem:
        raise HookonceError(f"{database_path} is of an older hookonce, and cannot be brought up to date: {problem}") from None
    return database.connect_reader(database_path)


def _is_idle(database_path: Path) -> bool:
    """Whether nobody writes: in a folder that we may not write to, only such a database can be opened."""
    wal_file = database_path.with_name(f"{database_path.name}-wal")
    return not wal_file.exists() or not wal_file.stat().st_size


def _schema_version(connection: Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version
