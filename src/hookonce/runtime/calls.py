"""One call, one run: whoever makes the file of an id runs its handlers, and the file holds the answer."""

from contextlib import suppress
from time import sleep, time

from msgspec import Struct, ValidationError, convert

from hookonce.model import Reply
from hookonce.runtime.folder import at, create, put
from hookonce.texts import dump, load

_POLL = 0.01


class Call(Struct, frozen=True):
    """One invocation: begun, or finished with the very words that were answered."""

    done: bool
    reply: Reply | None = None


def claim(call: str) -> bool:
    """Whether we are the ones who run the handlers for an id."""
    return create(at("calls", call), dump(Call(done=False)))


def finish(call: str, reply: Reply) -> None:
    """Write down the answer before it leaves."""
    put(at("calls", call), dump(Call(done=True, reply=reply)))


def answer_of(call: str, deadline: float) -> Reply | None:
    """The answer that somebody else gives to an id, waited for until the deadline."""
    while time() < deadline:
        try:
            found = convert(load(at("calls", call).read_text(encoding="utf-8")), type=Call)
        except (OSError, ValueError, ValidationError):
            return None
        if found.done:
            return found.reply
        sleep(_POLL)
    return None


def forget(call: str) -> None:
    """The answer was read."""
    with suppress(OSError):
        at("calls", call).unlink()
