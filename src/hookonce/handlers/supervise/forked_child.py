"""Forked child for blocking work on the event loop: it ends with its time, with its parent, or when it is cancelled."""

import os
import signal
from collections.abc import Callable
from threading import Thread

from hookonce.base.event_loop import READ, EventLoop
from hookonce.base.spawn import fork_child, write_all
from hookonce.handlers.supervise.watchdog import Watchdog

_CHUNK_BYTES = 1 << 16
_SELF_KILL_MARGIN_S = 1.0  # after its timeout, if its parent has not ended it
_MIN_TIMER_S = 0.001  # seconds: a timer of nothing would never ring


class ForkedChild:
    """Forked child; `on_output` gets its output, or None if there is none in time."""

    def __init__(
        self, loop: EventLoop, work: Callable[[], bytes], timeout: float, on_output: Callable[[bytes | None], object]
    ) -> None:
        """Fork; an OSError where that is not possible."""
        self._loop, self._on_output, self._output = loop, on_output, bytearray()
        self._child: Watchdog | None = Watchdog(lambda *fds: fork_child(lambda: _run_child(work, timeout, *fds), fds))
        os.set_blocking(self._child.status_fd, False)
        loop.watch_fd(self._child.status_fd, READ, self._receive)
        self._timer = loop.call_later(timeout, self.cancel)

    def cancel(self) -> None:
        """Cancel it."""
        self._finish(None)

    def _receive(self, _: int) -> None:
        if self._child is None:
            return
        try:
            chunk = os.read(self._child.status_fd, _CHUNK_BYTES)
        except BlockingIOError:
            return
        self._output += chunk
        if not chunk:
            self._finish(bytes(self._output))

    def _finish(self, output: bytes | None) -> None:
        if self._child is None:
            return
        self._timer.cancel()
        self._loop.remove_fd(self._child.status_fd)
        self._child.close(has_ended=output is not None)
        self._child = None
        self._on_output(output)


def _run_child(work: Callable[[], bytes], timeout: float, hangup_fd: int, output_fd: int) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, max(timeout + _SELF_KILL_MARGIN_S, _MIN_TIMER_S))
    Thread(target=_exit_on_hangup, args=(hangup_fd,), daemon=True).start()
    write_all(output_fd, work())


def _exit_on_hangup(hangup_fd: int) -> None:
    """Exit as soon as the parent's end is closed."""
    try:
        os.read(hangup_fd, 1)
    finally:
        os._exit(0)
