"""Forgetting beside everything else: what is too old goes in small steps, and others write in between."""

import sqlite3
from threading import Event, Thread

from hookonce.errors import HookonceError
from hookonce.store import log, retention
from hookonce.store.writer import Writer

_REST = 0.05  # seconds between two steps


class Forgetter:
    """A thread from time to time; one at once."""

    def __init__(self) -> None:
        """Nothing is forgotten yet."""
        self._thread: Thread | None = None
        self._leaves = Event()

    def begin(self) -> None:
        """Look for what is too old, or too much."""
        if retention.is_wanted() and (self._thread is None or not self._thread.is_alive()):
            self._thread = Thread(target=self._forget, name="forget", daemon=True)
            self._thread.start()

    def _forget(self) -> None:
        try:
            with Writer() as writer:
                retention.tend(writer, between=lambda: not self._leaves.wait(_REST))
        except (sqlite3.Error, OSError, HookonceError) as problem:  # the next time
            log.write(f"daemon: what is too old could not be removed: {log.words(problem)}")

    def close(self) -> None:
        """Leave off after the step that is under way; the rest goes the next time."""
        self._leaves.set()
        if self._thread is not None:
            self._thread.join()
