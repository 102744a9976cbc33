"""Command handler: runs a shell command below a watchdog, which collects its output and kills all that it started."""

import fcntl
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from subprocess import Popen
from tempfile import TemporaryFile
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base.event_loop import READ, EventLoop
from hookonce.base.spawn import spawn, write_all
from hookonce.handlers.operation import OperationHandle, OperationResult, ResultCallback
from hookonce.handlers.supervise import limits, watchdog
from hookonce.handlers.supervise.hook_results import HookClaim, parse_result
from hookonce.handlers.supervise.watchdog import Watchdog, WatchOptions, forked_watchdog

_CHUNK_BYTES = 1 << 16
_EXIT_GRACE_S = 0.15  # seconds for the end of what was killed


class ProcessContext(Struct, frozen=True, kw_only=True):
    """Process context of a hook: the caller's directory, environment and umask, with its privileges or without."""

    cwd: str | None
    env: Mapping[str, str]
    umask: int = -1
    drops_privileges: bool = False


class CommandOperation(Struct, frozen=True):
    """Operation that runs a shell command with bytes on its stdin."""

    command: str
    payload: bytes
    process_context: ProcessContext
    timeout: float
    claim: HookClaim | None = None  # by which its result outlives us

    def begin(self, loop: EventLoop, timeout: float, on_result: ResultCallback) -> OperationHandle:
        """Start it."""
        return CommandProcess(loop, replace(self, timeout=timeout), on_result)


class CommandProcess:
    """Running process of a command, known by its watchdog."""

    def __init__(self, loop: EventLoop, operation: CommandOperation, on_result: ResultCallback) -> None:
        """Start it; an OSError or a ValueError where that is not possible."""
        self._loop, self._on_result, self._started_at = loop, on_result, monotonic()
        self._claim, self._received_bytes, self._is_cancelled = operation.claim, bytearray(), False
        self._watchdog: Watchdog | None = _start_watchdog(operation)
        if self._claim is not None:
            self._claim.on_release.append(self._watchdog.forget)
        self._timer = loop.call_at(self._started_at + operation.timeout, self.cancel)
        os.set_blocking(self._watchdog.status_fd, False)
        loop.watch_fd(self._watchdog.status_fd, READ, self._receive)

    def cancel(self) -> None:
        """Kill everything; the watchdog gets a moment to finish."""
        if self._watchdog is None:
            return
        self._is_cancelled = True
        self._watchdog.kill()
        self._timer.cancel()
        self._timer = self._loop.call_later(_EXIT_GRACE_S, lambda: self._finish(None, has_ended=False))

    def _receive(self, _: int) -> None:
        if self._watchdog is None:
            return
        try:
            chunk = os.read(self._watchdog.status_fd, _CHUNK_BYTES)
        except BlockingIOError:
            return
        self._received_bytes += chunk
        result = parse_result(self._received_bytes, monotonic() - self._started_at)
        if result is not None or not chunk:
            self._finish(result, has_ended=True)

    def _finish(self, result: OperationResult | None, *, has_ended: bool) -> None:
        if self._watchdog is None:
            return
        self._timer.cancel()
        self._loop.remove_fd(self._watchdog.status_fd)
        if self._claim is None:
            self._watchdog.close(has_ended=has_ended)
        else:  # it keeps the result until the call was answered
            os.close(self._watchdog.status_fd)
            if result is None:
                self._claim.on_release.append(self._claim.remove)
        self._watchdog = None
        failure = "timeout" if self._is_cancelled else "its watchdog was killed"
        self._on_result(result or OperationResult(failure=failure, duration=monotonic() - self._started_at))


def _start_watchdog(operation: CommandOperation) -> Watchdog:
    payload_fd = _open_payload(operation.payload)
    try:
        return Watchdog(_choose_watchdog(operation, payload_fd))
    finally:
        os.close(payload_fd)


def _open_payload(payload: bytes) -> int:
    """A file in memory, so that nobody has to write while a hook reads; where no file may grow, a pipe."""
    if not hasattr(os, "memfd_create"):
        with TemporaryFile() as file:
            write_all(file.fileno(), payload)
            return os.dup(file.fileno())
    payload_fd = os.memfd_create("payload")
    with suppress(OSError):
        write_all(payload_fd, payload)
        return payload_fd
    os.close(payload_fd)
    payload_fd, write_fd = os.pipe()
    try:
        fcntl.fcntl(write_fd, fcntl.F_SETPIPE_SZ, len(payload))
        write_all(write_fd, payload)
    except OSError:
        os.close(payload_fd)
        raise
    finally:
        os.close(write_fd)
    return payload_fd


def _choose_watchdog(operation: CommandOperation, payload_fd: int) -> Callable[[int, int], int]:
    """The native watchdog where there is one; dropping privileges needs the Python one."""
    context, program = operation.process_context, watchdog.find_native_watchdog()
    options = WatchOptions(payload_fd, operation.claim, 0 if operation.claim is None else operation.timeout)
    has_program = program is not None and os.access(program, os.X_OK)  # an upgrade may have taken it away
    if context.drops_privileges or not has_program:
        return forked_watchdog(lambda pipes: _spawn(operation.command, context, pipes), {payload_fd}, options)
    umask = f"{context.umask:o}" if context.umask >= 0 else "-"
    return watchdog.native_watchdog([umask, context.cwd or "-", operation.command], context.env, [payload_fd], options)


def _spawn(command: str, process_context: ProcessContext, pipes: list[int]) -> "Popen[bytes]":
    """Spawn the hook; runs in the watchdog, which keeps no pipe of the hook open."""
    if process_context.drops_privileges:
        limits.drop_privileges()
    return spawn(command, pipes, cwd=process_context.cwd, env=process_context.env, umask=process_context.umask)
