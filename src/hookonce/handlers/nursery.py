"""Our end of a nursery: copies of a process that has loaded a file are ordered, given their calls, and ended."""

import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any

from msgspec import msgpack

from hookonce.handlers import native
from hookonce.handlers.errand import Ran
from hookonce.handlers.function_call import Asking
from hookonce.handlers.function_wire import KEPT, Request, encoded
from hookonce.handlers.watchdog import Watchdog, copied
from hookonce.runtime.loop import READ, Loop

CONTROL = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM  # packets stay apart on both
_AT_ONCE = 64  # calls of one file; more wait for their turn
_PACKET = KEPT + 4096  # notes, and words
_GRACE = 0.15  # seconds for the end of what was killed
_GONE = "the process that had its file loaded has ended"


class Nursery:
    """A process that has loaded a file, and the calls that it answers or is to answer."""

    def __init__(self, loop: Loop, digest: str, command: str) -> None:
        """Start it; an OSError where that is not possible."""
        self._loop, self.digest = loop, digest
        self._control, theirs = socket.socketpair(socket.AF_UNIX, CONTROL)
        self._waiting: deque[Asking] = deque()
        self._spare: dict[int, int] = {}
        self._running: dict[int, Asking] = {}
        self._ordered, self._loaded, self._retired = 0, False, False
        self.last, self.is_over = monotonic(), False
        self._watchdog: Watchdog | None
        with theirs:
            try:
                self._watchdog = Watchdog(_begin(command, theirs.fileno()))
            except (OSError, ValueError):
                self._control.close()
                raise
        self._control.settimeout(0)
        loop.watch(self._control.fileno(), READ, self._news)
        loop.watch(self._watchdog.news, READ, lambda _: self._close(ended=True))

    @property
    def is_idle(self) -> bool:
        """Whether nobody is or waits to be answered."""
        return not self._waiting and not self._running

    def ask(self, request: Request, timeout: float, done: Callable[[Ran], object]) -> Asking:
        """Let a copy answer; `done` is told in the end how it went."""
        self.last = monotonic()
        asking = Asking(self._loop, encoded(request), timeout, done)
        asking.given_up = self._given_up
        self._waiting.append(asking)
        self._go_on()
        return asking

    def retire(self) -> None:
        """Take no further calls, and end when those under way have ended."""
        self._retired = True
        self._go_on()

    def end(self, why: str = _GONE, notes: bytes = b"") -> None:
        """End it now, and everything that it has started; whoever waits is told why."""
        if self.is_over:
            return
        self.is_over = True
        self._loop.forget(self._control.fileno())
        self._control.close()
        for line in self._spare.values():
            os.close(line)
        if self._watchdog is not None:
            self._watchdog.let_go()
            self._loop.at(monotonic() + _GRACE, lambda: self._close(ended=False))
        for asking in (*self._waiting, *self._running.values()):
            asking.fail(Ran(failure=why, stderr=notes))

    def _close(self, *, ended: bool) -> None:
        """Its watchdog has nothing more to tell, or has had time enough."""
        if self._watchdog is not None:
            watchdog, self._watchdog = self._watchdog, None
            self._loop.forget(watchdog.news)
            watchdog.close(ended=ended)
        self._news(0)  # its last words may still be on the line
        self.end()

    def _news(self, _: int) -> None:
        while not self.is_over:
            try:
                packet, lines, *_flags = socket.recv_fds(self._control, _PACKET, 1)
            except BlockingIOError:
                return
            except OSError:
                packet, lines = b"", []
            if not packet:
                self.end()
                return
            self._told(*msgpack.decode(packet), lines=lines)

    def _told(self, word: str, *more: Any, lines: list[int]) -> None:
        if word == "ready" and lines:
            self._loaded, self._ordered = True, self._ordered - 1
            self._spare[more[0]] = lines[0]
        elif word == "ended":
            number, code, notes = more
            if (line := self._spare.pop(number, None)) is not None:
                os.close(line)
            if (asking := self._running.pop(number, None)) is not None:
                asking.ended(code, notes)
        elif word == "broken":
            self.end(f"its file cannot be loaded: {more[0]}", more[1])
        self._go_on()

    def _go_on(self) -> None:
        """Give calls to copies that wait, and order as many copies as calls will soon need."""
        if self.is_over:
            return
        while self._waiting and self._spare:
            number = next(iter(self._spare))
            asking = self._running[number] = self._waiting.popleft()
            asking.begin(self._spare.pop(number), number)
        if self._retired:
            if self.is_idle:
                self.end()
            return
        coming = len(self._spare) + self._ordered
        for _ in range(min(_AT_ONCE - len(self._running), max(1, len(self._waiting))) - coming):
            self._ordered += 1
            self._say("more")

    def _given_up(self, asking: Asking) -> None:
        """Nobody waits for a call any more: its copy ends, and so does a process that has not even loaded the file."""
        if self.is_over:
            return
        if asking.number is not None:
            self._say("kill", asking.number)
            return
        with suppress(ValueError):
            self._waiting.remove(asking)
        if not self._loaded:
            self.end("its file was not loaded in time")

    def _say(self, *words: Any) -> None:
        try:
            self._control.send(msgpack.encode(words))
        except OSError:
            self._loop.soon(self.end)


def _begin(command: str, control: int) -> Callable[[int, int], int]:
    """The watchdog of a nursery, whose stdin is our line to it; what it prints while it loads concerns nobody."""

    def begin(leash: int, news: int) -> int:
        nothing = os.open(os.devnull, os.O_RDWR)
        pipes = [control, nothing, nothing]
        try:
            if native.program() is None:
                return copied(lambda: _started(command, pipes), set(pipes))(leash, news)
            return native.started(["-", "/", f"exec {command}"], _environment(), pipes)(leash, news)
        finally:
            os.close(nothing)

    return begin


def _started(command: str, pipes: list[int]) -> "subprocess.Popen[bytes]":
    """Start it; this runs in the watchdog, which keeps nothing of it open."""
    ear, mouth, error = pipes
    try:
        return subprocess.Popen(  # noqa: S602  our own program, its words quoted
            f"exec {command}",
            shell=True,
            stdin=ear,
            stdout=mouth,
            stderr=error,
            cwd="/",
            env=dict(_environment()),
            start_new_session=True,
        )
    finally:
        for pipe in {*pipes}:
            os.close(pipe)


def _environment() -> Mapping[str, str]:
    """What a nursery knows of the world before somebody calls."""
    return {name: value for name in ("HOME", "PATH", "LANG") if (value := os.environ.get(name)) is not None}
