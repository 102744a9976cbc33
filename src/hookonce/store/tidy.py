"""Tidying: what stands in the write-ahead log is brought into the database beside everything else, so nobody waits."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread

from hookonce.store import database

_CHECKPOINT_INTERVAL_ROWS = 400  # rows


class WalCheckpointer:
    """Runs WAL checkpoints in a thread, one at a time, so that no commit has to."""

    def __init__(self) -> None:
        """No thread runs yet."""
        self._rows = 0
        self._thread: Thread | None = None

    def count_rows(self, rows: int) -> None:
        """Count rows that were written; starts a checkpoint after enough of them."""
        self._rows += rows
        if self._rows >= _CHECKPOINT_INTERVAL_ROWS and (self._thread is None or not self._thread.is_alive()):
            self._rows = 0
            self._thread = Thread(target=_checkpoint_wal, args=(database.database_file(),), name="tidy", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Wait for the thread."""
        if self._thread is not None:
            self._thread.join()


def _checkpoint_wal(database_path: Path) -> None:
    """Passive: writers go on; what cannot be done now is done the next time."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(database_path, timeout=0)) as connection:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
