"""A walk: work that stops where it needs something from outside, says what, and goes on when it has it.

It needs a process to be run, or some seconds to pass. Alone it simply waits for both; a daemon has many walks under
way at once, and waits for all of them together.
"""

from collections.abc import Callable, Generator
from time import sleep
from typing import Any, TypeVar

from hookonce.handlers.process import Job, Ran, World, run

T = TypeVar("T")
Need = Job | float
Walk = Generator[Need, Any, T]
Runner = Callable[[str, bytes, World, float], Ran]


def drive(walk: Walk[T], runner: Runner = run) -> T:
    """Go to the end of a walk, and do nothing else meanwhile."""
    try:
        need = next(walk)
        while True:
            try:
                had = _had(need, runner)
            except BaseException as problem:  # noqa: BLE001  whatever interrupts us happens to the walk
                need = walk.throw(problem)
            else:
                need = walk.send(had)
    except StopIteration as end:
        found: T = end.value
        return found


def _had(need: Need, runner: Runner) -> Ran | None:
    if isinstance(need, Job):
        return runner(need.command, need.given, need.world, need.timeout)
    sleep(need)
    return None
