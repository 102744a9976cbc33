"""The event bus: everything that happens reaches every observer, and none of them can hold up a run.

Each observer has a queue and a thread of its own. One that fails, or falls too far behind, harms nobody else; what it
did not get is counted.
"""

from collections.abc import Callable
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Lock, Thread, current_thread
from time import monotonic
from typing import Any

from hookonce.model import Object
from hookonce.modules.lines import document_of, line_of

Observer = Callable[[Object], object]
Wants = Callable[[Object], bool]
BEHIND = 10_000  # events that an observer may be behind
_PATIENCE = 5.0  # seconds that observers have at the end for what they have not seen yet


class Post:
    """One observer: what it is still to see, how often it has failed, and how much it never got.

    Events wait as lines: what somebody does to one afterwards, or another observer to its own, changes nothing here.
    """

    def __init__(self, name: str, observer: Observer, wants: Wants, priority: int, behind: int) -> None:
        """Begin to wait for events; `behind` is how far it may fall behind, 0 for any distance."""
        self.name, self.wants, self.priority, self.misses_nothing = name, wants, priority, not behind
        self.failures, self.missed, self.number = 0, 0, 0
        self.problem: str | None = None
        self._observer = observer
        self._queue: Queue[bytes | None] = Queue(behind)
        self._thread = Thread(target=self._work, name=f"observer {name}", daemon=True)
        self._thread.start()

    def give(self, line: bytes) -> None:
        """Let it see an event, when it has time."""
        try:
            self._queue.put_nowait(line)
        except Full:
            self.missed += 1

    def _work(self) -> None:
        while (line := self._queue.get()) is not None:
            try:
                event: Any = document_of(line)
                self._observer(event)
            except (Exception, SystemExit) as problem:  # noqa: BLE001  an observer's failure is its own
                self.failures += 1
                self.problem = f"{type(problem).__name__}: {problem}"

    def close(self, until: float) -> None:
        """Let it see what is left, for a while; what it has not seen by then it never will."""
        with suppress(Full):
            self._queue.put(None, timeout=max(until - monotonic(), 0.0))
        if self._thread is current_thread():  # it leaves while it hears
            return
        self._thread.join(max(until - monotonic(), 0.0))
        if self._thread.is_alive():
            self._drop()

    def _drop(self) -> None:
        try:
            while True:
                self.missed += self._queue.get_nowait() is not None
        except Empty:
            self._queue.put(None)


class Bus:
    """All observers; those of a lower priority are given an event first, and each sees events in their order."""

    def __init__(self) -> None:
        """Nobody observes yet."""
        self._posts: list[Post] = []
        self._number = 0
        self._lock = Lock()

    def observe(
        self,
        name: str,
        observer: Observer,
        wants: Wants = lambda _: True,
        *,
        priority: int = 0,
        behind: int = BEHIND,
    ) -> Callable[[], None]:
        """Let somebody see what it wants from now on; the function that is given back ends that."""
        post = Post(name, observer, wants, priority, behind)
        with self._lock:
            self._number += 1
            post.number = self._number
            self._posts = sorted([*self._posts, post], key=lambda one: one.priority)

        def end() -> None:
            self._leave(post)
            post.close(monotonic() + _PATIENCE)

        return end

    def tell(self, make: Callable[[], Object]) -> Object:
        """Make an event and let everybody see it; what is made first is seen first, by everybody."""
        with self._lock:
            event = make()
            line = line_of(event)
            for post in self._posts:
                if post.wants(event):
                    post.give(line)
        return event

    def posts(self) -> list[Post]:
        """Who observes, and how that goes."""
        with self._lock:
            return list(self._posts)

    def close(self) -> list[Post]:
        """Let observers see what is left; who they were.

        Who came last goes first: what it does meanwhile is still seen by those who were there before, and by the log.
        Those who are to miss nothing have their own time: one that hangs does not use it up.
        """
        until, posts = monotonic() + _PATIENCE, sorted(self.posts(), key=lambda one: -one.number)
        for post in posts:
            self._leave(post)
            post.close(monotonic() + _PATIENCE if post.misses_nothing else until)
        return posts

    def _leave(self, post: Post) -> None:
        with self._lock:
            self._posts = [one for one in self._posts if one is not post]
