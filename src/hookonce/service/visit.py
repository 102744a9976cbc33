"""One call under way: the walk goes on whenever what it needs is there, and ends when its caller has hung up."""

from collections.abc import Callable
from time import monotonic

from hookonce.handlers.errand import Errand, Ongoing, Ran
from hookonce.handlers.walk import Need, Walk
from hookonce.model import Reply
from hookonce.runtime.loop import Loop, Timer
from hookonce.store import log


class Visit:
    """A walk that waits together with many others."""

    def __init__(self, loop: Loop, walk: Walk[Reply], done: Callable[[Reply | None], object]) -> None:
        """Be ready to go; in the end a function is told the answer, or that there is none."""
        self._loop, self._walk, self._done = loop, walk, done
        self._waits: Ongoing | Timer | None = None
        self.is_over = False

    def go(self, had: Ran | None = None) -> None:
        """Go on with what was needed."""
        if self.is_over:
            return
        try:
            need = self._walk.send(had)
        except StopIteration as end:
            self._end(end.value)
        except BaseException as problem:  # noqa: BLE001  the caller goes on without us, and we without it
            log.write(f"daemon: {log.trace(problem)}")
            self._end(None)
        else:
            self._wait(need)

    def _wait(self, need: Need) -> None:
        """An errand is begun when everybody who waits for a first word has had it."""
        if isinstance(need, (int, float)):
            self._waits = self._loop.at(monotonic() + need, self.go)
        else:
            until = monotonic() + need.timeout
            self._loop.soon(lambda: self._start(need, until))

    def _start(self, errand: Errand, until: float) -> None:
        left = until - monotonic()
        if self.is_over:
            return
        if left <= 0:
            self.go(Ran(failure="timeout"))
        else:
            self._waits = errand.begin(self._loop, left, self.go)

    def _end(self, reply: Reply | None) -> None:
        self.is_over = True
        self._done(reply)

    def abandon(self) -> None:
        """Nobody waits any more: what runs for it is killed."""
        if self.is_over:
            return
        self.is_over = True
        if isinstance(self._waits, Timer):
            self._waits.cancel()
        elif self._waits is not None:
            self._waits.end()
        self._walk.close()
