"""One-call approvals: a question that an agent could not ask, answered later by a person for that one action."""

from hashlib import sha256
from json import dumps
from pathlib import Path
from secrets import choice
from time import time

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from hookonce.base.runtime_dir import runtime_file, write_atomic
from hookonce.base.sealing import seal, unseal
from hookonce.model import Event, Tool
from hookonce.secrets.detect import mask_secrets, truncate_text

_LIFETIME_S = 600
_CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # nothing that looks like something else
_CODE_LENGTH = 6
_MAX_TEXT_CHARS = 4000  # of an action that a person is shown


class ApprovalQuestion(Struct, frozen=True):
    """A question that waits for an answer: the action's digest, the call, its time, a text for people, and the tool."""

    action: str
    call: str
    time: float
    text: str = ""
    tool: Tool | None = None


class Approval(Struct, frozen=True):
    """A person's yes to an action: when, and the record of it."""

    time: float
    event: str = ""


def action_digest(event: Event) -> str:
    """Digest of an action: the same tool and input in the same directory, by whatever agent in whatever session.

    An agent without a dialogue is often one that runs once: the session that asked is over when a person answers. What
    the person has read and allowed is the action, whoever does it.
    """
    tool = event.tool
    subject = [tool.name, tool.input] if tool is not None else [event.prompt]
    content = dumps([event.cwd, event.type, *subject], sort_keys=True, default=str)
    return sha256(content.encode()).hexdigest()


def leave_question(event: Event) -> None:
    """Write a question under a random code; the code is shown to people only."""
    code = "".join(choice(_CODE_ALPHABET) for _ in range(_CODE_LENGTH))
    question = ApprovalQuestion(action_digest(event), event.id, time(), _question_text(event), event.tool)
    write_atomic(runtime_file("questions", code), seal(code, encode(question)))


def _question_text(event: Event) -> str:
    """The action without secrets, as a person reads it before approving."""
    tool = event.tool
    name, value = ("the prompt", event.prompt) if tool is None else (tool.name, tool.input)
    action = f"{name} {dumps(value, ensure_ascii=False, default=str)}".encode(errors="backslashreplace").decode()
    excess_chars = len(action) - _MAX_TEXT_CHARS
    omission = f" … and {excess_chars} characters more" if excess_chars > 0 else ""
    place = f"{event.agent}, in {event.cwd or 'an unknown directory'}"
    return mask_secrets(f"{place}: {truncate_text(action, _MAX_TEXT_CHARS)}{omission}")[0]


def find_code(call: str) -> str | None:
    """The code of the question that a call has left."""
    return next((code for code, question in _load_questions() if question.call == call), None)


def open_questions() -> list[tuple[str, ApprovalQuestion]]:
    """Codes and questions that wait for an answer, the oldest first; of an action that was tried again, the newest."""
    newest_by_action = {entry[1].action: entry for entry in _load_questions()}
    return sorted(newest_by_action.values(), key=lambda entry: entry[1].time)


def _load_questions() -> list[tuple[str, ApprovalQuestion]]:
    codes = [path.name for path in runtime_file("questions", "x").parent.iterdir()]
    questions = [(code, question) for code in codes if (question := load_question(code)) is not None]
    return sorted(questions, key=lambda entry: entry[1].time)


def load_question(code: str) -> ApprovalQuestion | None:
    """The question of a code, if it is not older than ten minutes."""
    try:
        path = _question_file(code)
        entry = decode(unseal(path.name, path.read_bytes()), type=ApprovalQuestion)
    except (OSError, ValueError):
        return None
    return entry if 0 <= time() - entry.time < _LIFETIME_S else None


def _question_file(code: str) -> Path:
    return runtime_file("questions", "".join(letter for letter in code.upper() if letter in _CODE_ALPHABET) or "x")


def approve(code: str, event_id: str = "") -> bool:
    """Approve the action of a question for one call within ten minutes; whether there was such a question.

    `event_id` is the record of the approval.
    """
    entry = load_question(code)
    if entry is None:
        return False
    for other_code, question in _load_questions():
        if question.action == entry.action:  # it was tried again meanwhile
            _question_file(other_code).unlink(missing_ok=True)
    write_atomic(runtime_file("approved", entry.action), encode(Approval(time(), event_id)))
    return True


def consume_approval(event: Event) -> Approval | None:
    """Take the approval of this action, if a person gave one; it counts once, because one process removes the file."""
    path = runtime_file("approved", action_digest(event))
    try:
        approval = decode(path.read_bytes(), type=Approval)
        path.unlink()
    except (OSError, DecodeError):
        return None
    return approval if 0 <= time() - approval.time < _LIFETIME_S else None
