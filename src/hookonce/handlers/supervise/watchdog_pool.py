"""Pool of native watchdogs on an event loop: each runs one command hook after another, as it is told on a socket.

After its result, and once its call was answered, a watchdog is free for the next hook: whatever the last one has
started was killed before. So a hook costs the daemon one message and no process.
"""

import os
from contextlib import suppress
from time import monotonic

from hookonce.base.event_loop import EventLoop
from hookonce.base.runtime_dir import runtime_path
from hookonce.errors import HookonceError
from hookonce.handlers.supervise import watchdog
from hookonce.handlers.supervise.claim_slots import WATCHDOG_PREFIX
from hookonce.handlers.supervise.hook_results import FORGET, KILL

_IDLE_TIMEOUT_S = 2.0  # seconds without a hook
_FORGET_DELAY_S = 0.02  # seconds after an answer
MIN_IDLE_COUNT = 4  # watchdogs that stay all the same: as many as the hooks of one call, on most days


class WatchdogPool:
    """Watchdogs that wait for a hook."""

    def __init__(self, loop: EventLoop) -> None:
        self._loop, self._is_closed = loop, False
        self._idle: list[PooledWatchdog] = []
        watchdog.pools[loop] = self

    def start_hook(self, order: bytes) -> "PooledWatchdog":
        """Give an order to a watchdog, to a new one if none is idle; an OSError where that is not possible."""
        while self._idle:
            idle_watchdog = self._idle.pop()
            if idle_watchdog.send(order):
                return idle_watchdog
            idle_watchdog.close(has_ended=True)  # somebody has killed it
        new_watchdog = PooledWatchdog(self)
        if not new_watchdog.send(order):
            new_watchdog.close(has_ended=False)
            raise OSError("its watchdog takes no order")
        return new_watchdog

    def add_idle(self, idle_watchdog: "PooledWatchdog") -> None:
        """Add one that has nothing to do; the latest is asked first."""
        if self._is_closed:
            idle_watchdog.close(has_ended=False)
        else:
            self._idle.append(idle_watchdog)
            self._loop.call_later(_FORGET_DELAY_S, idle_watchdog.flush)

    def end_idle(self) -> None:
        """End those that had nothing to do for a while, but for a few."""
        oldest = monotonic() - _IDLE_TIMEOUT_S
        while len(self._idle) > MIN_IDLE_COUNT and self._idle[0].last_hook_at < oldest:
            self._idle.pop(0).close(has_ended=False)

    def close(self) -> None:
        """End all that are idle, and the others after their hooks."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().close(has_ended=False)
        watchdog.pools.pop(self._loop, None)


class PooledWatchdog:
    """Watchdog process and our end of its socket, on which orders and words go out and results come in."""

    def __init__(self, pool: WatchdogPool) -> None:
        """Start it; an OSError where that is not possible."""
        self._pool, self.last_hook_at, self._unsent = pool, monotonic(), b""
        self._slot_path = _new_slot_path()
        import socket  # a one-shot process has no pool

        self._socket, child_end = socket.socketpair()
        self._socket.settimeout(0)
        self.status_fd = self._socket.fileno()
        with child_end:
            try:
                self._pid = watchdog.spawn_native(child_end.fileno(), child_end.fileno(), self._slot_path)
            except (OSError, ValueError):
                self._socket.close()
                raise

    def send(self, data: bytes) -> bool:
        """Send an order or a word; whether it was taken whole."""
        data, self._unsent = self._unsent + data, b""
        try:
            return self._socket.send(data) == len(data)
        except OSError:
            return False

    def kill(self) -> None:
        """Kill everything that still runs."""
        self.send(KILL)

    def finish(self, *, may_wait: bool) -> None:  # noqa: ARG002  it does not end
        """Forget the result, which was reported whole, and be free for another hook."""
        self._unsent, self.last_hook_at = FORGET, monotonic()
        self._pool.add_idle(self)

    def flush(self) -> None:
        """Say what was not said yet; whoever has just been answered has had the processor meanwhile."""
        if self._unsent:
            self.send(b"")

    def close(self, *, has_ended: bool) -> None:
        """Kill everything, and let it end; one that was killed has left its slot."""
        self.send(FORGET)
        self._socket.close()
        watchdog.reap_later(self._pid)
        if has_ended and self._slot_path:
            with suppress(OSError):
                os.unlink(self._slot_path)  # noqa: PTH108  as text; somebody waits


def _new_slot_path() -> str:
    """Path of a claim slot; none where no file can be made, so that each hook has its claim file."""
    with suppress(OSError, HookonceError):
        return runtime_path("calls", f"{WATCHDOG_PREFIX}{os.urandom(8).hex()}")
    return ""
