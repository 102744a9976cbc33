"""One call, one run: whoever makes the file of an id runs its handlers, and the file holds the answer."""

import os
from collections.abc import Generator
from contextlib import suppress
from time import time

from msgspec import Struct, ValidationError, convert

from hookonce.model import Reply
from hookonce.runtime.folder import runtime_file, create_exclusive, write_atomic
from hookonce.texts import dump, load

_CLAIM_POLL_INTERVAL_S = 0.01


class CallClaim(Struct, frozen=True):
    """Claim file of a call: begun by a process, or done with the very reply that was given."""

    done: bool
    reply: Reply | None = None
    pid: int = 0


def claim_call(call_id: str) -> bool:
    """Claim a call id; whether we are the ones who run its hooks."""
    return create_exclusive(runtime_file("calls", call_id), dump(CallClaim(done=False, pid=os.getpid())))


def has_claim(call_id: str) -> bool:
    """Whether somebody runs the hooks of a call id, or has run them."""
    return runtime_file("calls", call_id).exists()


def save_answer(call_id: str, reply: Reply) -> None:
    """Save the answer in the claim before it leaves."""
    write_atomic(runtime_file("calls", call_id), dump(CallClaim(done=True, reply=reply)))


def await_answer(call_id: str, deadline: float) -> Generator[float, None, Reply | None]:
    """Wait for the answer of whoever holds the claim, until the deadline; None if that process is dead."""
    while time() < deadline:
        is_alive = _is_process_alive(_load_claim(call_id).pid)  # asked first: one that dies now may have answered just before
        call_claim = _load_claim(call_id)
        if call_claim.done or not is_alive:
            return call_claim.reply
        yield _CLAIM_POLL_INTERVAL_S
    return None


def _load_claim(call_id: str) -> CallClaim:
    try:
        return convert(load(runtime_file("calls", call_id).read_text(encoding="utf-8")), type=CallClaim)
    except (OSError, ValueError, ValidationError):
        return CallClaim(done=True)


def _is_process_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def remove_claim(call_id: str) -> None:
    """Remove the claim of a call whose answer was read."""
    with suppress(OSError):
        runtime_file("calls", call_id).unlink()
