"""Tidying: what stands in the write-ahead log is brought into the database beside everything else, so nobody waits."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread

from hookonce.store import database

_EVERY = 400  # rows


class Tidier:
    """A thread from time to time; one at once."""

    def __init__(self) -> None:
        """Nothing was written yet."""
        self._rows = 0
        self._thread: Thread | None = None

    def wrote(self, rows: int) -> None:
        """So many rows more."""
        self._rows += rows
        if self._rows >= _EVERY and (self._thread is None or not self._thread.is_alive()):
            self._rows = 0
            self._thread = Thread(target=_tidy, args=(database.file(),), name="tidy", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Let it finish."""
        if self._thread is not None:
            self._thread.join()


def _tidy(place: Path) -> None:
    """Those who write meanwhile go on; what cannot be done now is done the next time."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(place, timeout=0)) as connection:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
