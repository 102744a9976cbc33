"""Event loop over epoll (poll where there is none), with timers and two queues of callbacks.

Method names are asyncio's where asyncio has them. `call_soon` callbacks run one per iteration, so that new I/O
never waits for more than one of them; `call_idle` callbacks run only in an iteration without I/O and without such
work.
"""

import select
from _heapq import heappop, heappush  # `heapq` without the rest of it
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import count
from time import monotonic

READ, WRITE = 1, 4  # the same bits for epoll and for poll
_MAX_WAIT_S = 3600.0  # seconds between two looks at the clock
_MS_PER_SECOND = 1000


class Timer:
    """Handle of a callback that is scheduled for a moment."""

    __slots__ = ("callback",)

    def __init__(self, callback: Callable[[], object] | None) -> None:
        self.callback = callback

    def cancel(self) -> None:
        """Never run the callback."""
        self.callback = None


class EventLoop:
    """Event loop: one callback per descriptor, timers, and two queues."""

    def __init__(self, on_error: Callable[[Exception], object] | None = None) -> None:
        """A loop without work; without `on_error` an exception of a callback ends `run_once`."""
        self._on_error = on_error
        self._epoll = select.epoll() if hasattr(select, "epoll") else None
        self._poller = self._epoll or select.poll()
        self._callbacks: dict[int, Callable[[int], object]] = {}
        self._timers: list[tuple[float, int, Timer]] = []
        self._sequence = count()
        self._ready: deque[Callable[[], object]] = deque()
        self._idle: deque[Callable[[], object]] = deque()

    def watch_fd(self, fd: int, mask: int, callback: Callable[[int], object]) -> None:
        """Call back with the event mask whenever a descriptor is readable, writable or hung up."""
        self._callbacks[fd] = callback
        self._poller.register(fd, mask)

    def modify_fd(self, fd: int, mask: int) -> None:
        """Change the event mask of a descriptor."""
        self._poller.modify(fd, mask)

    def remove_fd(self, fd: int) -> None:
        """Stop watching a descriptor; call this before it is closed."""
        if self._callbacks.pop(fd, None) is not None:
            self._poller.unregister(fd)

    def call_at(self, when: float, callback: Callable[[], object]) -> Timer:
        """Schedule a callback for a moment of the monotonic clock."""
        timer = Timer(callback)
        heappush(self._timers, (when, next(self._sequence), timer))
        return timer

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Schedule a callback for so many seconds from now."""
        return self.call_at(monotonic() + seconds, callback)

    def call_soon(self, callback: Callable[[], object]) -> None:
        """Queue a callback that may take long, to run after the I/O that is ready now.

        Each iteration runs one of these, so that I/O that becomes ready meanwhile waits for one of them at most.
        """
        self._ready.append(callback)

    def call_idle(self, callback: Callable[[], object]) -> None:
        """Queue a callback that nobody waits for, to run in an iteration without I/O and without `call_soon` work."""
        self._idle.append(callback)

    @property
    def has_pending(self) -> bool:
        """Whether callbacks are queued."""
        return bool(self._ready or self._idle)

    def run_once(self, max_wait_s: float = _MAX_WAIT_S) -> int:
        """Run one iteration, waiting at most so many seconds; returns the number of descriptors that were ready."""
        wait_s = 0 if self.has_pending else min(self._seconds_to_timer(), max_wait_s)
        events = self._poller.poll(wait_s if self._epoll else wait_s * _MS_PER_SECOND)
        for fd, mask in events:
            callback = self._callbacks.get(fd)
            if callback is not None:  # it may have been forgotten by one that was told before
                self._run(partial(callback, mask))
        while self._timers and self._timers[0][0] <= monotonic():
            _, _, timer = heappop(self._timers)
            if timer.callback is not None:
                self._run(timer.callback)
        if self._ready:
            self._run(self._ready.popleft())
        elif self._idle and not events:  # who has come just now may have something to say
            self._run(self._idle.popleft())
        return len(events)

    def _run(self, callback: Callable[[], object]) -> None:
        try:
            callback()
        except Exception as error:
            if self._on_error is None:
                raise
            self._on_error(error)

    def _seconds_to_timer(self) -> float:
        while self._timers and self._timers[0][2].callback is None:
            heappop(self._timers)
        if not self._timers:
            return _MAX_WAIT_S
        return min(max(self._timers[0][0] - monotonic(), 0), _MAX_WAIT_S)

    def close(self) -> None:
        """Close the epoll descriptor."""
        if self._epoll is not None:
            self._epoll.close()
