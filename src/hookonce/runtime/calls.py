"""One call, one run: whoever makes the file of an id runs its handlers, and the file holds the answer."""

import os
from collections.abc import Generator
from contextlib import suppress
from time import time

from msgspec import Struct, ValidationError, convert

from hookonce.model import Reply
from hookonce.runtime.folder import at, create, put
from hookonce.texts import dump, load

_POLL = 0.01


class Call(Struct, frozen=True):
    """One invocation: begun by a process, or finished with the very words that were answered."""

    done: bool
    reply: Reply | None = None
    pid: int = 0


def claim(call: str) -> bool:
    """Whether we are the ones who run the handlers for an id."""
    return create(at("calls", call), dump(Call(done=False, pid=os.getpid())))


def is_claimed(call: str) -> bool:
    """Whether somebody runs the handlers for an id, or has run them."""
    return at("calls", call).exists()


def finish(call: str, reply: Reply) -> None:
    """Write down the answer before it leaves."""
    put(at("calls", call), dump(Call(done=True, reply=reply)))


def answer_of(call: str, deadline: float) -> Generator[float, None, Reply | None]:
    """The answer that somebody else gives to an id, waited for until the deadline; the dead give none."""
    while time() < deadline:
        alive = _is_there(_known(call).pid)  # asked first: one that dies now may have answered just before
        found = _known(call)
        if found.done or not alive:
            return found.reply
        yield _POLL
    return None


def _known(call: str) -> Call:
    try:
        return convert(load(at("calls", call).read_text(encoding="utf-8")), type=Call)
    except (OSError, ValueError, ValidationError):
        return Call(done=True)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def forget(call: str) -> None:
    """The answer was read."""
    with suppress(OSError):
        at("calls", call).unlink()
