"""Stops that were refused: counted, so that an agent that is never let go ends all the same."""

from hashlib import sha256
from pathlib import Path

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from hookonce.model import Event
from hookonce.runtime.folder import at, put

MOST = 5


class Stops(Struct, frozen=True):
    """How often a stop was refused in a row, and with what words."""

    count: int = 0
    reason: str | None = None


def stops(event: Event) -> Stops:
    """The refused stops of a session since somebody last said something."""
    try:
        return decode(_file(event).read_bytes(), type=Stops)
    except (OSError, DecodeError):
        return Stops()


def count(event: Event, reason: str | None) -> None:
    """One more."""
    put(_file(event), encode(Stops(stops(event).count + 1, reason)))


def spoken_to(event: Event) -> None:
    """A person has spoken: the count begins anew, unless it was only our own reason coming back."""
    said = event.prompt.strip() if type(event.prompt) is str else ""
    if said and said != (stops(event).reason or "").strip():
        _file(event).unlink(missing_ok=True)


def _file(event: Event) -> Path:
    who = event.subagent.id if event.subagent is not None else None
    return at("stops", sha256(encode([event.agent, event.session, who])).hexdigest()[:40])
