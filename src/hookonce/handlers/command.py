"""Command handler: runs a shell command, captures its output up to a limit, and kills all that it started."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from subprocess import Popen
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base.event_loop import READ, WRITE, EventLoop
from hookonce.base.spawn import close_fds, open_pipes, spawn
from hookonce.handlers.operation import FailedStart, OperationHandle, OperationResult, ResultCallback
from hookonce.handlers.supervise import limits, watchdog
from hookonce.handlers.supervise.watchdog import Watchdog, forked_watchdog

MAX_OUTPUT_BYTES = 1 << 20  # bytes of an answer that are kept; more is read and thrown away
_CHUNK_BYTES = 1 << 16
_EXIT_GRACE_S = 0.15  # seconds for the end of what was killed, and for the last bytes of what has ended
_STATUS_STREAM = 3  # after stdin, stdout and stderr: what the watchdog tells


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

    def begin(self, loop: EventLoop, timeout: float, on_result: ResultCallback) -> OperationHandle:
        """Start it."""
        started_at = monotonic()
        try:
            return CommandProcess(loop, replace(self, timeout=timeout), on_result)
        except (OSError, ValueError) as problem:
            return FailedStart(loop, problem, started_at, on_result)


class CommandProcess:
    """Running process of a command."""

    def __init__(self, loop: EventLoop, operation: CommandOperation, on_result: ResultCallback) -> None:
        """Start it; an OSError or a ValueError where that is not possible."""
        self._loop, self._on_result, self._started_at = loop, on_result, monotonic()
        self._unsent = memoryview(operation.payload)
        self._has_ended = self._ignores_output = False
        self._outputs = [bytearray() for _ in range(_STATUS_STREAM + 1)]
        self._open_fds: dict[int, int] = {}
        self._watchdog: Watchdog | None
        self._watchdog, parent_fds = _start_watchdog(operation)
        self._timer = loop.call_at(self._started_at + operation.timeout, self.cancel)
        for stream, pipe in enumerate((*parent_fds, self._watchdog.status_fd)):
            os.set_blocking(pipe, False)
            self._open_fds[stream] = pipe
            loop.watch_fd(pipe, READ if stream else WRITE, partial(self._handle_ready, stream))

    def cancel(self) -> None:
        """Ignore further output and kill everything; the watchdog gets a moment to finish."""
        if self._watchdog is None:
            return
        self._ignores_output = self._ignores_output or not self._has_ended
        for stream in [stream for stream in self._open_fds if stream != _STATUS_STREAM]:
            self._close_stream(stream)
        self._watchdog.kill()
        self._timer.cancel()
        if self._has_ended:
            self._finish()
        else:
            self._timer = self._loop.call_later(_EXIT_GRACE_S, self._finish)

    def _handle_ready(self, stream: int, _: int) -> None:
        pipe = self._open_fds[stream]
        try:
            goes_on = self._write_stdin(pipe) if stream == 0 else self._collect(stream, os.read(pipe, _CHUNK_BYTES))
        except BlockingIOError:
            return
        except OSError:  # the process closed its end: it does not want to read on
            goes_on = 0
        if not goes_on:
            self._handle_eof(stream)

    def _handle_eof(self, stream: int) -> None:
        self._close_stream(stream)
        if stream == _STATUS_STREAM:  # everything that wrote was killed: what is left lies in the pipes
            self._has_ended = True
            self._timer.cancel()
            self._timer = self._loop.call_later(_EXIT_GRACE_S, self.cancel)
        if not any(self._open_fds):  # what it reads, number 0, may stay open
            self.cancel()

    def _close_stream(self, stream: int) -> None:
        pipe = self._open_fds.pop(stream)
        self._loop.remove_fd(pipe)
        if stream != _STATUS_STREAM:
            os.close(pipe)

    def _write_stdin(self, pipe: int) -> int:
        if self._unsent:
            self._unsent = self._unsent[os.write(pipe, self._unsent[:_CHUNK_BYTES]) :]
        return len(self._unsent)

    def _collect(self, stream: int, chunk: bytes) -> int:
        if not self._ignores_output:  # how something ended that we have killed is no news
            self._outputs[stream] += chunk[: MAX_OUTPUT_BYTES - len(self._outputs[stream])]
        return len(chunk)

    def _finish(self) -> None:
        if self._watchdog is None:
            return
        self._timer.cancel()
        if _STATUS_STREAM in self._open_fds:
            self._close_stream(_STATUS_STREAM)
        self._watchdog.close(has_ended=self._has_ended)
        self._watchdog = None
        self._on_result(self._build_result(monotonic() - self._started_at))

    def _build_result(self, duration: float) -> OperationResult:
        out, err, status = (bytes(result) for result in self._outputs[1:])
        status_text = status.decode(errors="replace")
        result = OperationResult(stdout=out, stderr=err, duration=duration)
        if status_text.isdigit():
            return replace(result, code=int(status_text))
        if status_text.startswith("-"):
            return replace(result, failure=f"ended by signal {status_text[1:]}")
        reason = "timeout" if self._ignores_output else "its watchdog was killed"
        return replace(result, failure=status_text or reason)


def _start_watchdog(operation: CommandOperation) -> tuple[Watchdog, list[int]]:
    child_fds, parent_fds = open_pipes()
    try:
        return Watchdog(_choose_watchdog(operation, child_fds)), parent_fds
    except (OSError, ValueError):
        close_fds(*parent_fds)
        raise
    finally:
        close_fds(*child_fds)


def _choose_watchdog(operation: CommandOperation, pipes: list[int]) -> Callable[[int, int], int]:
    """The native watchdog where there is one; dropping privileges needs the Python one."""
    context, program = operation.process_context, watchdog.find_native_watchdog()
    has_program = program is not None and os.access(program, os.X_OK)  # an upgrade may have taken it away
    if context.drops_privileges or not has_program:
        return forked_watchdog(lambda: _spawn(operation.command, context, pipes), pipes)
    umask = f"{context.umask:o}" if context.umask >= 0 else "-"
    return watchdog.native_watchdog([umask, context.cwd or "-", operation.command], context.env, pipes)


def _spawn(command: str, process_context: ProcessContext, pipes: list[int]) -> "Popen[bytes]":
    """Spawn the hook; runs in the watchdog, which keeps no pipe of the hook open."""
    if process_context.drops_privileges:
        limits.drop_privileges()
    return spawn(command, pipes, cwd=process_context.cwd, env=process_context.env, umask=process_context.umask)
