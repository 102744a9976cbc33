"""Call task: a task on the daemon's event loop, resumed after each operation, cancelled at hangup."""

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Generic, TypeVar

from hookonce.base.event_loop import EventLoop, Timer
from hookonce.handlers.operation import Operation, OperationHandle, OperationResult, Task, TaskWait, begin_operation
from hookonce.secrets import log

T = TypeVar("T")


class CallTask(Generic[T]):
    """A task that runs beside many others on one event loop."""

    def __init__(self, loop: EventLoop, task: Task[T], on_reply: Callable[[T | None], object]) -> None:
        """Prepare; `on_reply` gets the reply, or None if the task failed."""
        self._loop, self._task, self._on_reply = loop, task, on_reply
        self._pending: OperationHandle | Timer | None = None
        self.is_over = False

    def resume(self, result: OperationResult | None = None) -> None:
        """Resume the task with the result of what it waited for."""
        if self.is_over:
            return
        try:
            wait = self._task.send(result)
        except StopIteration as stop:
            self._finish(stop.value)
        except BaseException as problem:  # noqa: BLE001  the caller goes on without us, and we without it
            log.write(f"daemon: {log.format_trace(problem)}")
            self._finish(None)
        else:
            self._wait_for(wait)

    def _wait_for(self, wait: TaskWait) -> None:
        """Operations start only after every new caller has its acknowledgement (`call_soon`)."""
        if isinstance(wait, (int, float)):
            self._pending = self._loop.call_later(wait, self.resume)
        else:
            deadline = monotonic() + wait.timeout
            self._loop.call_soon(partial(self._start_operation, wait, deadline))

    def _start_operation(self, operation: Operation, deadline: float) -> None:
        remaining_s = deadline - monotonic()
        if self.is_over:
            return
        if remaining_s <= 0:
            self.resume(OperationResult(failure="timeout"))
        else:
            self._pending = begin_operation(operation, self._loop, remaining_s, self.resume)

    def _finish(self, reply: T | None) -> None:
        self.is_over = True
        self._on_reply(reply)

    def cancel(self) -> None:
        """Cancel: nobody waits any more, so running operations are killed."""
        if self.is_over:
            return
        self.is_over = True
        if isinstance(self._pending, Timer) or self._pending is not None:
            self._pending.cancel()
        self._task.close()
