"""Stdio link to a module: its process, started at the first request, restarted with backoff, ended at exit.

Callers read for each other (ADR 25): whoever waits for a response and finds nobody reading reads, and
delivers every response that comes; with one caller at a time no thread ever waits for another.
"""

import atexit
from collections.abc import Mapping, Sequence
from itertools import count
from threading import Lock
from time import monotonic
from weakref import WeakSet

from hookonce.model import Json, Object
from hookonce.modules.host.client import Closeable
from hookonce.modules.host.process import STOP_GRACE_S, ModuleProcess
from hookonce.modules.protocol import messages
from hookonce.modules.protocol.pending import AMBIGUOUS_REASON, DeliveryOutcome, PendingRequests, ResponseWaiter
from hookonce.modules.protocol.stderr_tail import START_MARK, StderrTail

_EXIT_WAIT_S = 0.1  # seconds: a process closes its pipes a little before it has ended
_MAX_NOTE_BYTES = 200  # bytes of something strange
_LOG_NOTES: dict[DeliveryOutcome, bytes] = {
    "late": b"[an answer that nobody waits for any more: ",
    "stray": b"[on stdout, and no answer: ",
    "ambiguous": b"[an answer too many: ",
}
_MIN_BACKOFF_S, _MAX_BACKOFF_S = 0.1, 10.0  # seconds until it is started again, once it has failed twice in a row
_open_links: "WeakSet[ChildProcess]" = WeakSet()


