"""One-call approvals: a question that could not be asked, answered afterwards by a person, for that very action."""

from hashlib import sha256
from json import dumps
from pathlib import Path
from secrets import choice
from time import time

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from hookonce.guard.secrets import beginning, masked
from hookonce.model import Event
from hookonce.runtime.folder import at, put

_LIVES = 600  # seconds
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # nothing that looks like something else
_LENGTH = 6
_SHOWN = 4000  # characters of an action that a person is shown


class Question(Struct, frozen=True):
    """What waits for an answer: which action, of which call, since when, and in words for people."""

    action: str
    call: str
    time: float
    text: str = ""


def action_of(event: Event) -> str:
    """The action by its content: the same tool with the same input, by the same agent in the same place and session."""
    tool = event.tool
    what = [tool.name, tool.input] if tool is not None else [event.prompt]
    known = dumps([event.agent, event.session, event.cwd, event.type, *what], sort_keys=True, default=str)
    return sha256(known.encode()).hexdigest()


def ask(event: Event) -> None:
    """Leave a question that a person can answer; its code is told to people only."""
    code = "".join(choice(_LETTERS) for _ in range(_LENGTH))
    put(at("questions", code), encode(Question(action_of(event), event.id, time(), _text(event))))


def _text(event: Event) -> str:
    """What a person reads before a yes, without secrets. It lies where only they can read it, and for ten minutes."""
    tool = event.tool
    said = dumps(event.prompt if tool is None else tool.input, ensure_ascii=False, default=str)
    what = f"{tool.name if tool is not None else 'the prompt'} {said}".encode(errors="backslashreplace").decode()
    more = f" … and {len(what) - _SHOWN} characters more" if len(what) > _SHOWN else ""
    return masked(f"{event.agent}, in {event.cwd or 'an unknown directory'}: {beginning(what, _SHOWN)}{more}")[0]


def code_of(call: str) -> str | None:
    """The code of the question that a call has left."""
    names = [path.name for path in at("questions", "x").parent.iterdir()]
    return next((name for name in names if (found := question(name)) is not None and found.call == call), None)


def question(code: str) -> Question | None:
    """The question that goes by a code, if it is not too old."""
    try:
        found = decode(_place(code).read_bytes(), type=Question)
    except (OSError, DecodeError):
        return None
    return found if 0 <= time() - found.time < _LIVES else None


def _place(code: str) -> Path:
    return at("questions", "".join(letter for letter in code.upper() if letter in _LETTERS) or "x")


def approve(code: str) -> bool:
    """Answer a question with yes, for one call within ten minutes; whether there was such a question."""
    found = question(code)
    if found is None:
        return False
    _place(code).unlink(missing_ok=True)
    put(at("approved", found.action), encode(time()))
    return True


def is_approved(event: Event) -> bool:
    """Whether a person has said yes to this action; that counts once, because only one can take the file away."""
    path = at("approved", action_of(event))
    try:
        given = decode(path.read_bytes(), type=float)
        path.unlink()
    except (OSError, DecodeError):
        return False
    return 0 <= time() - given < _LIVES
