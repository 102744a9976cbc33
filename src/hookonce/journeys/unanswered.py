"""Calls that nobody has answered: our client marks each of them, because nothing else of ours was there to do it."""

from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from hookonce import times
from hookonce.config import paths
from hookonce.store import log

MOST = 9999  # the client marks no more


class Unanswered(Struct, frozen=True, kw_only=True):
    """How many calls there were since the client was put in place, and when the last one was."""

    calls: int
    last: str


def unanswered() -> Unanswered | None:
    """What the client has marked; None where every call was answered."""
    with suppress(OSError):
        found = _file().lstat()
        if found.st_size:
            return Unanswered(calls=found.st_size, last=times.from_seconds(found.st_mtime) or times.EPOCH)
    return None


def told(one: Unanswered) -> str:
    """What to say of it."""
    count = f"{one.calls} or more" if one.calls >= MOST else str(one.calls)
    calls = "call of an agent was" if one.calls == 1 else "calls of agents were"
    return f"{count} {calls} not answered, the last at {one.last}: neither a daemon nor Python was there for them"


def forget() -> None:
    """Begin to count anew; our log keeps what was counted."""
    if (found := unanswered()) is not None:
        log.write(f"client: {told(found)}")
    with suppress(OSError):
        _file().unlink()


def _file() -> Path:
    return paths.client().with_name("unanswered")