class ModuleLifecycle:
    """Running process of a module and its pending requests."""

    def __init__(self, process: ModuleProcess, log: StderrTail, watch: messages.MessageWatcher) -> None:
        self.process, self.end_reason, self.pending = process, "", PendingRequests[ResponseWaiter]()
        self._log, self._watch, self._lines, self._ids = log, watch, messages.LineBuffer(), count(1)
        self._read_lock, self._write_lock, self._end_lock = Lock(), Lock(), Lock()

    def exchange(self, document: Object, timeout: float, deadline: float) -> Object | None:
        """Send a request under an id of our own and return its response; None if the module was gone before it."""
        request_id = next(self._ids)
        line = messages.encode_line(document | {"id": request_id})
        if len(line) > messages.MAX_MESSAGE_BYTES:
            message = f"the request has {len(line)} bytes; {messages.MAX_MESSAGE_BYTES} are the most"
            return messages.build_error("bad_request", message)
        if request_id > 1 and not self.pending:
            self._log.mark_call()
        waiter = self.pending.add(request_id, ResponseWaiter())
        try:
            if self._send(request_id, line, deadline):
                self._wait_for_response(waiter, deadline)
            elif self.end_reason and monotonic() < deadline:
                return None
            return waiter.document or self._timeout_response(request_id, timeout)
        finally:
            self.pending.remove(request_id)
            self._hand_over()

    def discard_stale(self) -> None:
        """Read what came since the last call, so that it is not taken for the response to the next request."""
        self._read_once()
        self._hand_over()

    def _send(self, request_id: int, line: bytes, deadline: float) -> bool:
        """Whether the whole line was written; a line that got stuck in the middle cannot be taken back."""
        if not self._write_lock.acquire(timeout=_remaining_s(deadline)):
            return False
        return self._send_and_release(request_id, line, deadline)

    def _send_and_release(self, request_id: int, line: bytes, deadline: float) -> bool:
        """The same for a thread that has the write lock, which it releases."""
        try:
            if self.end_reason:
                return False
            self.pending.last_id = max(self.pending.last_id, request_id)
            sent_bytes = self.process.send(line, deadline, self._read_once)
        except OSError:  # the module has closed its stdin
            sent_bytes = -1
        finally:
            self._write_lock.release()
        if sent_bytes == len(line):
            self._watch("sent", line)
        if sent_bytes < 0:
            self.end("it closed its stdin")
        elif 0 < sent_bytes < len(line):
            self.end("it stopped reading in the middle of a request")
        return sent_bytes == len(line)

    def _wait_for_response(self, waiter: ResponseWaiter, deadline: float) -> None:
        while not self._read_lock.acquire(blocking=False):  # another thread reads, and wakes us
            if not waiter.wake_lock.acquire(timeout=_remaining_s(deadline)) or waiter.document is not None:
                return
        try:
            while waiter.document is None and not self.end_reason:
                chunk = self.process.receive(deadline)
                if chunk is None:
                    return
                self._process_chunk(chunk)
        finally:
            self._read_lock.release()

    def _read_once(self) -> bool:
        """Read once while a request is written; whether no other thread was reading."""
        if not self._read_lock.acquire(blocking=False):
            return False
        try:
            if not self.end_reason and (chunk := self.process.receive(monotonic())) is not None:
                self._process_chunk(chunk)
        finally:
            self._read_lock.release()
        return True

    def _process_chunk(self, chunk: bytes) -> None:
        if not chunk:
            self.end("it closed its stdout" + (" in the middle of an answer" if self._lines.partial else ""))
            return
        for line in self._lines.feed(chunk):
            if line is None:
                self.end(f"its answer was longer than {messages.MAX_MESSAGE_BYTES} bytes", code="internal")
                return
            self._watch("heard", line)
            self._dispatch_line(line)

    def _dispatch_line(self, line: bytes) -> None:
        try:
            document = messages.decode_line(line)
        except ValueError:
            document = None
        self._dispatch_document(document, line)

    def _dispatch_document(self, document: Json, line: bytes) -> None:
        outcome = self.pending.deliver(document) if type(document) is dict else "stray"
        if outcome != "delivered":
            self._log.add(_LOG_NOTES[outcome] + line[:_MAX_NOTE_BYTES] + b"]\n")
        if outcome == "ambiguous":
            self.end(AMBIGUOUS_REASON)

    def _timeout_response(self, request_id: int, timeout: float) -> Object:  # noqa: ARG002  for protocols that can cancel
        """No response in time; one that bears no id would be taken for that of the next request."""
        if self.end_reason:
            return messages.build_error("unreachable", self.end_reason, retryable=True)
        last_line = self._log.last_line()
        if self.pending.record_timeout():
            self.end("a late answer without an id could not be told from the next one")
        details = {"last_words": last_line} if last_line else {}
        return messages.build_error("timeout", f"no answer within {timeout:g} seconds", seconds=timeout, **details)

    def end(self, reason: str, code: str = "unreachable") -> None:
        """End it: the whole process group is killed, and all pending requests fail."""
        with self._end_lock:
            if self.end_reason:
                return
            exited_alone = self.process.kill(_EXIT_WAIT_S)
            ending = self.process.exit_text if exited_alone else f"was ended: {reason}"
            self.end_reason = f"the module {ending}{self._log.last_words()}"
        self.pending.fail_all(messages.build_error(code, self.end_reason, retryable=True))

    def close(self, grace: float) -> None:
        """End it after `grace` seconds in which it may exit by itself."""
        if not self.end_reason and self._write_lock.acquire(timeout=grace):
            try:
                self.process.close_stdin()
            finally:
                self._write_lock.release()
            self.process.stop(grace)
        self.end("it was closed")
        self._hand_over()

    def _hand_over(self) -> None:
        """Wake another reader; after the end, the last thread closes the pipes."""
        if not self.end_reason:
            for waiter in () if self._read_lock.locked() else self.pending.list_waiters():
                if waiter.document is None:
                    waiter.wake()
                    return
        elif self._read_lock.acquire(blocking=False):
            try:
                if self._write_lock.acquire(blocking=False):
                    self.process.close_pipes()
                    self._write_lock.release()
            finally:
                self._read_lock.release()


