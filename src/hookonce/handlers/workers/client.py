"""Client of a worker server: orders workers for one file, gives them calls, and ends them."""

import os
import socket
import sys
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any

from msgspec import msgpack
from msgspec.structs import replace

from hookonce.base.event_loop import READ, EventLoop, Timer
from hookonce.base.spawn import spawn
from hookonce.handlers.operation import OperationResult, ResultCallback
from hookonce.handlers.supervise import watchdog
from hookonce.handlers.supervise.hook_results import HookClaim
from hookonce.handlers.supervise.watchdog import Watchdog, WatchOptions, forked_watchdog
from hookonce.handlers.workers import protocol
from hookonce.handlers.workers.connection import WorkerCall, WorkerConnection
from hookonce.handlers.workers.file_stamps import are_current

# Packets stay apart on both.
CONTROL_SOCKET_TYPE = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM
_MAX_WORKERS_PER_FILE = 64  # workers of one file; more calls wait for their turn
_GROWTH_DELAY_S = 0.005  # seconds that a call waits for a worker that is busy, before another one is ordered
_WORKER_IDLE_TIMEOUT_S = 30.0  # seconds without a call, for all workers but one
_MAX_PACKET_BYTES = 1 << 16
_EXIT_GRACE_S = 0.15  # seconds for the end of what was killed
_ORPHAN_LIMIT_S = 600.0  # seconds in which calls that have begun may end after we were killed
_EXIT_MESSAGE = "the process that had its file loaded has ended"


