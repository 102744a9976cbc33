"""What Copilot in Visual Studio Code takes for an answer, by its source: Claude Code's words, each in its own place.

A Stop is refused in the event's own part and a SubagentStop at the top. A text under `stopReason` ends the turn even
without `continue`. To refuse a prompt is to end the turn: every version knows that, and not every one a block there.
"""

from typing import Any

from hookonce.agents.replies._answer import answer, object_in
from hookonce.agents.replies.shaped import (
    BLOCK,
    CONTEXT,
    CONTINUE,
    INPUT,
    NAME,
    OWN,
    PERMISSION,
    Shape,
    Way,
    at,
    understood,
    written,
)
from hookonce.model import Decision, Object, Reply

_BLOCK = BLOCK._replace(needs=True)
_NESTED = Way((OWN, "decision"), (OWN, "reason"), {"block": "deny"}, needs=True)
_LOOSE = Shape(suppress=None, named=False, strict=False)
_SHAPES = {
    "PreToolUse": _LOOSE._replace(ways=(PERMISSION,), context=CONTEXT, input=INPUT),
    "PostToolUse": _LOOSE._replace(ways=(_BLOCK,), context=CONTEXT),
    "UserPromptSubmit": _LOOSE._replace(ways=(CONTINUE, _BLOCK), context=CONTEXT, proceed=None),
    "Stop": _LOOSE._replace(ways=(_NESTED,)),
    "SubagentStop": _LOOSE._replace(ways=(_BLOCK,)),
    "SessionStart": _LOOSE._replace(context=CONTEXT),
    "SubagentStart": _LOOSE._replace(context=CONTEXT),
}


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """The decision in the place where this event has it."""
    return answer(written(_SHAPES.get(native, _LOOSE), native, decision, given))


def read_reply(native: str, said: Reply) -> Decision | None:
    """What the editor makes of a hook's answer; None where it only warns of the hook."""
    shape, told = _SHAPES.get(native, _LOOSE), said.stderr.strip()
    if said.code == 2 and shape.ways:  # noqa: PLR2004  the code that refuses
        return None if native.endswith("Stop") and not told else Decision(outcome="deny", reason=told or None)
    if said.code != 0:
        return None
    if not said.stdout.strip():
        return Decision()
    found = object_in(said.stdout)
    if found is None or _is_other(found.get(NAME[-1]), native):
        return None
    if type(found.get("stopReason")) is str:
        found = found | {"continue": False}
    if _is_other(at(found, NAME), native):
        found = {key: value for key, value in found.items() if key != OWN}
    return understood(shape, native, found)


def _is_other(name: Any, native: str) -> bool:
    return type(name) is str and name != native
