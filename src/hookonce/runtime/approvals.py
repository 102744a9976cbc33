"""One-call approvals: a question that could not be asked, answered afterwards by a person, for that very action."""

from hashlib import sha256
from secrets import choice
from time import time

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from hookonce.model import Event
from hookonce.runtime.folder import at, put

_LIVES = 600  # seconds
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # nothing that looks like something else
_LENGTH = 6


class Question(Struct, frozen=True):
    """What waits for an answer: which action, of which call, since when."""

    action: str
    call: str
    time: float


def action_of(event: Event) -> str:
    """The action by its content: the same tool with the same input, of the same agent."""
    tool = event.tool
    known = [event.agent, event.type, tool.name, tool.input] if tool is not None else [event.agent, event.prompt]
    return sha256(encode(known, order="sorted")).hexdigest()[:40]


def ask(event: Event) -> None:
    """Leave a question that a person can answer; its code is told to people only."""
    code = "".join(choice(_LETTERS) for _ in range(_LENGTH))
    put(at("questions", code), encode(Question(action_of(event), event.id, time())))


def code_of(call: str) -> str | None:
    """The code of the question that a call has left."""
    for path in at("questions", "x").parent.iterdir():
        question = _read(path.name)
        if question is not None and question.call == call:
            return path.name
    return None


def _read(code: str) -> Question | None:
    try:
        found = decode(at("questions", code).read_bytes(), type=Question)
    except (OSError, DecodeError):
        return None
    return found if time() - found.time < _LIVES else None


def approve(code: str) -> bool:
    """Answer a question with yes, for one call within ten minutes; whether there was such a question."""
    question = _read(code) if code.isalnum() else None
    if question is None:
        return False
    at("questions", code).unlink(missing_ok=True)
    put(at("approved", question.action), encode(time()))
    return True


def is_approved(event: Event) -> bool:
    """Whether a person has said yes to this action; that counts once."""
    path = at("approved", action_of(event))
    try:
        given = decode(path.read_bytes(), type=float)
        path.unlink()
    except (OSError, DecodeError):
        return False
    return time() - given < _LIVES
