"""The slots that keep a crowd of calls from running more interpreters at once than the machine can."""

import os
import time

from hookonce.twin.call import ClientCall
from hookonce.twin.clock import NS_PER_SECOND, now_ns
from hookonce.twin.line import POLL_INTERVAL_S
from hookonce.twin.start import try_lock

_SLOT_TIMEOUT_NS = 4 * NS_PER_SECOND  # after that one process more is better than no answer


def acquire_slot(call: ClientCall) -> int | None:
    """Acquire the first free slot, waiting up to 4 seconds; None where there are none, or after that."""
    if not call.runtime_dir:
        return None
    deadline_ns = now_ns() + _SLOT_TIMEOUT_NS
    while True:
        slot, is_full = _try_slots(call)
        if slot is not None or not is_full or now_ns() >= deadline_ns:
            return slot
        call.exit_if_orphan()
        time.sleep(POLL_INTERVAL_S)


def _try_slots(call: ClientCall) -> tuple[int | None, bool]:
    """A slot, and whether all are taken; a directory in which nothing can be created has none."""
    is_full = False
    try:
        os.makedirs(f"{call.runtime_dir}/slots", 0o700, exist_ok=True)  # noqa: PTH103
        for number in range(2 * (os.cpu_count() or 1)):
            slot = call.open_runtime_file(f"slots/{number}")
            if try_lock(slot):
                return slot, False
            is_full = True
            os.close(slot)
    except OSError:
        return None, is_full
    return None, is_full
