"""Stops that were refused: counted, so that an agent that is never let go ends all the same."""

from hashlib import sha256
from pathlib import Path

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from hookonce.agents.replies._answer import UNSAID
from hookonce.model import Event
from hookonce.runtime.folder import at, change
from hookonce.texts import dump

MOST = 5


class Stops(Struct, frozen=True):
    """How often a stop was refused in a row, and with what words, as they are known again."""

    count: int = 0
    reason: str = ""


def refuse(event: Event, reason: str | None) -> bool:
    """Count one more refused stop; whether it may be refused, being none too many."""
    told = _known(reason or UNSAID)
    known = Stops()

    def count(data: bytes) -> bytes:
        nonlocal known
        known = _read(data)
        return data if known.count >= MOST else encode(Stops(known.count + 1, told))

    change(_file(event), count)
    return known.count < MOST


def spoken_to(event: Event) -> None:
    """A person has spoken: the count begins anew, unless it is only our own reason that comes back."""
    said = _known(event.prompt) if type(event.prompt) is str else ""
    path = _file(event)
    if said and path.exists():
        change(path, lambda data: data if said == _read(data).reason else b"")


def _known(text: str) -> str:
    """A text as it is known again, also when an agent has broken its lines; nothing for an empty one."""
    plain = " ".join(text.split())
    return sha256(plain.encode(errors="surrogatepass")).hexdigest() if plain else ""


def _read(data: bytes) -> Stops:
    try:
        return decode(data, type=Stops)
    except DecodeError:
        return Stops()


def _file(event: Event) -> Path:
    who = event.subagent.id if event.subagent is not None else None
    return at("stops", sha256(dump([event.agent, event.session, who])).hexdigest()[:40])
