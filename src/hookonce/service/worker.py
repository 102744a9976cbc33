"""A call that is much work is answered by a copy of the daemon, so that nobody else waits for it."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from hookonce import wire
from hookonce.handlers.walk import drive
from hookonce.handlers.watchdog import fork, leave_alone
from hookonce.journeys import on
from hookonce.journeys.failmode import bytes_of
from hookonce.journeys.ground import Ground
from hookonce.runtime.loop import READ, Loop
from hookonce.service.request import Request

HEAVY = 1 << 19  # bytes of a payload; reading so many takes longer than others should wait
_POLL = 0.01  # seconds between two looks, where a process cannot be waited for


class Worker:
    """The copy: it answers the client itself, and ends."""

    def __init__(self, loop: Loop, done: Callable[[bool], object]) -> None:
        """Be ready; when it has ended, a function is told whether it has answered."""
        self._loop, self._done, self._pid = loop, done, 0
        self.is_over = False

    def go(self, asked: Request, where: Ground, client: int) -> None:
        """Let it answer, on the client's descriptor."""
        began = monotonic()
        try:
            self._pid = fork()
        except OSError:  # there is no room for it; the client goes on without us
            self._over(1)
            return
        if self._pid == 0:
            _work(asked, where, client, began)
        try:
            handle = os.pidfd_open(self._pid)
        except (OSError, AttributeError):
            self._loop.at(monotonic() + _POLL, self._look)
        else:
            self._loop.watch(handle, READ, lambda _: self._ended(handle))

    def abandon(self) -> None:
        """Nobody waits for its answer; its hooks end with it."""
        if self._pid and not self.is_over:
            self.is_over = True
            with suppress(OSError):
                os.kill(self._pid, signal.SIGKILL)

    def _look(self) -> None:
        pid, ending = os.waitpid(self._pid, os.WNOHANG)
        if pid:
            self._over(ending)
        else:
            self._loop.at(monotonic() + _POLL, self._look)

    def _ended(self, handle: int) -> None:
        self._loop.forget(handle)
        os.close(handle)
        self._over(os.waitpid(self._pid, 0)[1])

    def _over(self, ending: int) -> None:
        if not self.is_over:
            self.is_over = True
            self._done(ending == 0)


def _work(asked: Request, where: Ground, client: int, began: float) -> None:
    """The whole life of the copy; it never returns into the daemon."""
    ending = 1
    try:
        os.setsid()
        leave_alone({client})
        reply = drive(on.walk(asked.words, asked.stdin, where, asked.id, began))
        said = wire.reply(wire.ANSWER, 0, reply.code, bytes_of(reply), reply.stderr.encode(errors="replace"))
        os.set_blocking(client, True)
        while said:
            said = said[os.write(client, said) :]
        ending = 0
    finally:
        os._exit(ending)
