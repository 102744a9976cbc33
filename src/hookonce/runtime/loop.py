"""One place where everything is waited for: descriptors that have something to tell, and moments that come."""

import select
from collections import deque
from collections.abc import Callable
from functools import partial
from heapq import heappop, heappush
from itertools import count
from time import monotonic

READ, WRITE = 1, 4  # the same bits for epoll and for poll
_MOST = 3600.0  # seconds between two looks at the clock
_MILLI = 1000


class Timer:
    """A moment at which something is done, unless it is cancelled before."""

    __slots__ = ("work",)

    def __init__(self, work: Callable[[], object] | None) -> None:
        """Do this work when the moment comes."""
        self.work = work

    def cancel(self) -> None:
        """Do nothing then."""
        self.work = None


class Loop:
    """Who is told of what: a function for each descriptor, and for each moment."""

    def __init__(self, problem: Callable[[Exception], object] | None = None) -> None:
        """Nothing to wait for yet; whoever has more to do than one thing wants to be told of what goes wrong in it."""
        self._problem = problem
        self._epoll = select.epoll() if hasattr(select, "epoll") else None
        self._poller = self._epoll or select.poll()
        self._told: dict[int, Callable[[int], object]] = {}
        self._moments: list[tuple[float, int, Timer]] = []
        self._number = count()
        self._soon: deque[Callable[[], object]] = deque()
        self._later: deque[Callable[[], object]] = deque()

    def watch(self, descriptor: int, mask: int, told: Callable[[int], object]) -> None:
        """Tell a function whenever a descriptor can be read or written, or was hung up."""
        self._told[descriptor] = told
        self._poller.register(descriptor, mask)

    def change(self, descriptor: int, mask: int) -> None:
        """Wait for something else of a descriptor."""
        self._poller.modify(descriptor, mask)

    def forget(self, descriptor: int) -> None:
        """Wait for nothing of a descriptor any more; call this before it is closed."""
        if self._told.pop(descriptor, None) is not None:
            self._poller.unregister(descriptor)

    def at(self, moment: float, work: Callable[[], object]) -> Timer:
        """Do something at a moment of the monotonic clock."""
        timer = Timer(work)
        heappush(self._moments, (moment, next(self._number), timer))
        return timer

    def soon(self, work: Callable[[], object]) -> None:
        """Do something that takes long when everybody who is waiting now has been told.

        In each turn one of these is done, so that whoever comes meanwhile waits for one of them at most.
        """
        self._soon.append(work)

    def later(self, work: Callable[[], object]) -> None:
        """Do something that nobody waits for, in a turn that has nothing to be done soon."""
        self._later.append(work)

    @property
    def is_behind(self) -> bool:
        """Whether there is such work."""
        return bool(self._soon or self._later)

    def turn(self, most: float = _MOST) -> int:
        """Wait for what comes next, so many seconds at most, and tell everybody whom it concerns; how many came."""
        left = 0 if self.is_behind else min(self._left(), most)
        ready = self._poller.poll(left if self._epoll else left * _MILLI)
        for descriptor, mask in ready:
            told = self._told.get(descriptor)
            if told is not None:  # it may have been forgotten by one that was told before
                self._do(partial(told, mask))
        while self._moments and self._moments[0][0] <= monotonic():
            _, _, timer = heappop(self._moments)
            if timer.work is not None:
                self._do(timer.work)
        if self._soon:
            self._do(self._soon.popleft())
        elif self._later and not ready:  # who has come just now may have something to say
            self._do(self._later.popleft())
        return len(ready)

    def _do(self, work: Callable[[], object]) -> None:
        """One thing that goes wrong is no reason for others to end."""
        try:
            work()
        except Exception as problem:
            if self._problem is None:
                raise
            self._problem(problem)

    def _left(self) -> float:
        while self._moments and self._moments[0][2].work is None:
            heappop(self._moments)
        if not self._moments:
            return _MOST
        return min(max(self._moments[0][0] - monotonic(), 0), _MOST)

    def close(self) -> None:
        """Nobody is told anything any more."""
        if self._epoll is not None:
            self._epoll.close()
