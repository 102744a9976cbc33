"""Stdio link to a module: starts its process at the first request, restarts it with backoff, ends it at exit."""

import atexit
from collections.abc import Mapping, Sequence
from threading import Lock
from time import monotonic
from weakref import WeakSet

from hookonce.model import Object
from hookonce.modules.host.client import Closeable
from hookonce.modules.host.lifecycle import MessageWatcher, ModuleLifecycle
from hookonce.modules.host.process import STOP_GRACE_S, ModuleProcess
from hookonce.modules.protocol.messages import (
    MAX_MESSAGE_BYTES,
    MAX_TIMEOUT_S,
    Fault,
    Request,
    build_error,
    error_document,
)
from hookonce.modules.protocol.stderr_tail import StderrTail

_MIN_BACKOFF_S, _MAX_BACKOFF_S = 0.1, 10.0  # seconds until it is started again, once it has failed twice in a row
_open_links: "WeakSet[StdioLink]" = WeakSet()


class StdioLink(Closeable):
    """Link to a module that is our child process; any number of threads may send requests at the same time."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        watch: MessageWatcher | None = None,
        limit: int = MAX_MESSAGE_BYTES,
    ) -> None:
        """`watch` gets every message and what the module writes to stderr; the first request starts the process."""
        self._command, self._cwd, self._env = list(command), cwd, env
        self._watch, self._limit, self._log = watch, limit, StderrTail()
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

    @property
    def log(self) -> str:
        """The end of its stderr, and of what it wrote to stdout that was no response."""
        return self._log.text()

    def ask(self, request: Request, timeout: float) -> Object:
        """Send a request; every failure is a response too."""
        deadline = monotonic() + min(timeout, MAX_TIMEOUT_S)
        try:
            answer = self._exchange(request, timeout, deadline)
            if answer is None:  # it had ended before it got any of this: that costs nobody an answer
                answer = self._exchange(request, timeout, deadline)
        except Fault as fault:
            return error_document(fault.error)
        if answer is None:
            return build_error("unreachable", "the module ends before it reads a request", retryable=True)
        return answer

    def _exchange(self, request: Request, timeout: float, deadline: float) -> Object | None:
        lifecycle = self._ensure_running()
        if lifecycle.pending.echoes_ids:
            return lifecycle.exchange(request, timeout, deadline)
        # Its answers bear no ids, or nobody knows yet: one at a time.
        if not self._serial_lock.acquire(timeout=max(0.0, deadline - monotonic())):
            return build_error("timeout", f"other calls took all of {timeout:g} seconds", seconds=timeout)
        has_lock = True
        try:
            lifecycle = self._ensure_running()
            if lifecycle.pending.echoes_ids:
                self._serial_lock.release()
                has_lock = False
            else:
                lifecycle.discard_stale()
            return lifecycle.exchange(request, timeout, deadline)
        finally:
            if has_lock:
                self._serial_lock.release()

    def _ensure_running(self) -> ModuleLifecycle:
        lifecycle = self._lifecycle
        if lifecycle is not None and not lifecycle.end_reason and not lifecycle.process.has_exited():
            return lifecycle
        with self._start_lock:
            if self._closed:
                raise Fault("unreachable", "the link to the module is closed")
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
            raise Fault("unreachable", message, {"retryable": True, "retry_after": round(wait_s, 3)})
        try:
            process = ModuleProcess(self._command, self._cwd, self._env, self._on_stderr)
        except OSError as problem:
            self._lifecycle = None
            self._record_failure(had_response=False)
            message = f"{self._command[0]} cannot be started: {problem.strerror or problem}"
            raise Fault("unreachable", message, {"command": self._command}) from None
        self.start_count += 1
        self._log.mark_start(process.pid)
        return ModuleLifecycle(process, self._log, self._limit, self._watch)

    def _record_failure(self, *, had_response: bool) -> None:
        """The first failure after a response costs no time, each further one twice as much."""
        self._failures = 1 if had_response else self._failures + 1
        wait_s = 0.0 if self._failures == 1 else min(_MIN_BACKOFF_S * 2 ** (self._failures - 2), _MAX_BACKOFF_S)
        self._retry_at = monotonic() + wait_s

    def _on_stderr(self, chunk: bytes) -> None:
        self._log.add(chunk)
        if self._watch is not None:
            self._watch("said", chunk)

    def close(self, grace: float = STOP_GRACE_S) -> None:
        """End the module: its stdin is closed, then it gets SIGTERM, then its group is killed."""
        with self._start_lock:
            self._closed, lifecycle = True, self._lifecycle
        if lifecycle is not None:
            lifecycle.close(grace)
        _open_links.discard(self)


@atexit.register
def _close_all() -> None:
    for link in list(_open_links):
        link.close()
