"""Stop limit: counts refused stops per session, so that an agent that is never let go ends all the same."""

from hashlib import sha256
from pathlib import Path

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from hookonce.agents import DEFAULT_REASON
from hookonce.base.jsontext import dump
from hookonce.base.runtime_dir import runtime_file, update_locked
from hookonce.model import Event

MAX_REFUSALS = 5


class StopCount(Struct, frozen=True):
    """How often a stop was refused in a row, and the digest of the last reason."""

    count: int = 0
    reason: str = ""


def refuse_stop(event: Event, reason: str | None) -> bool:
    """Count one more refused stop; whether it may be refused (at most 5 in a row)."""
    digest = _text_digest(reason or DEFAULT_REASON)
    previous = StopCount()

    def increment(data: bytes) -> bytes:
        nonlocal previous
        previous = _parse_count(data)
        return data if previous.count >= MAX_REFUSALS else encode(StopCount(previous.count + 1, digest))

    update_locked(_count_file(event), increment)
    return previous.count < MAX_REFUSALS


def reset_stops(event: Event) -> None:
    """Reset the count at a person's prompt, unless the prompt is only our own reason coming back."""
    digest = _text_digest(event.prompt) if type(event.prompt) is str else ""
    path = _count_file(event)
    if digest and path.exists():
        update_locked(path, lambda data: data if digest == _parse_count(data).reason else b"")


def _text_digest(text: str) -> str:
    """Digest of a text with its whitespace normalised, because agents break lines; "" for an empty one."""
    normal_text = " ".join(text.split())
    return sha256(normal_text.encode(errors="surrogatepass")).hexdigest() if normal_text else ""


def _parse_count(data: bytes) -> StopCount:
    try:
        return decode(data, type=StopCount)
    except DecodeError:
        return StopCount()


def _count_file(event: Event) -> Path:
    subagent_id = event.subagent.id if event.subagent is not None else None
    return runtime_file("stops", sha256(dump([event.agent, event.session, subagent_id])).hexdigest()[:40])
