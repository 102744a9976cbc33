"""What Claude Code takes for an answer: an object whatever the exit code, and code 2 as a refusal beside it."""

from typing import Any

from msgspec.structs import replace

from hookonce.agents.replies._answer import UNSAID, answer, object_in
from hookonce.agents.replies.shaped import (
    BLOCK,
    CONTEXT,
    INPUT,
    OWN,
    PERMISSION,
    REQUEST,
    REQUEST_INPUT,
    Shape,
    at,
    understood,
    written,
)
from hookonce.model import Decision, Object, Reply

# A call that is put off until somebody resumes the session is one that somebody is asked about.
_PERMISSION = PERMISSION._replace(words={**PERMISSION.words, "defer": "ask"})
_OLDER = BLOCK._replace(words={"block": "deny", "approve": "allow"})
_BLOCKS, _TELLS = Shape((BLOCK,), CONTEXT), Shape(context=CONTEXT)
_SHAPES = {
    "PreToolUse": Shape((_PERMISSION, _OLDER), CONTEXT, INPUT),
    "PermissionRequest": Shape((REQUEST,), input=REQUEST_INPUT),
    "PostToolUse": _BLOCKS,
    "PostToolUseFailure": _BLOCKS,
    "PostToolBatch": _BLOCKS,
    "UserPromptSubmit": _BLOCKS,
    "UserPromptExpansion": _BLOCKS,
    "Stop": _BLOCKS,
    "SubagentStop": _BLOCKS,
    "PreCompact": Shape((BLOCK,)),
    "ConfigChange": Shape((BLOCK,)),
    "PreModelSwitch": Shape((PERMISSION,)),
    "SessionStart": _TELLS,
    "Setup": _TELLS,
    "SubagentStart": _TELLS,
    "PostModelSwitch": _TELLS,
    "Notification": _TELLS,
}
_REST = Shape()
# No field refuses at these events, or none that has room for a reason.
BY_CODE = frozenset({"TaskCreated", "TaskCompleted", "TeammateIdle", "Elicitation", "ElicitationResult"})
BY_CODE |= {"WorktreeCreate"}
_DECLINED = frozenset({"Elicitation", "ElicitationResult"})
_HEARD = frozenset({"UserPromptSubmit", "UserPromptExpansion", "SessionStart", "PostModelSwitch"})  # plain text counts
_INTERRUPT = (OWN, "decision", "interrupt")
_OUTPUTS: tuple[tuple[str, type], ...] = (("updatedToolOutput", dict), ("updatedMCPToolOutput", list))
_REFUSE = 2


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """The decision as Claude Code honours it at this event."""
    fields = written(_SHAPES.get(native, _REST), native, decision, given)
    said = answer(fields) if fields else Reply()
    if decision.outcome == "deny" and native in BY_CODE:
        return replace(said, stderr=decision.reason or UNSAID, code=_REFUSE)
    return said


def posted(native: str, said: Reply) -> Reply:
    """The same answer without an exit code, in the strongest words that are left: the refused turn ends."""
    if said.code != _REFUSE:
        return said
    declined: Object = {OWN: {"hookEventName": native, "action": "decline"}}
    ended: Object = {"continue": False, "stopReason": said.stderr}
    return answer((object_in(said.stdout) or {}) | (declined if native in _DECLINED else ended))


def read_reply(native: str, said: Reply) -> Decision | None:
    """What Claude Code makes of a hook's answer; None where it goes on as if the hook had failed."""
    if said.code < 0:
        return None
    text = said.stdout.strip().lstrip("\ufeff").strip()
    found = object_in(text)
    decision = None if found is None else _understood(native, found)
    if said.code == _REFUSE and _refuses(native):
        return _refused(decision or Decision(), said.stderr.strip())
    if found is not None:
        return decision
    return None if said.code or _is_broken(text) else _plain(native, text)


def _understood(native: str, found: Object) -> Decision | None:
    decision = understood(_SHAPES.get(native, _REST), native, found)
    if decision is None:
        return None
    if native == "PermissionRequest" and decision.outcome == "deny" and at(found, _INTERRUPT) is True:
        return replace(decision, proceed=False)
    return replace(decision, updated_output=_output(found)) if native == "PostToolUse" else decision


def _output(found: Object) -> Any:
    """The new result of a tool, which has a form for each of them; a text there is passed over."""
    values = (at(found, (OWN, key), kind) for key, kind in _OUTPUTS)
    return next((value for value in values if value is not None), None)


def _refuses(native: str) -> bool:
    return native in BY_CODE or bool(_SHAPES.get(native, _REST).ways)


def _refused(decision: Decision, told: str) -> Decision:
    """The code refuses whatever the object says; a reason in the object goes before stderr."""
    reason = decision.reason if decision.outcome == "deny" else None if told == UNSAID else told or None
    return replace(decision, outcome="deny", reason=reason, updated_input=None)


def _is_broken(text: str) -> bool:
    """What looks like an object from both ends and is none; one object after the other is plain text."""
    if not (text.startswith("{") and text.endswith("}")):
        return False
    lines = text.splitlines()
    return len(lines) == 1 or any(object_in(line) is None for line in lines)


def _plain(native: str, text: str) -> Decision:
    return Decision(context=text or None) if native in _HEARD else Decision()
