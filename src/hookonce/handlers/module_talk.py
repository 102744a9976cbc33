"""A module on stdio beside everything else that a loop waits for: questions go out, answers come in any order."""

import os
import subprocess
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from hookonce.handlers.errand import Ran
from hookonce.handlers.watchdog import Watchdog, copied
from hookonce.model import Object
from hookonce.modules.descriptor import Descriptor
from hookonce.modules.lines import Lines, document_of, line_of
from hookonce.modules.process import CHUNK, close, pipes
from hookonce.modules.waiting import Waiting
from hookonce.runtime.loop import READ, WRITE, Loop, Timer
from hookonce.texts import dump

_GRACE = 0.15  # seconds for the end of what was killed, and for the watchdog's word on what has ended
_KEPT = 4096  # bytes of what it said last on stderr
_SHOWN = 200
_PATIENCE = 3  # answers in a row that did not come in time: then it is started anew


class Question:
    """Somebody who waits for an answer."""

    def __init__(self, talk: "ModuleTalk", request: Object, done: Callable[[Ran], object]) -> None:
        self.request, self.number = request, 0
        self._talk, self._done, self._began = talk, done, monotonic()
        self.timer: Timer | None = None

    def end(self) -> None:
        """Wait no more; the module may go on with it."""
        self._talk.forget(self)

    def give(self, document: Object) -> None:
        """What the module says."""
        self.told(Ran(code=0, stdout=dump(document)))

    def told(self, ran: Ran) -> None:
        """Say how it went."""
        if self.timer is not None:
            self.timer.cancel()
        self._done(Ran(code=ran.code, stdout=ran.stdout, failure=ran.failure, duration=monotonic() - self._began))


class ModuleTalk:
    """One process, and who waits for it. Until it has shown that it knows ids, it is asked one thing at a time."""

    def __init__(self, loop: Loop, descriptor: Descriptor) -> None:
        """Start it; an OSError where that is not possible."""
        self._loop, self._lines, self._unsent, self._noise = loop, Lines(), bytearray(), b""
        self._questions, self._queue = Waiting[Question](), deque[Question]()
        self._missed, self.last, self.is_over, self._is_closed = 0, monotonic(), False, False
        self._gone: Callable[[], object] = bool
        (ear, self._into), (self._out, mouth), (self._err, error) = pipes()
        theirs = [ear, mouth, error]
        self._watchdog: Watchdog | None
        try:
            self._watchdog = Watchdog(copied(lambda: _started(descriptor, theirs), set(theirs)))
        except (OSError, ValueError):
            close(self._into, self._out, self._err)
            raise
        finally:
            close(*theirs)
        for pipe, told in ((self._out, self._hear), (self._err, self._note)):
            os.set_blocking(pipe, False)
            loop.watch(pipe, READ, told)
        os.set_blocking(self._into, False)
        loop.watch(self._watchdog.news, READ, self._ended)

    def ask(self, request: Object, timeout: float, done: Callable[[Ran], object]) -> Question:
        """Put a question; `done` is told in the end how it went."""
        self.last = monotonic()
        question = Question(self, request, done)
        question.timer = self._loop.at(self.last + timeout, question.end)
        self._queue.append(question)
        self._go_on()
        return question

    def _go_on(self) -> None:
        """Write what may be asked now."""
        while self._queue and not self.is_over and (self._questions.echoes or not self._questions):
            question = self._queue.popleft()
            if self._questions.last and not self._questions:  # what it said before is not about this
                self._note(self._err)
                self._noise = b""
            self._questions.last += 1
            question.number = self._questions.last
            self._questions.add(question.number, question)
            if not self._unsent:
                self._loop.watch(self._into, WRITE, self._send)
            self._unsent += line_of(question.request | {"id": question.number})

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits."""
        return not self._questions and not self._queue

    def forget(self, question: Question) -> None:
        """Somebody waits no more; an answer that comes later must not be taken for somebody else's."""
        late = Ran(failure="timeout")
        if self._questions.leave(question.number):
            self._missed += 1
            unclear = self._questions.missed()
            question.told(late)
            if unclear or self._missed >= _PATIENCE:
                self.end("unreachable: it was ended, because it did not answer in time")
            self._go_on()
        elif question in self._queue:
            self._queue.remove(question)
            question.told(late)

    def _send(self, _: int) -> None:
        try:
            del self._unsent[: os.write(self._into, self._unsent[:CHUNK])]
        except BlockingIOError:
            return
        except OSError:
            self._leave()
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
            self._leave()
        self._go_on()

    def _answer(self, line: bytes | None) -> None:
        """Give an answer to the one it is for."""
        document = None
        with suppress(ValueError):
            document = document_of(line or b"")
        if type(document) is not dict:
            self.end("internal: it answered with something that is no JSON object")
            return
        self._missed = 0
        if self._questions.give(document) == "ambiguous":
            self.end("internal: it gave an answer too many, and without ids nobody knows which")

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
            return os.read(pipe, CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _leave(self, grace: float = _GRACE) -> None:
        """It neither hears nor speaks any more: the watchdog says why, if it knows."""
        self.is_over = True
        for pipe in (self._into, self._out):
            self._loop.forget(pipe)
        self._loop.at(monotonic() + grace, lambda: self.end(f"unreachable: it closed its pipes{self._words()}"))

    def _ended(self, news: int) -> None:
        said = "" if self._watchdog is None else (self._read(self._watchdog.news) or b"").decode(errors="replace")
        if not self._is_closed:
            self._note(news)
        self._close(ended=True)
        ending = said if said.startswith("not started") else f"it ended with code {said or '?'}"
        self.end(f"unreachable: {ending}{self._words()}")

    def retire(self, grace: float, gone: Callable[[], object] = bool) -> None:
        """Let it end by itself, for what it has taken and not yet done; nothing more will come."""
        self._gone = gone
        if self.is_over:
            self.end()
            return
        self._leave(grace)
        into, self._into = self._into, -1
        close(into)

    def end(self, why: str = "unreachable: it was ended") -> None:
        """End it and everything that it has started; whoever waits is told why."""
        if self._is_closed:
            return
        self.is_over = self._is_closed = True
        for pipe in (self._into, self._out, self._err):
            self._loop.forget(pipe)
        close(self._into, self._out, self._err)
        if self._watchdog is not None:
            self._watchdog.let_go()
            self._loop.at(monotonic() + _GRACE, lambda: self._close(ended=False))
        waiting = [*self._questions.all(), *self._queue]
        self._queue.clear()
        for question in waiting:
            self._questions.leave(question.number)
            question.told(Ran(failure=why))
        self._gone()

    def _close(self, *, ended: bool) -> None:
        if self._watchdog is not None:
            watchdog, self._watchdog = self._watchdog, None
            self._loop.forget(watchdog.news)
            watchdog.close(ended=ended)


def _started(descriptor: Descriptor, theirs: list[int]) -> "subprocess.Popen[bytes]":
    """Start it; this runs in the watchdog, which keeps nothing of it open."""
    ear, mouth, error = theirs
    try:
        return subprocess.Popen(  # noqa: S603  what to run is what a descriptor is for
            descriptor.transport.command, stdin=ear, stdout=mouth, stderr=error, cwd=descriptor.folder
        )
    finally:
        close(*theirs)
