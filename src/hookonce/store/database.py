"""SQLite connections: path of the database, writers, read-only readers, and WAL checkpoints in a thread."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from sqlite3 import Connection
from threading import Thread
from typing import Literal

from hookonce.base import paths
from hookonce.errors import HookonceError
from hookonce.store.schema import VERSION, migrate, read_version

Durability = Literal["normal", "full"]
_LOCK_TIMEOUT_S = 10.0
_PAGE_BYTES = 8192  # of records as long as ours, more fit into such a page than into two half as large
_WAL_AUTOCHECKPOINT_PAGES = 8000  # after which a commit runs a checkpoint; the daemon's own thread runs it earlier
_CHECKPOINT_INTERVAL_ROWS = 400


def database_file() -> Path:
    """The path of the database."""
    return paths.data_dir() / "events.db"


def connect_writer(
    path: Path | None = None, durability: Durability = "normal", lock_timeout_s: float = _LOCK_TIMEOUT_S
) -> Connection:
    """A connection for a writer; creates and migrates the database."""
    database_path = path or database_file()
    paths.make_private_dir(database_path.parent)
    if not database_path.exists():
        database_path.touch(mode=0o600)
    connection = sqlite3.connect(database_path, timeout=lock_timeout_s, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")  # of a database that is made now
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {durability}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_AUTOCHECKPOINT_PAGES}")
    migrate(connection)
    return connection


def connect_reader(path: Path | None = None) -> Connection:
    """A read-only connection; an empty database in memory if there is no file."""
    database_path = path or database_file()
    if not database_path.exists():
        return _create_in_memory()
    uri = f"{database_path.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, timeout=_LOCK_TIMEOUT_S, isolation_level=None)
    connection.execute("PRAGMA query_only = ON")
    return connection


def open_reader() -> Connection:
    """A read-only connection of the current schema version; HookonceError if the file is no such database."""
    database_path = database_file()
    try:
        connection, version = _try_open(database_path)
    except sqlite3.DatabaseError as problem:
        message = f"{database_path} cannot be read as a record of events: {problem}. Next: hookonce doctor"
        raise HookonceError(message) from None
    if version == VERSION:
        return connection
    connection.close()
    if not version:
        return _create_in_memory()  # somebody is about to make it
    try:
        connect_writer().close()
    except (sqlite3.Error, OSError) as problem:
        message = f"{database_path} is of an older hookonce, and cannot be brought up to date: {problem}"
        raise HookonceError(message) from None
    return connect_reader(database_path)


def _create_in_memory() -> Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    return connection


def _try_open(database_path: Path) -> tuple[Connection, int]:
    connection = connect_reader(database_path)
    try:
        return connection, read_version(connection)
    except (sqlite3.DatabaseError, HookonceError) as problem:
        connection.close()
        if not isinstance(problem, sqlite3.OperationalError) or not _is_idle(database_path):
            raise
    uri = f"{database_path.resolve().as_uri()}?mode=ro&immutable=1"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    return connection, read_version(connection)


def _is_idle(database_path: Path) -> bool:
    """Whether nobody writes: in a folder that we may not write to, only such a database can be opened."""
    wal_file = database_path.with_name(f"{database_path.name}-wal")
    return not wal_file.exists() or not wal_file.stat().st_size


class WalCheckpointer:
    """Runs WAL checkpoints in a thread, one at a time, so that no commit has to."""

    def __init__(self) -> None:
        self._rows = 0
        self._thread: Thread | None = None

    def count_rows(self, rows: int) -> None:
        """Count rows that were written; starts a checkpoint after enough of them."""
        self._rows += rows
        if self._rows >= _CHECKPOINT_INTERVAL_ROWS and (self._thread is None or not self._thread.is_alive()):
            self._rows = 0
            self._thread = Thread(target=_checkpoint_wal, args=(database_file(),), name="wal-checkpoint", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Wait for the thread."""
        if self._thread is not None:
            self._thread.join()


def _checkpoint_wal(database_path: Path) -> None:
    """Passive: writers go on; what cannot be done now is done the next time."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(database_path, timeout=0)) as connection:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
