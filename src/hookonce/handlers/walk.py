"""A walk: work that stops where it needs something from outside, says what, and goes on when it has it.

It needs an errand to be done, mostly a process to be run, or some seconds to pass. Alone it simply waits for both; a
daemon has many walks under way at once, and waits for all of them together.
"""

from collections.abc import Callable, Generator
from time import sleep
from typing import Any, TypeVar

from hookonce.handlers.errand import Operation, OperationResult, run_to_completion

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
            except BaseException as problem:  # noqa: BLE001  whatever interrupts us happens to the walk
                wait = task.throw(problem)
            else:
                wait = task.send(result)
    except StopIteration as stop:
        return_value: T = stop.value
        return return_value


def _run_wait(wait: TaskWait, runner: OperationRunner) -> OperationResult | None:
    if isinstance(wait, (int, float)):
        sleep(wait)
        return None
    return runner(wait)
