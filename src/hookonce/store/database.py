"""SQLite connections: path of the database, writers, read-only readers, and WAL checkpoints in a thread."""

import sqlite3
from pathlib import Path
from sqlite3 import Connection
from typing import Literal

from hookonce.config import paths
from hookonce.store.schema import migrate

Durability = Literal["normal", "full"]
_LOCK_TIMEOUT_S = 10.0  # seconds that a writer waits for another
_PAGE_BYTES = 8192  # bytes: of records as long as ours, more fit into such a page than into two half as large
_WAL_AUTOCHECKPOINT_PAGES = 8000  # of the write-ahead log, until somebody who commits has to tidy up; the daemon does so before, aside


def database_file() -> Path:
    """The path of the database."""
    return paths.data_dir() / "events.db"


def connect_writer(path: Path | None = None, durability: Durability = "normal", lock_timeout_s: float = _LOCK_TIMEOUT_S) -> Connection:
    """A connection for a writer; creates and migrates the database."""
    database_path = path or database_file()
    database_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
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
        memory_connection = sqlite3.connect(":memory:", isolation_level=None)
        migrate(memory_connection)
        return memory_connection
    connection = sqlite3.connect(
        f"{database_path.resolve().as_uri()}?mode=ro", uri=True, timeout=_LOCK_TIMEOUT_S, isolation_level=None
    )
    connection.execute("PRAGMA query_only = ON")
    return connection
