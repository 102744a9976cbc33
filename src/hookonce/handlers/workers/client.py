"""Client of a worker server: orders prefork workers for one file, gives them calls, and ends them."""

import os
import socket
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

from msgspec import msgpack
from msgspec.structs import replace

from hookonce.base.event_loop import READ, WRITE, EventLoop
from hookonce.base.spawn import close_fds, spawn
from hookonce.handlers.operation import OperationResult, ResultCallback
from hookonce.handlers.supervise import watchdog
from hookonce.handlers.supervise.hook_results import FORGET, HookClaim, parse_result
from hookonce.handlers.supervise.watchdog import Watchdog, WatchOptions, forked_watchdog
from hookonce.handlers.workers import protocol

_CHUNK_BYTES = 1 << 16


class WorkerCall:
    """One call of a function by a prefork worker: waits for a worker, then for its answer, up to its timeout."""

    def __init__(
        self, loop: EventLoop, frame: bytes, timeout: float, on_result: ResultCallback, claim: HookClaim | None
    ) -> None:
        """It is waiting; `on_cancel` is called when that was in vain."""
        self._loop, self._on_result, self._claim = loop, on_result, claim
        self._unsent, self._received_bytes = memoryview(frame), bytearray()
        self._started_at, self._fd = monotonic(), -1
        self._timer = loop.call_at(self._started_at + timeout, self.cancel)
        self.on_cancel: Callable[[WorkerCall], object] = lambda _: None
        self.number: int | None = None
        self.is_over = False

    def start(self, fd: int, number: int) -> None:
        """Send the request to a worker."""
        self._fd, self.number = fd, number
        os.set_blocking(fd, False)
        self._loop.watch_fd(fd, WRITE, self._send)
        self._send(0)

    def cancel(self) -> None:
        """Cancel it: time is over, or nobody waits."""
        if not self.is_over:
            self._finish(OperationResult(failure="timeout"))
            self.on_cancel(self)

    def handle_exit(self, code: int, stderr: bytes) -> None:
        """The worker has exited: read what it sent, or fail."""
        while self._receive(0):
            continue
        result = OperationResult(code=code) if code >= 0 else OperationResult(failure=f"ended by signal {-code}")
        self.fail(replace(result, stderr=stderr))

    def fail(self, result: OperationResult) -> None:
        """Finish without an answer, if it has not finished."""
        if not self.is_over:
            self._finish(result)

    def _send(self, _: int) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._fd, self._unsent[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            return
        except OSError:  # it has ended; the server will tell how
            self._unsent = memoryview(b"")
        self._loop.remove_fd(self._fd)
        self._loop.watch_fd(self._fd, READ, self._receive)

    def _receive(self, _: int) -> bool:
        """Receive what there is; whether there may be more."""
        if self.is_over:
            return False
        try:
            chunk = os.read(self._fd, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        if not chunk:
            self._loop.remove_fd(self._fd)
            return False
        self._received_bytes += chunk
        result = parse_result(self._received_bytes)
        if result is not None:
            self._finish(result, is_kept=True)
        return not self.is_over

    def _finish(self, result: OperationResult, *, is_kept: bool = False) -> None:
        self.is_over = True
        self._timer.cancel()
        fd, self._fd, claim = self._fd, -1, self._claim
        if fd >= 0:
            self._loop.remove_fd(fd)
        if claim is None:
            close_fds(fd)
        else:  # the worker keeps what it has told until the call was answered; what it has not told is kept here
            if not is_kept:
                claim.save(result.failure or str(result.code))
            claim.on_release.append(lambda: _release_worker(fd, claim))
        self._on_result(replace(result, duration=monotonic() - self._started_at))


def _release_worker(fd: int, claim: HookClaim) -> None:
    if fd >= 0:
        with suppress(OSError):
            os.write(fd, FORGET)
        os.close(fd)
    claim.remove()


# Packets stay apart on both.
CONTROL_SOCKET_TYPE = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM
_MAX_CALLS_PER_FILE = 64  # calls of one file; more wait for their turn
_MAX_PACKET_BYTES = protocol.MAX_STDERR_BYTES + 4096  # notes, and words
_EXIT_GRACE_S = 0.15  # seconds for the end of what was killed
_ORPHAN_LIMIT_S = 600.0  # seconds in which calls that have begun may end after we were killed
_EXIT_MESSAGE = "the process that had its file loaded has ended"


class WorkerClient:
    """Client of one worker server: the process that has loaded a file, and its pending and running calls."""

    def __init__(self, loop: EventLoop, digest: str, command: str) -> None:
        """Start the server; an OSError where that is not possible."""
        self._loop, self.digest = loop, digest
        self._control, server_end = socket.socketpair(socket.AF_UNIX, CONTROL_SOCKET_TYPE)
        self._waiting: deque[WorkerCall] = deque()
        self._idle_workers: dict[int, int] = {}
        self._running_calls: dict[int, WorkerCall] = {}
        self._forks_pending, self._is_file_loaded, self._is_retiring = 0, False, False
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

    @property
    def is_idle(self) -> bool:
        """Whether no call is pending or running."""
        return not self._waiting and not self._running_calls

    def call(
        self,
        request: protocol.WorkerRequest,
        timeout: float,
        on_result: ResultCallback,
        claim: HookClaim | None = None,
    ) -> WorkerCall:
        """Call the function in a worker; `on_result` is called once."""
        self.last_call_at = monotonic()
        if claim is not None:
            request = replace(request, claim=(claim.path, claim.client_pid), timeout_s=timeout)
        call = WorkerCall(self._loop, protocol.encode_frame(msgpack.encode(request)), timeout, on_result, claim)
        call.on_cancel = self._cancel_call
        self._waiting.append(call)
        self._assign_calls()
        return call

    def retire(self) -> None:
        """Take no further calls, and end after the running ones."""
        self._is_retiring = True
        self._assign_calls()

    def end(self, why: str = _EXIT_MESSAGE, stderr: bytes = b"") -> None:
        """Kill the server and all its workers; pending calls fail."""
        if self.is_over:
            return
        self.is_over = True
        self._loop.remove_fd(self._control.fileno())
        self._control.close()
        for fd in self._idle_workers.values():
            os.close(fd)
        if self._watchdog is not None:
            self._watchdog.kill()
            self._loop.call_later(_EXIT_GRACE_S, lambda: self._close(has_ended=False))
        for call in (*self._waiting, *self._running_calls.values()):
            call.fail(OperationResult(failure=why, stderr=stderr))

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
        if message == "ready" and fds:
            self._is_file_loaded, self._forks_pending = True, self._forks_pending - 1
            self._idle_workers[arguments[0]] = fds[0]
        elif message == "ended":
            number, code, stderr = arguments
            if (fd := self._idle_workers.pop(number, None)) is not None:
                os.close(fd)
            if (call := self._running_calls.pop(number, None)) is not None:
                call.handle_exit(code, stderr)
        elif message == "broken":
            self.end(f"its file cannot be loaded: {arguments[0]}", arguments[1])
        self._assign_calls()

    def _assign_calls(self) -> None:
        """Assign pending calls to idle workers, and order as many workers as calls will soon need."""
        if self.is_over:
            return
        while self._waiting and self._idle_workers:
            number = next(iter(self._idle_workers))
            call = self._running_calls[number] = self._waiting.popleft()
            call.start(self._idle_workers.pop(number), number)
        if self._is_retiring:
            if self.is_idle:
                self.end()
            return
        available = len(self._idle_workers) + self._forks_pending
        for _ in range(min(_MAX_CALLS_PER_FILE - len(self._running_calls), max(1, len(self._waiting))) - available):
            self._forks_pending += 1
            self._send("more")

    def _cancel_call(self, call: WorkerCall) -> None:
        """Kill the worker of a cancelled call; a server that has not even loaded the file ends too."""
        if self.is_over:
            return
        if call.number is not None:
            self._send("kill", call.number)
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
                start = watchdog.native_watchdog(["-", "/", line], env, pipes, options)
            return start(hangup_fd, status_fd)
        finally:
            os.close(devnull)

    return begin
