"""Forgetting in the daemon: what is too old is looked for aside, and goes in small steps when nobody waits."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from threading import Thread
from time import monotonic

from hookonce.errors import HookonceError
from hookonce.journeys.record import Recorder
from hookonce.runtime.loop import Loop
from hookonce.store import database, log, retention

_REST = 0.1  # seconds between two steps
_TROUBLE = 5.0  # seconds until a store that could not be written is tried again
Ask = Callable[[Callable[[Recorder], object]], bool]


class Forgetter:
    """Rows up to the last one that is too old, if there are any."""

    def __init__(self, loop: Loop, ask: Ask) -> None:
        """Nothing is forgotten yet; `ask` does something with the store, and says whether it could."""
        self._loop, self._ask = loop, ask
        self._thread: Thread | None = None
        self._last = 0

    @property
    def is_busy(self) -> bool:
        """Whether something may still have to go."""
        return self._thread is not None

    def begin(self) -> None:
        """Look for what is too old, or too much; settings that say nothing sensible let everything stay."""
        if self._thread is None and _is_wanted():
            self._thread = Thread(target=self._find, name="forget", daemon=True)
            self._thread.start()
            self._wait(_REST)

    def _find(self) -> None:
        """To look at every row takes long, but keeps nobody from writing."""
        try:
            with closing(database.reading()) as connection:
                self._last = retention.find(connection)
        except (sqlite3.Error, OSError, HookonceError) as problem:  # the next time
            log.write(f"daemon: what is too old could not be found: {log.words(problem)}")

    def _wait(self, seconds: float) -> None:
        self._loop.at(monotonic() + seconds, partial(self._loop.later, self._go_on))

    def _go_on(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            self._wait(_REST)
            return
        gone: list[object] = []
        if not self._ask(lambda recorder: gone.append(retention.some(recorder.writer.connection, self._last))):
            self._wait(_TROUBLE)
        elif gone[0] is not None:
            self._wait(_REST)
        else:
            self._thread, self._last = None, 0


def _is_wanted() -> bool:
    try:
        return retention.is_wanted()
    except HookonceError as problem:
        log.write(f"daemon: nothing is removed: {problem}")
        return False
