"""The slots that keep a crowd of calls from running more interpreters at once than the machine can."""

import os
import time

from hookonce.twin.call import Call
from hookonce.twin.clock import SECOND, now
from hookonce.twin.line import LOOK
from hookonce.twin.start import is_free

_PATIENCE = 4 * SECOND  # after that one process more is better than no answer


def take(call: Call) -> int | None:
    """The first slot that is free, once one is; None where there are none, or after a while."""
    if not call.house:
        return None
    until = now() + _PATIENCE
    while True:
        slot, is_full = _first_free(call)
        if slot is not None or not is_full or now() >= until:
            return slot
        call.look()
        time.sleep(LOOK)


def _first_free(call: Call) -> tuple[int | None, bool]:
    """A slot, and whether all are taken; a directory in which nothing can be made has none."""
    is_full = False
    try:
        os.makedirs(f"{call.house}/slots", 0o700, exist_ok=True)  # noqa: PTH103
        for number in range(2 * (os.cpu_count() or 1)):
            slot = call.in_house(f"slots/{number}")
            if is_free(slot):
                return slot, False
            is_full = True
            os.close(slot)
    except OSError:
        return None, is_full
    return None, is_full
