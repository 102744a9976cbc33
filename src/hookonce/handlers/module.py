"""Module handler: calls `on_event` of a module on stdio; its answer counts as a hook's answer."""

import os
import sys
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base.event_loop import READ, WRITE, EventLoop, Timer
from hookonce.base.jsontext import dump
from hookonce.base.process_info import PYTHON_VARIABLE
from hookonce.base.spawn import close_fds, open_pipes, spawn
from hookonce.handlers.environment import installed_environment
from hookonce.handlers.operation import OperationHandle, OperationResult, ResultCallback
from hookonce.handlers.supervise.hook_results import parse_result
from hookonce.handlers.supervise.watchdog import Watchdog, forked_watchdog
from hookonce.model import Object
from hookonce.modules.protocol.descriptor import Descriptor, descriptor_key
from hookonce.modules.protocol.messages import LineBuffer, decode_line, encode_line
from hookonce.modules.protocol.pending import AMBIGUOUS_REASON, PendingRequests
from hookonce.modules.protocol.stderr_tail import StderrTail

ON_EVENT = "on_event"
_IDLE_TIMEOUT_S = 600.0  # seconds without an event
_RETIRE_GRACE_S = 1.0  # seconds for what a module has acknowledged and not yet done
_ACK_MARKER = b'"accepted":true'
_pools: dict[EventLoop, "ModulePool"] = {}
_CHUNK_BYTES = 1 << 16
_EXIT_GRACE_S = 0.15  # seconds for the end of what was killed, and for the watchdog's word on what has ended
_MAX_MISSES = 3  # answers in a row that did not come in time: then it is started anew


class ModuleQuery:
    """One query that waits for an answer."""

    def __init__(self, channel: "ModuleChannel", request: Object, on_result: ResultCallback) -> None:
        self.request, self.number = request, 0
        self._channel, self._on_result, self._started_at = channel, on_result, monotonic()
        self.timer: Timer | None = None

    def cancel(self) -> None:
        """Stop waiting, because nobody wants the answer; the module may go on with it."""
        self._channel.abandon_query(self, is_late=False)

    def set_response(self, document: Object) -> None:
        """Take the module's answer."""
        self.finish(OperationResult(code=0, stdout=dump(document)))

    def finish(self, result: OperationResult) -> None:
        """Report the result."""
        if self.timer is not None:
            self.timer.cancel()
        self._on_result(replace(result, duration=monotonic() - self._started_at))


