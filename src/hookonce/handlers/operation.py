"""Operations and tasks: what a hook run waits for (process, HTTP, model), and generators that await them.

A task yields an operation, or seconds to sleep, and is resumed with the result. A one-shot process runs it
blocking; the daemon runs many on one event loop.
"""

from collections.abc import Callable, Generator
from time import monotonic, sleep
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from hookonce.base.event_loop import EventLoop


class OperationResult(Struct, frozen=True, kw_only=True):
    """Result of an operation: the exit code, or why there is none."""

    code: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    failure: str | None = None
    duration: float = 0.0


ResultCallback = Callable[[OperationResult], object]


class OperationHandle(Protocol):
    """Handle of a running operation."""

    def cancel(self) -> None:
        """Cancel it; `on_result` is called soon."""


class Operation(Protocol):
    """An operation with a timeout."""

    @property
    def timeout(self) -> float:
        """Seconds until it has failed."""

    def begin(self, loop: EventLoop, timeout: float, on_result: ResultCallback) -> OperationHandle:
        """Start it on an event loop, or raise; `on_result` is called once."""


class _FailedStart:
    """Handle of an operation that could not be started; there is nothing to cancel."""

    def cancel(self) -> None:
        """Its result comes soon in any case."""


def begin_operation(
    operation: Operation, loop: EventLoop, timeout: float, on_result: ResultCallback
) -> OperationHandle:
    """Start an operation; if that raises, it has failed: whoever waits for it goes on."""
    started_at = monotonic()
    try:
        return operation.begin(loop, timeout, on_result)
    except Exception as problem:  # noqa: BLE001  whatever keeps it from starting is its failure
        failure = OperationResult(failure=f"not started: {problem}", duration=monotonic() - started_at)
        loop.call_at(0, lambda: on_result(failure))
        return _FailedStart()


def run_to_completion(operation: Operation) -> OperationResult:
    """Run one operation to completion on a loop of its own."""
    loop = EventLoop()
    try:
        return run_on_loop(loop, operation)
    finally:
        loop.close()


def run_on_loop(loop: EventLoop, operation: Operation) -> OperationResult:
    """Run one operation to completion on a loop."""
    results: list[OperationResult] = []
    handle = begin_operation(operation, loop, operation.timeout, results.append)
    try:
        while not results:
            loop.run_once()
    finally:
        if not results:  # an exception takes us away: what is cancelled gets its moment all the same
            handle.cancel()
            while not results:
                loop.run_once()
    return results[0]


T = TypeVar("T")
TaskWait = Operation | float
Task = Generator[TaskWait, Any, T]
OperationRunner = Callable[[Operation], OperationResult]


def run_blocking(task: Task[T], runner: OperationRunner = run_to_completion) -> T:
    """Run a task to its end, blocking on each operation."""
    try:
        wait = next(task)
        while True:
            try:
                result = _run_wait(wait, runner)
            except BaseException as problem:  # noqa: BLE001  whatever interrupts us happens to the task
                wait = task.throw(problem)
            else:
                wait = task.send(result)
    except StopIteration as stop:
        value: T = stop.value
        return value


def _run_wait(wait: TaskWait, runner: OperationRunner) -> OperationResult | None:
    if isinstance(wait, (int, float)):
        sleep(wait)
        return None
    return runner(wait)
