"""Errands: what a walk waits for while others go on, be it a process, a server or a model."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from hookonce.runtime.loop import Loop


class Ran(Struct, frozen=True, kw_only=True):
    """How it went: the exit code, or why there is none."""

    code: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    failure: str | None = None
    duration: float = 0.0
    cut: bool = False


class Ongoing(Protocol):
    """An errand under way."""

    def end(self) -> None:
        """Break it off; whoever waits is told soon."""


class Nothing:
    """What is under way of an errand that could not be begun."""

    def end(self) -> None:
        """There is nothing to break off."""


class Errand(Protocol):
    """Something to be done, in so many seconds at most."""

    @property
    def timeout(self) -> float:
        """Seconds until it has failed."""

    def begin(self, loop: Loop, timeout: float, done: Callable[[Ran], object]) -> Ongoing:
        """Do it beside everything else that the loop waits for; in the end a function is told how it went."""


def waited(errand: Errand) -> Ran:
    """Do an errand, and nothing else meanwhile."""
    loop = Loop()
    ended: list[Ran] = []
    under_way = errand.begin(loop, errand.timeout, ended.append)
    try:
        while not ended:
            loop.turn()
    finally:
        if not ended:  # we are to be somewhere else: what is broken off gets its moment all the same
            under_way.end()
            while not ended:
                loop.turn()
        loop.close()
    return ended[0]