class ChildProcess(Closeable):
    """Child process that is started when it is needed, again with backoff when it has ended, and ended with us."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        watch: messages.MessageWatcher | None = None,
    ) -> None:
        """`watch` gets every message and what the module writes to stderr; the first request starts the process."""
        self._command, self._cwd, self._env = list(command), cwd, env
        self._watch, self._log = watch or messages.ignore_message, StderrTail()
        self._lifecycle: ModuleLifecycle | None = None
        self._start_lock, self._serial_lock = Lock(), Lock()
        self._closed, self._failures, self._retry_at = False, 0, 0.0
        self.start_count = 0
        _open_links.add(self)

    @property
    def pid(self) -> int | None:
        """The id of the running process."""
        lifecycle = self._lifecycle
        return lifecycle.process.pid if lifecycle is not None and not lifecycle.end_reason else None

    def _ensure_running(self) -> ModuleLifecycle:
        lifecycle = self._lifecycle
        if lifecycle is not None and not lifecycle.end_reason and not lifecycle.process.has_exited():
            return lifecycle
        with self._start_lock:
            if self._closed:
                raise messages.Fault("unreachable", "the link to the module is closed")
            if self._lifecycle is lifecycle:
                self._lifecycle = self._start(lifecycle)
            assert self._lifecycle is not None  # noqa: S101  for type checkers
            return self._lifecycle

    def _start(self, previous: ModuleLifecycle | None) -> ModuleLifecycle:
        if previous is not None:
            previous.end("it had ended")
            previous.close(0.0)
            self._record_failure(had_response=previous.pending.has_response)
        wait_s = self._retry_at - monotonic()
        if wait_s > 0:
            self._lifecycle = None
            message = f"the module failed {self._failures} times in a row and rests for {wait_s:.1f} seconds"
            raise messages.Fault("unreachable", message, {"retryable": True, "retry_after": round(wait_s, 3)})
        try:
            process = ModuleProcess(self._command, self._cwd, self._env, self._on_stderr)
        except OSError as problem:
            self._lifecycle = None
            self._record_failure(had_response=False)
            message = f"{self._command[0]} cannot be started: {problem.strerror or problem}"
            raise messages.Fault("unreachable", message, {"command": self._command}) from None
        self.start_count += 1
        self._log.add(f"{START_MARK}{process.pid}]\n".encode())
        return self._build_lifecycle(process)

    def _build_lifecycle(self, process: ModuleProcess) -> ModuleLifecycle:
        return ModuleLifecycle(process, self._log, self._watch)

    def _record_failure(self, *, had_response: bool) -> None:
        """The first failure after a response costs no time, each further one twice as much."""
        self._failures = 1 if had_response else self._failures + 1
        wait_s = 0.0 if self._failures == 1 else min(_MIN_BACKOFF_S * 2 ** (self._failures - 2), _MAX_BACKOFF_S)
        self._retry_at = monotonic() + wait_s

    def _on_stderr(self, chunk: bytes) -> None:
        self._log.add(chunk)
        self._watch("said", chunk)

    def close(self, grace: float = STOP_GRACE_S) -> None:
        """End the module: its stdin is closed, then it gets SIGTERM, then its group is killed."""
        with self._start_lock:
            self._closed, lifecycle = True, self._lifecycle
        if lifecycle is not None:
            lifecycle.close(grace)
        _open_links.discard(self)


class StdioLink(ChildProcess):
    """Link to a module that is our child process; any number of threads may send requests at the same time."""

    def ask(self, request: messages.Request, timeout: float) -> Object:
        """Send a request; every failure is a response too."""
        deadline = monotonic() + min(timeout, messages.MAX_TIMEOUT_S)
        document = messages.request_document(request)
        try:
            for _ in range(2):  # again, if the module had ended before it got any of the request
                if (answer := self._exchange(document, timeout, deadline)) is not None:
                    return answer
        except messages.Fault as fault:
            return fault.document
        return messages.build_error("unreachable", "the module ends before it reads a request", retryable=True)

    def _exchange(self, document: Object, timeout: float, deadline: float) -> Object | None:
        lifecycle = self._ensure_running()
        if lifecycle.pending.echoes_ids:
            return lifecycle.exchange(document, timeout, deadline)
        # Its responses bear no ids, or that is not known yet: one request at a time.
        if not self._serial_lock.acquire(timeout=_remaining_s(deadline)):
            return messages.build_error("timeout", f"other calls took all of {timeout:g} seconds", seconds=timeout)
        try:
            lifecycle = self._ensure_running()
            if not lifecycle.pending.echoes_ids:
                lifecycle.discard_stale()
                return lifecycle.exchange(document, timeout, deadline)
        finally:
            self._serial_lock.release()
        return lifecycle.exchange(document, timeout, deadline)


@atexit.register
def _close_all() -> None:
    for link in list(_open_links):
        link.close()


def _remaining_s(deadline: float) -> float:
    return max(0.0, deadline - monotonic())
