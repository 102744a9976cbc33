"""A module on its stdin and stdout: many requests at once, and none of them holds up the others for long.

Whoever reads a request answers it, without a word to another thread: that is what makes small ones cheap. Somebody
watches, and if an answer takes longer than a moment lets another thread read on; if it takes too long, says so.
"""

import os
import sys
from collections import deque
from threading import Event, Lock, Semaphore, Thread
from time import monotonic, sleep

from hookonce.model import Json, Object
from hookonce.modules.later import finish_all
from hookonce.modules.lines import Lines, document_of, line_of
from hookonce.modules.protocol import LIMIT, TIMEOUT, failed
from hookonce.modules.server import Answering, late

THREADS = 64
_CHUNK = 1 << 16
_TICK = 0.002  # seconds between two looks while there is work
_QUIET = 25  # looks without work after which nobody looks any more
_STEP = 0.02  # seconds between two looks when we are about to leave
_GRACE = 10.0  # seconds for what is under way when nothing more comes


class _Call:
    """A request under way; `leads` while the thread that answers it is the one that reads."""

    __slots__ = ("deadline", "document", "leads")

    def __init__(self, document: Json, deadline: float) -> None:
        self.document, self.deadline, self.leads = document, deadline, True


class Desk:
    """The threads that answer what comes in, and the one that watches them."""

    def __init__(self, module: Answering, into: int, out: int, *, threads: int, deadline: float, limit: int) -> None:
        self._module, self._into, self._out = module, into, out
        self._seconds, self._limit = deadline, limit
        self._lines, self._waiting = Lines(limit), deque[bytes | None]()
        self._state, self._writing = Lock(), Lock()
        self._calls: dict[int, _Call] = {}  # in the order in which they came, so the first is the oldest
        self._claimed: dict[int, _Call] = {}  # those that nobody answers yet
        self._leading: _Call | None = None
        self._count, self._threads, self._most, self._spares = 0, 0, threads, 0
        self._turns, self._vacant = Semaphore(0), False
        self._eager = False  # while there is slow work, what else has come is not kept waiting for the next look
        self._wake, self._asleep, self.over = Event(), False, Event()

    def start(self) -> None:
        """Begin to read."""
        self._begin_thread()
        Thread(target=self._watch, daemon=True).start()

    def _begin_thread(self) -> None:
        self._threads += 1
        Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        """Read a request, answer it; go on reading if nobody else does by now, else wait for the turn."""
        while (found := self._next()) is not None:
            document, refusal = found
            call = self._begin(document)
            if not self._end(call, refusal or self._module.answer(document)):
                self._turns.acquire()
        self.over.set()

    def _next(self) -> tuple[Json, Object | None] | None:
        """The next document, or why it is none; from what was read already, or from what comes."""
        while True:
            while not self._waiting:
                chunk = os.read(self._into, _CHUNK)
                if not chunk:
                    return None
                self._waiting.extend(self._lines.feed(chunk))
            line = self._waiting.popleft()
            if line is None:
                why = f"a request has at most {self._limit} bytes"
                return None, failed("bad_request", why, limit=self._limit)
            try:
                return document_of(line), None
            except ValueError:
                if line.strip():  # an empty line asks nothing
                    return None, failed("bad_request", "a line that is no JSON came as a request")

    def _begin(self, document: Json) -> _Call:
        call = _Call(document, monotonic() + self._seconds)
        self._count += 1
        self._calls[id(call)] = self._claimed[id(call)] = self._leading = call
        if self._waiting and self._eager:
            with self._state:
                self._pass_on(call)
        if self._asleep:
            self._wake.set()
        return call

    def _end(self, call: _Call, said: Object) -> bool:
        """Answer, unless that was done; whether this thread reads on."""
        if self._claimed.pop(id(call), None) is not None:  # whoever takes it out answers
            self._say(said)
        self._calls.pop(id(call), None)  # only now: what is under way is waited for
        with self._state:
            if call.leads:
                self._leading = None
            elif self._vacant:
                self._vacant = False
            else:
                self._spares += 1
                return False
        return True

    def _say(self, document: Object) -> None:
        line = _encoded(document)
        with self._writing:
            try:
                sent = os.write(self._out, line)
                while sent < len(line):
                    sent += os.write(self._out, memoryview(line)[sent:])
            except OSError:  # nobody listens any more
                self.over.set()

    def _pass_on(self, call: _Call) -> None:
        """Let another thread read; if all are busy, the first that is done."""
        call.leads, self._leading = False, None
        if self._spares:
            self._spares -= 1
            self._turns.release()
        elif self._threads < self._most:
            self._begin_thread()
        else:
            self._vacant = True

    def _watch(self) -> None:
        before, count, quiet = None, 0, 0
        while not self.over.is_set():
            if quiet < _QUIET:
                sleep(_TICK)
            else:
                self._rest()
            with self._state:
                leading = self._leading
                if leading is not None and leading is before:
                    self._pass_on(leading)
                quiet = 0 if leading is not None or count != self._count else quiet + 1
                before, count = leading, self._count
                self._eager = self._has_slow()
            self._expire()

    def _has_slow(self) -> bool:
        oldest = next(iter(list(self._calls.values())), None)
        return oldest is not None and oldest.deadline - self._seconds + _TICK < monotonic()

    def _rest(self) -> None:
        """Wait until something comes, or what is under way takes too long."""
        self._asleep = True
        oldest = next(iter(list(self._calls.values())), None)
        if self._leading is None:
            self._wake.wait(None if oldest is None else max(0.0, oldest.deadline - monotonic()))
        self._asleep = False
        self._wake.clear()

    def _expire(self) -> None:
        now = monotonic()
        for number, call in list(self._calls.items()):
            if call.deadline > now:
                return
            if self._claimed.pop(number, None) is not None:
                self._say(late(call.document, self._seconds))
            self._calls.pop(number, None)

    def finish(self, seconds: float) -> None:
        """Wait for what is under way."""
        until = monotonic() + seconds
        while self._calls and monotonic() < until:
            sleep(_STEP)


def _encoded(document: Object) -> bytes:
    try:
        return line_of(document)
    except (TypeError, ValueError, RecursionError) as problem:
        return line_of(failed("internal", f"the result cannot be written as JSON: {problem}"))


def serve(module: Answering, *, threads: int = THREADS, deadline: float = TIMEOUT, limit: int = LIMIT) -> None:
    """Answer on stdout what comes on stdin, until it ends; what operations print goes to stderr."""
    sys.stdout.flush()
    into, out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # what an operation starts must not read our requests,
    os.dup2(2, 1)  # nor write between our answers
    os.close(nothing)
    desk = Desk(module, into, out, threads=threads, deadline=deadline, limit=limit)
    desk.start()
    desk.over.wait()
    desk.finish(_GRACE)
    finish_all(_GRACE)
