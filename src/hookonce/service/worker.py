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

    def __init__(self, loop: Loop, done: Callable[[], object]) -> None:
        """Be ready; when it has ended, a function is called."""
        self._loop, self._done, self._pid = loop, done, 0

    def go(self, asked: Request, where: Ground, client: int) -> None:
        """Let it answer, on the client's descriptor."""
        began = monotonic()
        self._pid = fork()
        if self._pid == 0:
            _work(asked, where, client, began)
        try:
            handle = os.pidfd_open(self._pid)
        except (OSError, AttributeError):
            self._loop.at(monotonic() + _POLL, self._look)
        else:
            self._loop.watch(handle, READ, lambda _: self._ended(handle))

    def kill(self) -> None:
        """Nobody waits for its answer; its hooks end with it."""
        if self._pid:
            with suppress(OSError):
                os.kill(self._pid, signal.SIGKILL)

    def _look(self) -> None:
        if os.waitpid(self._pid, os.WNOHANG)[0]:
            self._over()
        else:
            self._loop.at(monotonic() + _POLL, self._look)

    def _ended(self, handle: int) -> None:
        self._loop.forget(handle)
        os.close(handle)
        os.waitpid(self._pid, 0)
        self._over()

    def _over(self) -> None:
        self._pid = 0
        self._done()


def _work(asked: Request, where: Ground, client: int, began: float) -> None:
    """The whole life of the copy; it never returns into the daemon."""
    try:
        os.setsid()
        leave_alone({client})
        reply = drive(on.walk(asked.words, asked.stdin, where, asked.id, began))
        said = wire.reply(wire.ANSWER, 0, reply.code, bytes_of(reply), reply.stderr.encode(errors="replace"))
        os.set_blocking(client, True)
        while said:
            said = said[os.write(client, said) :]
    finally:
        os._exit(0)
