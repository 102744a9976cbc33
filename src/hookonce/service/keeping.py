"""Keeping at once, because somebody looks: what was answered so far is in the store before the look is answered."""

from collections.abc import Callable
from time import monotonic
from typing import Protocol

from hookonce.runtime.loop import Loop
from hookonce.service.keeper import Keeper
from hookonce.service.quiet import Quiet

_MOST = 0.25  # seconds; who looks does not wait for much longer


class House(Protocol):
    """Where calls are looked at, and where records are kept."""

    loop: Loop
    quiet: Quiet
    keeper: Keeper


def keep_first(house: House, then: Callable[[], object]) -> None:
    """Look at all calls that were only noted, keep what they were, and go on; agents who call meanwhile come first."""
    until = monotonic() + _MOST

    def look() -> None:
        if monotonic() > until or (house.quiet.is_done and house.keeper.is_done):
            then()
            return
        if house.quiet.is_done:
            house.keeper.hurry()
        else:
            house.quiet.hurry()
        house.loop.later(look)

    look()
