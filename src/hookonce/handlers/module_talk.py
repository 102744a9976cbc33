"""A module on stdio beside everything else that a loop waits for: questions go out, answers come in any order."""

import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from hookonce.handlers.errand import Ran
from hookonce.handlers.watchdog import Watchdog, copied
from hookonce.model import Object
from hookonce.modules.descriptor import Descriptor
from hookonce.modules.lines import Lines, document_of, line_of
from hookonce.runtime.loop import READ, WRITE, Loop, Timer
from hookonce.texts import dump

_CHUNK = 1 << 16
_GRACE = 0.15  # seconds for the end of what was killed
_KEPT = 4096  # bytes of what it said last on stderr
_SHOWN = 200


class Question:
    """Somebody who waits for an answer."""

    def __init__(self, talk: "ModuleTalk", number: str, done: Callable[[Ran], object]) -> None:
        self.number, self._talk, self._done, self._began = number, talk, done, monotonic()
        self.timer: Timer | None = None

    def end(self) -> None:
        """Wait no more; the module may go on with it."""
        self._talk.forget(self, Ran(failure="timeout"))

    def told(self, ran: Ran) -> None:
        """Say how it went."""
        if self.timer is not None:
            self.timer.cancel()
        self._done(Ran(code=ran.code, stdout=ran.stdout, failure=ran.failure, duration=monotonic() - self._began))


class ModuleTalk:
    """One process, and who waits for it."""

    def __init__(self, loop: Loop, descriptor: Descriptor) -> None:
        """Start it; an OSError where that is not possible."""
        self._loop, self._lines, self._unsent, self._noise = loop, Lines(), bytearray(), b""
        self._questions: dict[str, Question] = {}
        self._count, self.last, self.is_over = 0, monotonic(), False
        pipes = [os.pipe(), os.pipe(), os.pipe()]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        self._into, self._out, self._err = pipes[0][1], pipes[1][0], pipes[2][0]
        self._watchdog: Watchdog | None
        try:
            self._watchdog = Watchdog(copied(lambda: _started(descriptor, theirs), set(theirs)))
        except (OSError, ValueError):
            _close(self._into, self._out, self._err)
            raise
        finally:
            _close(*theirs)
        for pipe, told in ((self._out, self._hear), (self._err, self._note)):
            os.set_blocking(pipe, False)
            loop.watch(pipe, READ, told)
        os.set_blocking(self._into, False)
        loop.watch(self._watchdog.news, READ, self._ended)

    def ask(self, request: Object, timeout: float, done: Callable[[Ran], object]) -> Question:
        """Put a question; `done` is told in the end how it went."""
        self._count, self.last = self._count + 1, monotonic()
        number = str(self._count)
        question = self._questions[number] = Question(self, number, done)
        question.timer = self._loop.at(self.last + timeout, question.end)
        idle = not self._unsent
        self._unsent += line_of(request | {"id": number})
        if idle:
            self._loop.watch(self._into, WRITE, self._send)
        return question

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits."""
        return not self._questions

    def forget(self, question: Question, ran: Ran) -> None:
        """Somebody waits no more."""
        if self._questions.pop(question.number, None) is not None:
            question.told(ran)

    def _send(self, _: int) -> None:
        try:
            del self._unsent[: os.write(self._into, self._unsent[:_CHUNK])]
        except BlockingIOError:
            return
        except OSError:
            self.end("unreachable: it does not read its stdin")
            return
        if not self._unsent:
            self._loop.forget(self._into)

    def _hear(self, _: int) -> None:
        chunk = self._read(self._out)
        if chunk is None:
            return
        for line in self._lines.feed(chunk):
            self._answer(line)
        if not chunk:
            self.end(f"unreachable: it ended before it answered{self._words()}")

    def _answer(self, line: bytes | None) -> None:
        """Give an answer to the one it is for; one without a number is for whoever has waited longest."""
        document = None
        with suppress(ValueError):
            document = document_of(line or b"")
        if type(document) is not dict:
            self.end("internal: it answered with something that is no JSON object")
            return
        number = document.pop("id", None)
        name = number if type(number) is str else next(iter(self._questions), "")
        if (question := self._questions.pop(name, None)) is not None:
            question.told(Ran(code=0, stdout=dump(document)))

    def _note(self, _: int) -> None:
        chunk = self._read(self._err)
        if chunk == b"":
            self._loop.forget(self._err)
        self._noise = (self._noise + (chunk or b""))[-_KEPT:]

    def _words(self) -> str:
        said = self._noise.decode(errors="replace").strip().rpartition("\n")[2][:_SHOWN]
        return f"; it said: {said}" if said else ""

    def _read(self, pipe: int) -> bytes | None:
        try:
            return os.read(pipe, _CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _ended(self, _: int) -> None:
        self._close(ended=True)
        self.end(f"unreachable: it ended{self._words()}")

    def end(self, why: str = "unreachable: it was ended") -> None:
        """End it and everything that it has started; whoever waits is told why."""
        if self.is_over:
            return
        self.is_over = True
        for pipe in (self._into, self._out, self._err):
            self._loop.forget(pipe)
        _close(self._into, self._out, self._err)
        if self._watchdog is not None:
            self._watchdog.let_go()
            self._loop.at(monotonic() + _GRACE, lambda: self._close(ended=False))
        for question in list(self._questions.values()):
            self.forget(question, Ran(failure=why))

    def _close(self, *, ended: bool) -> None:
        if self._watchdog is not None:
            watchdog, self._watchdog = self._watchdog, None
            self._loop.forget(watchdog.news)
            watchdog.close(ended=ended)


def _started(descriptor: Descriptor, pipes: list[int]) -> "subprocess.Popen[bytes]":
    """Start it; this runs in the watchdog, which keeps nothing of it open."""
    ear, mouth, error = pipes
    try:
        return subprocess.Popen(  # noqa: S603  what to run is what a descriptor is for
            descriptor.transport.command, stdin=ear, stdout=mouth, stderr=error, cwd=descriptor.folder
        )
    finally:
        _close(*pipes)


def _close(*pipes: int) -> None:
    for pipe in pipes:
        os.close(pipe)