class WorkerClient:
    """Client of one worker server: the process that has loaded a file, its workers, and the calls that wait for one."""

    def __init__(self, loop: EventLoop, digest: str, command: str) -> None:
        """Start the server; an OSError where that is not possible."""
        self._loop, self._digest = loop, digest
        self._control, server_end = socket.socketpair(socket.AF_UNIX, CONTROL_SOCKET_TYPE)
        self._waiting: deque[WorkerCall] = deque()
        self._workers: dict[int, WorkerConnection] = {}  # until they have ended
        self._idle_workers: list[WorkerConnection] = []  # the one that has answered last is the last
        self._orders_pending, self._growth_timer = 0, Timer(None)
        self._is_file_loaded, self._is_retiring, self._has_isolated_calls = False, False, False
        self._import_stamps: dict[str, list[int]] = {}  # of files beside its own that it has imported
        self._isolated_names: frozenset[str] = frozenset()  # functions whose decorator says `isolation="fork"`
        self._environment: tuple[Mapping[str, str], bytes] = {}, protocol.encode_environment({})
        self.last_call_at, self.is_over = monotonic(), False
        self._watchdog: Watchdog | None
        with server_end:
            try:
                self._watchdog = Watchdog(_server_watchdog(command, server_end.fileno()))
            except (OSError, ValueError):
                self._control.close()
                raise
        self._control.settimeout(0)
        loop.watch_fd(self._control.fileno(), READ, self._receive)
        loop.watch_fd(self._watchdog.status_fd, READ, lambda _: self._close(has_ended=True))

    def has_loaded(self, digest: str) -> bool:
        """Whether the server has the file as it is now, with everything that it imports from its folder."""
        return not self.is_over and digest == self._digest and are_current(self._import_stamps)

    def encode_environment(self, environment: Mapping[str, str]) -> bytes:
        """Encode the variables of a call, which are mostly those of the call before."""
        if environment != self._environment[0]:
            self._environment = environment, protocol.encode_environment(environment)
        return self._environment[1]

    @property
    def is_idle(self) -> bool:
        """Whether no call is pending or running."""
        return not self._waiting and not any(worker.call for worker in self._workers.values())

    def begin_call(
        self,
        request: protocol.WorkerRequest,
        timeout: float,
        on_result: ResultCallback,
        claim: HookClaim | None = None,
        *,
        is_isolated: bool = False,
    ) -> WorkerCall:
        """Call the function in a worker, a fresh one if it is to be isolated; `on_result` is called once."""
        self.last_call_at = monotonic()
        if claim is not None:
            request = replace(request, claim=(claim.path, claim.client_pid), timeout_s=timeout)
        callbacks = on_result, self._handle_cancel
        call = WorkerCall(self._loop, request, timeout, callbacks, claim, is_isolated=is_isolated)
        self._waiting.append(call)
        self._assign_calls()
        return call

    def retire(self) -> None:
        """Take no further calls, and end after the running ones."""
        self._is_retiring = True
        self._assign_calls()

    def dismiss_idle(self) -> None:
        """Dismiss workers that have had nothing to do for a while, but for one, and one for a call in isolation."""
        oldest = monotonic() - _WORKER_IDLE_TIMEOUT_S
        spare = next((worker for worker in self._idle_workers if not worker.is_used), None)
        kept_workers = {*self._idle_workers[-1:], *((spare,) if self._has_isolated_calls else ())}
        for worker in [*self._idle_workers]:
            if worker.is_leaving or (worker.idle_since < oldest and worker not in kept_workers):
                self._idle_workers.remove(worker)
                worker.dismiss()

    def end(self, why: str = _EXIT_MESSAGE, stderr: bytes = b"") -> None:
        """Kill the server and all its workers; pending calls fail."""
        if self.is_over:
            return
        self.is_over = True
        self._growth_timer.cancel()
        self._loop.remove_fd(self._control.fileno())
        self._control.close()
        if self._watchdog is not None:
            self._watchdog.kill()
            self._loop.call_later(_EXIT_GRACE_S, lambda: self._close(has_ended=False))
        failure = OperationResult(failure=why, stderr=stderr)
        for worker in self._workers.values():
            worker.abort(failure)
        for call in self._waiting:
            call.finish(failure)

    def _close(self, *, has_ended: bool) -> None:
        if self._watchdog is not None:
            watchdog, self._watchdog = self._watchdog, None
            self._loop.remove_fd(watchdog.status_fd)
            watchdog.close(has_ended=has_ended)
        self._receive(0)  # its last words may still be on the line
        self.end()

    def _receive(self, _: int) -> None:
        while not self.is_over:
            try:
                packet, fds, *_flags = socket.recv_fds(self._control, _MAX_PACKET_BYTES, 1)
            except BlockingIOError:
                return
            except ConnectionResetError:  # it has ended with unread orders; its own words come after this error
                continue
            except OSError:
                packet, fds = b"", []
            if not packet:
                self.end()
                return
            self._handle_message(*msgpack.decode(packet), fds=fds)

    def _handle_message(self, message: str, *arguments: Any, fds: list[int]) -> None:
        if message == "loaded":
            self._is_file_loaded = True
            self._isolated_names, self._import_stamps = frozenset(arguments[0]), arguments[1]
        elif message == "ready":
            self._orders_pending -= 1
            for fd in fds:  # none if we have too many: then that worker ends
                worker = self._workers[arguments[0]] = WorkerConnection(
                    self._loop, arguments[0], fd, self._release_worker
                )
                self._idle_workers.append(worker)
        elif message == "ended" and arguments[0] in self._workers:
            pid, code, stderr = arguments
            worker = self._workers.pop(pid)
            if worker in self._idle_workers:
                self._idle_workers.remove(worker)
            worker.handle_exit(code, stderr)
        elif message == "broken":
            self.end(f"its file cannot be loaded: {arguments[0]}", arguments[1])
        self._assign_calls()

    def _assign_calls(self) -> None:
        """Assign pending calls to idle workers, and order workers that are missing."""
        if self.is_over:
            return
        for call in [*self._waiting] if self._idle_workers else ():
            is_isolated = self._is_isolated(call)
            worker = self._find_worker(is_isolated=is_isolated)
            if worker is not None:
                self._waiting.remove(call)
                self._idle_workers.remove(worker)
                worker.begin(call, is_last=is_isolated)
        if not self._is_retiring:
            self._order_missing()
        elif self.is_idle:
            self.end()

    def _is_isolated(self, call: WorkerCall) -> bool:
        names = self._isolated_names
        is_isolated = call.is_isolated or (bool(names) if call.name is None else call.name in names)
        self._has_isolated_calls |= is_isolated
        return is_isolated

    def _find_worker(self, *, is_isolated: bool) -> WorkerConnection | None:
        """An idle worker that nobody has used, for a call in isolation; else the one that was used last."""
        for last_worker in self._idle_workers[-1:]:  # most calls
            if last_worker.is_used and not (is_isolated or last_worker.is_leaving):
                return last_worker
        workers = [worker for worker in self._idle_workers if not worker.is_leaving]
        suitable_workers = [worker for worker in workers if worker.is_used != is_isolated]
        return next(reversed(suitable_workers or workers * (not is_isolated)), None)

    def _order_missing(self) -> None:
        """Order as many fresh workers as calls in isolation will soon need, and one if there is none at all.

        More of them are ordered when other calls have waited for a while.
        """
        isolated_count = sum(map(self._is_isolated, self._waiting))
        fresh_count = sum(not worker.is_used for worker in self._idle_workers) + self._orders_pending
        self._order(max(isolated_count, self._has_isolated_calls) - fresh_count)
        if all(worker.is_leaving for worker in self._workers.values()):
            self._order(1 - self._orders_pending)
        if len(self._waiting) > isolated_count and self._growth_timer.callback is None:
            self._growth_timer = self._loop.call_later(_GROWTH_DELAY_S, self._grow)

    def _grow(self) -> None:
        """Order workers for calls that have waited for too long: at most as many as there are, and so on."""
        self._growth_timer = Timer(None)
        if not self.is_over and self._waiting:
            self._order(min(len(self._waiting), max(len(self._workers), 1)) - self._orders_pending)
            self._order_missing()

    def _order(self, count: int) -> None:
        """Order so many workers; where there is no room for them, idle ones make it, and the rest is ordered then."""
        room = _MAX_WORKERS_PER_FILE - len(self._workers) - self._orders_pending
        for worker in self._idle_workers[: max(count - room, 0)]:
            self._idle_workers.remove(worker)
            worker.dismiss()
        for _ in range(min(count, room)):
            self._orders_pending += 1
            self._send("more")

    def _release_worker(self, worker: WorkerConnection) -> None:
        """The answer of a worker is needed no longer: it takes another call, or leaves."""
        worker.call, worker.idle_since = None, monotonic()
        if self.is_over or worker.pid not in self._workers:
            worker.remove_slot()
        elif worker.is_leaving or self._is_retiring:
            worker.dismiss()
        else:
            self._idle_workers.append(worker)
        self._assign_calls()

    def _handle_cancel(self, call: WorkerCall) -> None:
        """Kill the worker of a cancelled call; a server that has not even loaded the file ends too."""
        if self.is_over:
            return
        worker = next((worker for worker in self._workers.values() if worker.call is call), None)
        if worker is not None:
            self._send("kill", worker.pid)
            worker.call = None
            worker.dismiss()
            return
        with suppress(ValueError):
            self._waiting.remove(call)
        if not self._is_file_loaded:
            self.end("its file was not loaded in time")

    def _send(self, *words: Any) -> None:
        try:
            self._control.send(msgpack.encode(words))
        except OSError:
            self._loop.call_soon(self.end)


def _server_watchdog(command: str, control: int) -> Callable[[int, int], int]:
    """Watchdog of a server whose stdin is our control socket; its output while loading is dropped."""

    def begin(hangup_fd: int, status_fd: int) -> int:
        devnull = os.open(os.devnull, os.O_RDWR)
        pipes, line, options = [control, devnull, devnull], f"exec {command}", WatchOptions(limit_s=_ORPHAN_LIMIT_S)
        env = {name: value for name in ("HOME", "PATH", "LANG") if (value := os.environ.get(name)) is not None}
        try:
            if watchdog.find_native_watchdog() is None:
                start = forked_watchdog(lambda _: spawn(line, pipes, cwd="/", env=env), set(pipes), options)
            else:
                start = watchdog.native_watchdog(["/", line], env, pipes, options)
            return start(hangup_fd, status_fd)
        finally:
            os.close(devnull)

    return begin
