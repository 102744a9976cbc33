"""The database: where it lies, and how it is opened."""

import sqlite3
from pathlib import Path
from sqlite3 import Connection
from typing import Literal

from hookonce.config import paths
from hookonce.store.schema import migrate

Durability = Literal["normal", "full"]
_PATIENCE = 10.0  # seconds that a writer waits for another
_PAGE = 8192  # bytes: of records as long as ours, more fit into such a page than into two half as large
_PAGES = 8000  # of the write-ahead log, until somebody who commits has to tidy up; the daemon does so before, aside


def file() -> Path:
    """Where everything is kept."""
    return paths.data() / "events.db"


def writing(path: Path | None = None, durability: Durability = "normal", patience: float = _PATIENCE) -> Connection:
    """The database for one who appends; it is made if it is not there."""
    place = path or file()
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not place.exists():
        place.touch(mode=0o600)
    connection = sqlite3.connect(place, timeout=patience, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA page_size = {_PAGE}")  # of a database that is made now
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {durability}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES}")
    migrate(connection)
    return connection


def reading(path: Path | None = None) -> Connection:
    """The database for one who only looks; an empty one if nothing was ever kept."""
    place = path or file()
    if not place.exists():
        empty = sqlite3.connect(":memory:", isolation_level=None)
        migrate(empty)
        return empty
    connection = sqlite3.connect(
        f"{place.resolve().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE, isolation_level=None
    )
    connection.execute("PRAGMA query_only = ON")
    return connection
