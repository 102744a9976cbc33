"""Command handler: runs a command below a watchdog, which collects its output and kills all that it started."""

import fcntl
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from struct import Struct as Packed
from time import monotonic
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base.event_loop import READ, EventLoop
from hookonce.base.spawn import close_fds, spawn, write_all
from hookonce.handlers.operation import OperationHandle, OperationResult, ResultCallback
from hookonce.handlers.plain_words import plain_words
from hookonce.handlers.supervise import limits, watchdog
from hookonce.handlers.supervise.hook_results import HookClaim, parse_result
from hookonce.handlers.supervise.watchdog import Watchdog, WatchOptions, forked_watchdog

if TYPE_CHECKING:
    from subprocess import Popen

    from hookonce.handlers.supervise.watchdog_pool import PooledWatchdog

_CHUNK_BYTES = 1 << 16
_EXIT_GRACE_S = 0.15  # seconds for the end of what was killed
_ORDER_HEADER = Packed("<4I")  # bytes of an order and of its texts, words, variables
MAX_INLINE_ORDER_BYTES = 1 << 16  # a larger one lies in a file


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
        self._watchdog: Watchdog | PooledWatchdog | None = _start_watchdog(operation, loop)
        self._is_answered = self._claim is None
        self._release: Callable[[], object] | None = None
        if self._claim is not None:
            self._claim.on_release.append(self._handle_answer)
        self._timer = loop.call_at(self._started_at + operation.timeout, self.cancel)
        if isinstance(self._watchdog, Watchdog):
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
        except OSError:  # a socket whose other end was killed before it had read everything
            chunk = b""
        self._received_bytes += chunk
        result = parse_result(self._received_bytes, monotonic() - self._started_at)
        if result is not None or not chunk:
            self._finish(result, has_ended=True)

    def _finish(self, result: OperationResult | None, *, has_ended: bool) -> None:
        if self._watchdog is None:
            return
        self._timer.cancel()
        self._loop.remove_fd(self._watchdog.status_fd)
        if result is not None:
            self._release = partial(self._watchdog.finish, may_wait=self._claim is None)
        else:
            self._release = partial(self._abandon, self._watchdog, has_ended=has_ended)
        self._watchdog = None
        if self._is_answered:
            self._release()
        failure = "timeout" if self._is_cancelled else "its watchdog was killed"
        self._on_result(result or OperationResult(failure=failure, duration=monotonic() - self._started_at))

    def _handle_answer(self) -> None:
        """The call was answered: until then the watchdog keeps the result."""
        self._is_answered = True
        if self._release is not None:
            self._release()

    def _abandon(self, hook_watchdog: "Watchdog | PooledWatchdog", *, has_ended: bool) -> None:
        hook_watchdog.close(has_ended=has_ended)
        if self._claim is not None:
            self._claim.remove()


def _start_watchdog(operation: CommandOperation, loop: EventLoop) -> "Watchdog | PooledWatchdog":
    """A native watchdog where there is one: of the loop's pool, or of its own; dropping privileges needs Python's."""
    program = watchdog.find_native_watchdog()
    if program is None or operation.process_context.drops_privileges:
        return _fork_watchdog(operation)
    order, pool = encode_order(operation), watchdog.pools.get(loop)
    if pool is not None and len(order) <= MAX_INLINE_ORDER_BYTES:
        return pool.start_hook(order)
    if not os.access(program, os.X_OK):  # an upgrade may have taken it away
        return _fork_watchdog(operation)
    try:
        order_file_fd = _open_file(order) if len(order) > MAX_INLINE_ORDER_BYTES else None
    except OSError:  # no file may grow
        return _fork_watchdog(operation)
    try:
        native = Watchdog(lambda hangup, status: watchdog.spawn_native(hangup, status, order_file_fd=order_file_fd))
    finally:
        close_fds(-1 if order_file_fd is None else order_file_fd)
    native.order(order if order_file_fd is None else order[: _ORDER_HEADER.size])
    return native


def encode_order(operation: CommandOperation) -> bytes:
    """Order of a hook for a native watchdog; a ValueError for what no process can be given."""
    context, claim = operation.process_context, operation.claim
    words = plain_words(operation.command)
    texts = [
        claim.path if claim is not None else "",
        str(claim.client_pid) if claim is not None else "",
        str(int(operation.timeout * 1000)) if claim is not None else "",
        f"{context.umask:o}" if context.umask >= 0 else "",
        context.cwd or "",
        operation.command,
        *words,
        "",
    ]
    text = "\0".join(texts)
    if text.count("\0") >= len(texts):
        raise ValueError("a zero byte")
    text_bytes = os.fsencode(text) + _encode_variables(context.env)
    size = _ORDER_HEADER.size + len(text_bytes) + len(operation.payload)
    return _ORDER_HEADER.pack(size, len(text_bytes), len(words), len(context.env)) + text_bytes + operation.payload


def _encode_variables(environment: Mapping[str, str]) -> bytes:
    """The variables of a hook, which are mostly those of the hook before."""
    if environment != _last_variables[0][0]:
        text = "".join([f"{name}={value}\0" for name, value in environment.items()])
        if text.count("\0") != len(environment) or "=" in "".join(environment):
            raise ValueError("a zero byte, or the name of a variable that is none")
        _last_variables[0] = dict(environment), os.fsencode(text)
    return _last_variables[0][1]


_last_variables: list[tuple[Mapping[str, str], bytes]] = [({}, b"")]


def _fork_watchdog(operation: CommandOperation) -> Watchdog:
    payload_fd, context = _open_payload(operation.payload), operation.process_context
    options = WatchOptions(payload_fd, operation.claim, 0 if operation.claim is None else operation.timeout)
    try:
        return Watchdog(forked_watchdog(lambda pipes: _spawn(operation.command, context, pipes), {payload_fd}, options))
    finally:
        os.close(payload_fd)


def _open_payload(payload: bytes) -> int:
    """A file in memory, so that nobody has to write while a hook reads; where no file may grow, a pipe."""
    with suppress(OSError):
        return _open_file(payload)
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


def _open_file(data: bytes) -> int:
    """A file without a name, in memory where the system has that."""
    if not hasattr(os, "memfd_create"):
        from tempfile import TemporaryFile

        with TemporaryFile() as file:
            write_all(file.fileno(), data)
            return os.dup(file.fileno())
    fd = os.memfd_create("payload")
    try:
        write_all(fd, data)
    except OSError:
        os.close(fd)
        raise
    return fd


def _spawn(command: str, process_context: ProcessContext, pipes: list[int]) -> "Popen[bytes]":
    """Spawn the hook; runs in the watchdog, which keeps no pipe of the hook open."""
    if process_context.drops_privileges:
        limits.drop_privileges()
    return spawn(command, pipes, cwd=process_context.cwd, env=process_context.env, umask=process_context.umask)