class ModuleChannel:
    """Channel to one module process. Until it has shown that it echoes ids, it gets one query at a time."""

    def __init__(self, loop: EventLoop, descriptor: Descriptor, variables: Mapping[str, str] | None = None) -> None:
        """Start it, with further variables in its environment; an OSError where that is not possible."""
        self._loop, self._lines, self._unsent, self._log = loop, LineBuffer(), bytearray(), StderrTail()
        self._open_queries, self._queue = PendingRequests[ModuleQuery](), deque[ModuleQuery]()
        self._miss_count, self.last_query_at, self.is_over, self._is_closed = 0, monotonic(), False, False
        self._on_end: Callable[[], object] = bool
        child_fds, (self._stdin_fd, self._stdout_fd, self._stderr_fd) = open_pipes()
        command, folder = descriptor.transport.command, descriptor.folder
        own_variables = {"LANG": os.environ.get("LANG", "C.UTF-8"), PYTHON_VARIABLE: sys.executable}
        env = own_variables | dict(variables or {}) | installed_environment()
        self._watchdog: Watchdog | None
        try:
            start = forked_watchdog(lambda _: spawn(command, child_fds, cwd=folder, env=env), child_fds)
            self._watchdog = Watchdog(start)
        except (OSError, ValueError):
            close_fds(self._stdin_fd, self._stdout_fd, self._stderr_fd)
            raise
        finally:
            close_fds(*child_fds)
        for pipe, handler in ((self._stdout_fd, self._receive), (self._stderr_fd, self._read_stderr)):
            os.set_blocking(pipe, False)
            loop.watch_fd(pipe, READ, handler)
        os.set_blocking(self._stdin_fd, False)
        loop.watch_fd(self._watchdog.status_fd, READ, self._handle_exit)

    def query(self, request: Object, timeout: float, on_result: ResultCallback) -> ModuleQuery:
        """Queue a query; `on_result` is called once."""
        self.last_query_at = monotonic()
        query = ModuleQuery(self, request, on_result)
        query.timer = self._loop.call_at(self.last_query_at + timeout, partial(self.abandon_query, query, is_late=True))
        self._queue.append(query)
        self._send_next()
        return query

    def _send_next(self) -> None:
        while self._queue and not self.is_over and (self._open_queries.echoes_ids or not self._open_queries):
            query = self._queue.popleft()
            if self._open_queries.last_id and not self._open_queries:  # what it said before is not about this
                self._read_stderr(self._stderr_fd)
                self._log.mark_call()
            self._open_queries.last_id += 1
            query.number = self._open_queries.last_id
            self._open_queries.add(query.number, query)
            if not self._unsent:
                self._loop.watch_fd(self._stdin_fd, WRITE, self._send)
            self._unsent += encode_line(query.request | {"id": query.number})

    @property
    def is_idle(self) -> bool:
        """Whether no query is open."""
        return not self._open_queries and not self._queue

    def abandon_query(self, query: ModuleQuery, *, is_late: bool) -> None:
        """Give up a query; a late answer must not be taken for that of another query."""
        timeout_result = OperationResult(failure="timeout")
        if self._open_queries.remove(query.number):
            self._miss_count += is_late
            is_ambiguous = self._open_queries.record_timeout()
            query.finish(timeout_result)
            if is_ambiguous or self._miss_count >= _MAX_MISSES:
                self.end("unreachable: it was ended, because it did not answer in time")
            self._send_next()
        elif query in self._queue:
            self._queue.remove(query)
            query.finish(timeout_result)

    def _send(self, _: int) -> None:
        try:
            del self._unsent[: os.write(self._stdin_fd, self._unsent[:_CHUNK_BYTES])]
        except BlockingIOError:
            return
        except OSError:
            self._disconnect()
            return
        if not self._unsent:
            self._loop.remove_fd(self._stdin_fd)

    def _receive(self, _: int) -> None:
        chunk = self._read(self._stdout_fd)
        if chunk is None:
            return
        for line in self._lines.feed(chunk):
            self._dispatch_answer(line)
        if not chunk:
            self._disconnect()
        self._send_next()

    def _dispatch_answer(self, line: bytes | None) -> None:
        document = None
        with suppress(ValueError):
            document = decode_line(line or b"")
        if type(document) is not dict:
            self.end("internal: its answer is not a JSON object")
            return
        self._miss_count = 0
        if self._open_queries.deliver(document) == "ambiguous":
            self.end(f"internal: {AMBIGUOUS_REASON}")

    def _read_stderr(self, _: int) -> None:
        chunk = self._read(self._stderr_fd)
        if chunk == b"":
            self._loop.remove_fd(self._stderr_fd)
        self._log.add(chunk or b"")

    def _read(self, pipe: int) -> bytes | None:
        try:
            return os.read(pipe, _CHUNK_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _disconnect(self, grace: float = _EXIT_GRACE_S) -> None:
        """Its pipes are closed: the watchdog tells why, if it knows."""
        self.is_over = True
        for pipe in (self._stdin_fd, self._stdout_fd):
            self._loop.remove_fd(pipe)
        reason = "unreachable: it closed its pipes"
        self._loop.call_later(grace, lambda: self.end(f"{reason}{self._log.last_words()}"))

    def _handle_exit(self, fd: int) -> None:
        status = None if self._watchdog is None else self._read(self._watchdog.status_fd)
        result = parse_result(status or b"") or OperationResult(failure="it ended with code ?")
        if not self._is_closed:
            self._read_stderr(fd)
        self._close(has_ended=True)
        ending = result.failure or f"it ended with code {result.code}"
        self.end(f"unreachable: {ending}{self._log.last_words()}")

    def retire(self, grace: float, on_end: Callable[[], object] = bool) -> None:
        """Close its stdin and let it end by itself within a grace time."""
        self._on_end = on_end
        if self.is_over:
            self.end()
            return
        self._disconnect(grace)
        stdin_fd, self._stdin_fd = self._stdin_fd, -1
        close_fds(stdin_fd)

    def end(self, why: str = "unreachable: it was ended") -> None:
        """Kill it and everything that it started; open queries fail."""
        if self._is_closed:
            return
        self.is_over = self._is_closed = True
        for pipe in (self._stdin_fd, self._stdout_fd, self._stderr_fd):
            self._loop.remove_fd(pipe)
        close_fds(self._stdin_fd, self._stdout_fd, self._stderr_fd)
        if self._watchdog is not None:
            self._watchdog.kill()
            self._loop.call_later(_EXIT_GRACE_S, lambda: self._close(has_ended=False))
        queries = [*self._open_queries.list_waiters(), *self._queue]
        self._queue.clear()
        for query in queries:
            self._open_queries.remove(query.number)
            query.finish(OperationResult(failure=why))
        self._on_end()

    def _close(self, *, has_ended: bool) -> None:
        if self._watchdog is not None:
            watchdog, self._watchdog = self._watchdog, None
            self._loop.remove_fd(watchdog.status_fd)
            watchdog.close(has_ended=has_ended)


class ModulePool:
    """Pool of the modules that run for an event loop; a one-shot process has none, and starts one for each event."""

    def __init__(self, loop: EventLoop) -> None:
        self._loop, self._channels = loop, dict[bytes, ModuleChannel]()
        _pools[loop] = self

    def find_channel(self, descriptor: Descriptor, variables: Mapping[str, str]) -> ModuleChannel:
        """Find the channel of a descriptor's module; starts the module if it does not run with these variables."""
        key = descriptor_key(descriptor) + dump(variables)
        channel = self._channels.get(key)
        if channel is None or channel.is_over:
            channel = self._channels[key] = ModuleChannel(self._loop, descriptor, variables)
        return channel

    def retire_idle(self) -> None:
        """Retire idle modules."""
        oldest = monotonic() - _IDLE_TIMEOUT_S
        for key, channel in list(self._channels.items()):
            if channel.is_over or (channel.is_idle and channel.last_query_at < oldest):
                channel.retire(_RETIRE_GRACE_S)
                del self._channels[key]

    def close(self) -> None:
        """End all modules."""
        for channel in self._channels.values():
            channel.end()
        self._channels.clear()
        _pools.pop(self._loop, None)


class ModuleOperation(Struct, frozen=True, kw_only=True):
    """Operation that calls a module on stdio, which has these variables beside those of the installation."""

    descriptor: Descriptor
    request: Object
    variables: Mapping[str, str] = {}
    timeout: float = 0.0

    @property
    def payload(self) -> bytes:
        """The request as JSON."""
        return dump(self.request)

    def begin(self, loop: EventLoop, timeout: float, on_result: ResultCallback) -> OperationHandle:
        """Query it; a module that was started for this alone is ended afterwards."""
        pool, module = _pools.get(loop), (self.descriptor, self.variables)
        channel = pool.find_channel(*module) if pool is not None else ModuleChannel(loop, *module)

        def handle_result(result: OperationResult) -> None:
            if pool is not None:
                on_result(result)
            elif _ACK_MARKER in result.stdout:  # what it does afterwards would end with it
                channel.retire(min(_RETIRE_GRACE_S, max(0.0, timeout - result.duration)), lambda: on_result(result))
            else:
                channel.end()
                on_result(result)

        return channel.query(self.request, timeout, handle_result)
