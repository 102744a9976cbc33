"""Task group: tasks that run at once on one event loop, as one operation."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

from hookonce.base.event_loop import EventLoop, Timer
from hookonce.handlers.operation import OperationHandle, OperationResult, ResultCallback, Task, begin_operation

T = TypeVar("T")


class TaskGroup(Generic[T]):
    """Tasks that run at once; `results` has what each of them returned, None for one that was cancelled."""

    def __init__(self, tasks: Sequence[Task[T]], timeout: float, ends_group: Callable[[int, T], bool]) -> None:
        """Prepare; a result for which `ends_group` is true cancels the others."""
        self.timeout = timeout
        self.results: list[T | None] = [None for _ in tasks]
        self.error: BaseException | None = None
        self._tasks, self._ends_group = tasks, ends_group
        self._pending: dict[int, OperationHandle | Timer | None] = dict.fromkeys(range(len(tasks)))
        self._is_cancelled = False

    def begin(self, loop: EventLoop, timeout: float, on_result: ResultCallback) -> OperationHandle:  # noqa: ARG002
        """Start all tasks in their order; each of their operations has a timeout of its own."""
        self._loop, self._on_result = loop, on_result
        for index in range(len(self._tasks)):
            self._resume(index)
        return self

    def _resume(self, index: int, result: OperationResult | None = None) -> None:
        if self._is_cancelled:
            self._tasks[index].close()
            self._finish(index)
            return
        try:
            wait = self._tasks[index].send(result)
        except StopIteration as stop:
            self.results[index] = stop.value
            self._finish(index)
            if self._ends_group(index, stop.value):
                self.cancel()
        except BaseException as problem:  # noqa: BLE001  told to whoever waits for the group
            self.error = problem
            self._finish(index)
            self.cancel()
        else:
            resume = partial(self._resume, index)
            if isinstance(wait, (int, float)):
                self._pending[index] = self._loop.call_later(wait, resume)
            else:
                self._pending[index] = begin_operation(wait, self._loop, wait.timeout, resume)

    def _finish(self, index: int) -> None:
        del self._pending[index]
        if not self._pending:
            self._loop.call_soon(lambda: self._on_result(OperationResult(code=0)))

    def cancel(self) -> None:
        """Cancel what still runs; the group ends when all of it has ended."""
        self._is_cancelled = True
        for index, pending in [*self._pending.items()]:
            if pending is not None:
                pending.cancel()
            if isinstance(pending, Timer):
                self._resume(index)
