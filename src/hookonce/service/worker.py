"""Call on the Unix socket: acknowledged, run as a task or in a forked child, answered, and cleaned up.

A large payload is handled by a forked child of the daemon, so that other callers do not wait for it.
"""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from hookonce import wire
from hookonce.handlers.walk import run_blocking
from hookonce.handlers.watchdog import fork, close_inherited_fds
from hookonce.journeys import on
from hookonce.journeys.failmode import encode_reply
from hookonce.journeys.ground import CallContext
from hookonce.runtime.loop import READ, EventLoop
from hookonce.service.request import ClientRequest

LARGE_PAYLOAD_BYTES = 1 << 19  # bytes of a payload; reading so many takes longer than others should wait
_WAITPID_POLL_S = 0.01  # seconds between two looks, where a process cannot be waited for


class ForkedCall:
    """A call that a forked child of the daemon answers on the client's own socket."""

    def __init__(self, loop: EventLoop, on_exit: Callable[[bool], object]) -> None:
        """Prepare; `on_exit` is called with whether the child has answered."""
        self._loop, self._on_exit, self._pid = loop, on_exit, 0
        self.is_over = False

    def start(self, request: ClientRequest, call_context: CallContext, client_fd: int) -> None:
        """Fork, and let the child answer on the client's descriptor."""
        started_at = monotonic()
        try:
            self._pid = fork()
        except OSError:  # there is no room for it; the client goes on without us
            self._finish(1)
            return
        if self._pid == 0:
            _run_child(request, call_context, client_fd, started_at)
        try:
            pidfd = os.pidfd_open(self._pid)
        except (OSError, AttributeError):
            self._loop.call_at(monotonic() + _WAITPID_POLL_S, self._poll_exit)
        else:
            self._loop.watch_fd(pidfd, READ, lambda _: self._handle_exit(pidfd))

    def cancel(self) -> None:
        """Kill the child: nobody waits for its answer, and its hooks end with it."""
        if self._pid and not self.is_over:
            self.is_over = True
            with suppress(OSError):
                os.kill(self._pid, signal.SIGKILL)

    def _poll_exit(self) -> None:
        pid, exit_status = os.waitpid(self._pid, os.WNOHANG)
        if pid:
            self._finish(exit_status)
        else:
            self._loop.call_at(monotonic() + _WAITPID_POLL_S, self._poll_exit)

    def _handle_exit(self, pidfd: int) -> None:
        self._loop.remove_fd(pidfd)
        os.close(pidfd)
        self._finish(os.waitpid(self._pid, 0)[1])

    def _finish(self, exit_status: int) -> None:
        if not self.is_over:
            self.is_over = True
            self._on_exit(exit_status == 0)


def _run_child(request: ClientRequest, call_context: CallContext, client_fd: int, started_at: float) -> None:
    """Whole life of the child; it never returns into the daemon."""
    exit_code = 1
    try:
        os.setsid()
        close_inherited_fds({client_fd})
        reply = run_blocking(on.handle_call(request.argv, request.stdin, call_context, request.id, started_at))
        frame = wire.encode_reply(wire.ANSWER, 0, reply.code, encode_reply(reply), reply.stderr.encode(errors="replace"))
        os.set_blocking(client_fd, True)
        while frame:
            frame = frame[os.write(client_fd, frame) :]
        exit_code = 0
    finally:
        os._exit(exit_code)
