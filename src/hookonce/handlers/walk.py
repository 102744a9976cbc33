"""A walk: work that stops where it needs something from outside, says what, and goes on when it has it.

It needs an errand to be done, mostly a process to be run, or some seconds to pass. Alone it simply waits for both; a
daemon has many walks under way at once, and waits for all of them together.
"""

from collections.abc import Callable, Generator
from time import sleep
from typing import Any, TypeVar

from hookonce.handlers.errand import Errand, Ran, waited

T = TypeVar("T")
Need = Errand | float
Walk = Generator[Need, Any, T]
Doer = Callable[[Errand], Ran]


def drive(walk: Walk[T], doer: Doer = waited) -> T:
    """Go to the end of a walk, and do nothing else meanwhile."""
    try:
        need = next(walk)
        while True:
            try:
                had = _had(need, doer)
            except BaseException as problem:  # noqa: BLE001  whatever interrupts us happens to the walk
                need = walk.throw(problem)
            else:
                need = walk.send(had)
    except StopIteration as end:
        found: T = end.value
        return found


def _had(need: Need, doer: Doer) -> Ran | None:
    if isinstance(need, (int, float)):
        sleep(need)
        return None
    return doer(need)
