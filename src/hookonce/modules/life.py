"""One life of a module on stdio: from its start to its end, with the calls that are under way meanwhile.

Callers read for each other. Whoever waits for an answer and finds nobody reading reads, and gives every answer that
comes to the one it belongs to; with one caller at a time no thread ever waits for another.
"""

from collections.abc import Callable
from itertools import count
from threading import Lock
from time import monotonic

from hookonce.model import Object
from hookonce.modules.lines import Lines, document_of, line_of
from hookonce.modules.log import Log
from hookonce.modules.process import Process
from hookonce.modules.protocol import Request, failed, spelled
from hookonce.modules.waiting import Fate, Waiter, Waiting

Watch = Callable[[str, bytes], object]
_MOMENT = 0.1  # seconds: a process closes its pipes a little before it has ended
_SHOWN = 200  # bytes of something strange
_NOTES: dict[Fate, bytes] = {
    "late": b"[an answer that nobody waits for any more: ",
    "stray": b"[on stdout, and no answer: ",
    "ambiguous": b"[an answer too many: ",
}


class Life:
    """A running module and the calls that wait for it."""

    def __init__(self, process: Process, log: Log, limit: int, watch: Watch | None) -> None:
        self.process, self.over, self.waiting = process, "", Waiting[Waiter]()
        self._log, self._limit, self._watch = log, limit, watch
        self._lines = Lines(limit)
        self._numbers = count(1)
        self._turn, self._writing, self._ending = Lock(), Lock(), Lock()

    def exchange(self, request: Request, timeout: float, deadline: float) -> Object | None:
        """The answer to a request; None if the module was gone before it got any of it."""
        number = next(self._numbers)
        line = line_of(spelled(request) | {"id": number})
        if len(line) > self._limit:
            return failed("bad_request", f"the request has {len(line)} bytes; {self._limit} are the most")
        if number > 1 and not self.waiting:
            self._log.turn()
        waiter = self.waiting.add(number, Waiter())
        try:
            if self._sent(number, line, deadline):
                self._wait(waiter, deadline)
            elif self.over and monotonic() < deadline:
                return None
            return waiter.document or self._late(timeout)
        finally:
            self.waiting.leave(number)
            self._leave()

    def settle(self) -> None:
        """Hear what came since the last call, so that it is not taken for the answer to the next."""
        self._hear()
        self._leave()

    def _sent(self, number: int, line: bytes, deadline: float) -> bool:
        """Whether the whole line is on its way; of a line that got stuck in the middle there is no way back."""
        if not self._writing.acquire(blocking=False) and not self._writing.acquire(timeout=_left(deadline)):
            return False
        try:
            if self.over:
                return False
            self.waiting.last = max(self.waiting.last, number)
            sent = self.process.send(line, deadline, self._hear)
        except OSError:  # nobody reads there any more
            sent = -1
        finally:
            self._writing.release()
        if self._watch is not None and sent == len(line):
            self._watch("sent", line)
        if sent < 0:
            self.end("it closed its stdin")
        elif 0 < sent < len(line):
            self.end("it stopped reading in the middle of a request")
        return sent == len(line)

    def _wait(self, waiter: Waiter, deadline: float) -> None:
        """Read until the answer is there, or wait for whoever reads."""
        while waiter.document is None:
            if self._turn.acquire(blocking=False):
                try:
                    self._lead(waiter, deadline)
                finally:
                    self._turn.release()
                return
            if not waiter.bell.acquire(timeout=_left(deadline)):
                return

    def _lead(self, waiter: Waiter, deadline: float) -> None:
        while waiter.document is None and not self.over:
            chunk = self.process.receive(deadline)
            if chunk is None:
                return
            self._take(chunk)

    def _hear(self) -> bool:
        """Read once while somebody writes; whether nobody else was reading."""
        if not self._turn.acquire(blocking=False):
            return False
        try:
            if not self.over and (chunk := self.process.receive(monotonic())) is not None:
                self._take(chunk)
        finally:
            self._turn.release()
        return True

    def _take(self, chunk: bytes) -> None:
        if not chunk:
            self.end("it closed its stdout" + (" in the middle of an answer" if self._lines.rest else ""))
            return
        for line in self._lines.feed(chunk):
            if line is None:
                self.end(f"its answer was longer than {self._limit} bytes", code="internal")
                return
            if self._watch is not None:
                self._watch("heard", line)
            self._dispatch(line)

    def _dispatch(self, line: bytes) -> None:
        """Give an answer to whoever waits for it; what is none is noted."""
        try:
            document = document_of(line)
        except ValueError:
            document = None
        fate = self.waiting.give(document) if type(document) is dict else "stray"
        if fate != "given":
            self._log.add(_NOTES[fate] + line[:_SHOWN] + b"]\n")
        if fate == "ambiguous":
            self.end("it gave an answer too many, and without ids nobody knows which")

    def _late(self, timeout: float) -> Object:
        """No answer in time; one that bears no id would be taken for that of the next request."""
        if self.over:
            return failed("unreachable", self.over, retryable=True)
        last = self._log.last()
        if self.waiting.missed():
            self.end("a late answer without an id could not be told from the next one")
        known = {"last_words": last} if last else {}
        return failed("timeout", f"no answer within {timeout:g} seconds", seconds=timeout, **known)

    def end(self, why: str, code: str = "unreachable") -> None:
        """It is over: the whole group is ended, and all who wait are told."""
        with self._ending:
            if self.over:
                return
            alone = self.process.kill(_MOMENT)
            said = f"; it said last: {last}" if (last := self._log.last()) else ""
            self.over = f"the module {self.process.ending}{said}" if alone else f"the module was ended: {why}{said}"
        self.waiting.deny(failed(code, self.over, retryable=True))

    def close(self, grace: float) -> None:
        """Let it end by itself if it does so soon."""
        if not self.over and self._writing.acquire(timeout=grace):
            try:
                self.process.finish()
            finally:
                self._writing.release()
            self.process.stop(grace)
        self.end("it was closed")
        self._leave()

    def _call_next(self) -> None:
        """Tell somebody that it is their turn to read."""
        for waiter in self.waiting.all():
            if waiter.document is None:
                waiter.ring()
                return

    def _leave(self) -> None:
        """Let somebody else read on; when it is over, whoever leaves last closes what is open."""
        if not self.over:
            if self.waiting and not self._turn.locked():
                self._call_next()
        elif self._turn.acquire(blocking=False):
            try:
                if self._writing.acquire(blocking=False):
                    self.process.shut()
                    self._writing.release()
            finally:
                self._turn.release()


def _left(deadline: float) -> float:
    return max(0.0, deadline - monotonic())
