"""Tasks on an event loop: each is resumed after what it waits for; a group of them is one operation."""

from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Generic, TypeVar

from hookonce.base.event_loop import EventLoop, Timer
from hookonce.handlers.operation import (
    Operation,
    OperationHandle,
    OperationResult,
    ResultCallback,
    Task,
    begin_operation,
)
from hookonce.secrets import log

T = TypeVar("T")


def _log_error(problem: BaseException) -> None:
    log.write(f"daemon: {log.format_trace(problem)}")


class LoopTask(Generic[T]):
    """A task that runs beside many others on one event loop."""

    def __init__(
        self,
        loop: EventLoop,
        task: Task[T],
        on_end: Callable[[T | None], object],
        on_error: Callable[[BaseException], object] = _log_error,
        on_cancel: Callable[[], object] = lambda: None,
    ) -> None:
        """Prepare; `on_end` gets what the task returns, or None after `on_error`.

        A cancelled task has no end: `on_cancel` is called once what it waited for has ended too.
        """
        self._loop, self._task, self._on_end, self._on_error, self._on_cancel = loop, task, on_end, on_error, on_cancel
        self._pending: OperationHandle | Timer | None = None
        self.is_over = False

    def resume(self, result: OperationResult | None = None) -> None:
        """Resume the task with the result of what it waited for; an operation starts after the I/O that is ready."""
        self._pending = None
        if self.is_over:
            self._on_cancel()
            return
        try:
            wait = self._task.send(result)
        except StopIteration as stop:
            self._finish(stop.value)
        except BaseException as problem:  # noqa: BLE001  the others on the loop go on
            self._on_error(problem)
            self._finish(None)
        else:
            if isinstance(wait, (int, float)):
                self._pending = self._loop.call_later(wait, self.resume)
            else:
                self._loop.call_soon(partial(self._start_operation, wait, monotonic() + wait.timeout))

    def _start_operation(self, operation: Operation, deadline: float) -> None:
        remaining_s = deadline - monotonic()
        if self.is_over:
            return
        if remaining_s <= 0:
            self.resume(OperationResult(failure="timeout"))
        else:
            self._pending = begin_operation(operation, self._loop, remaining_s, self.resume)

    def _finish(self, value: T | None) -> None:
        self.is_over = True
        self._on_end(value)

    def cancel(self) -> None:
        """Close the task, and cancel what it waits for."""
        if self.is_over:
            return
        self.is_over, pending = True, self._pending
        if pending is not None:
            pending.cancel()
        self._task.close()
        if pending is None or isinstance(pending, Timer):
            self._on_cancel()


class TaskGroup(Generic[T]):
    """Tasks that run at once; `results` has what each of them returned, None for one that was cancelled."""

    def __init__(self, tasks: Sequence[Task[T]], timeout: float, ends_group: Callable[[int, T], bool]) -> None:
        """Prepare; a result for which `ends_group` is true cancels the others."""
        self.timeout = timeout
        self.results: list[T | None] = [None for _ in tasks]
        self.error: BaseException | None = None
        self._generators, self._ends_group, self._running_count = tasks, ends_group, len(tasks)

    def begin(self, loop: EventLoop, timeout: float, on_result: ResultCallback) -> OperationHandle:  # noqa: ARG002
        """Start all tasks in their order; each of their operations has a timeout of its own."""
        self._loop, self._on_result = loop, on_result
        self._tasks = [
            LoopTask(loop, task, partial(self._finish, index), self._fail, self._leave)
            for index, task in enumerate(self._generators)
        ]
        for task in self._tasks:
            if not task.is_over:  # one before it may have ended the group
                task.resume()
        return self

    def _fail(self, problem: BaseException) -> None:
        self.error = problem

    def _finish(self, index: int, value: T | None) -> None:
        self.results[index] = value
        self._leave()
        if self.error is not None or (value is not None and self._ends_group(index, value)):
            self.cancel()

    def _leave(self) -> None:
        self._running_count -= 1
        if not self._running_count:
            self._loop.call_soon(lambda: self._on_result(OperationResult(code=0)))

    def cancel(self) -> None:
        """Cancel what still runs; the group ends when all of it has ended."""
        for task in self._tasks:
            task.cancel()
