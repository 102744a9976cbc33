"""What Codex takes for an answer: fields that it knows at this event and nothing else, or code 2 with a text.

Whatever it cannot do makes it refuse the whole answer and go on, so each event has a list of what may be said. Input
is changed only beside the word allow, which grants nothing: whoever must approve is asked all the same.
"""

from collections.abc import Iterator
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
    REQUEST,
    Place,
    Shape,
    Way,
    at,
    understood,
    written,
)
from hookonce.model import Decision, Object, Reply

_PERMISSION = PERMISSION._replace(words={"deny": "deny", "allow": None}, needs=True)
_BLOCK = BLOCK._replace(words={"block": "deny"}, needs=True)
_STOPS = Shape((_BLOCK,), suppress=None)
_COMPACTS = Shape((CONTINUE,), proceed=None, suppress=None)
_SHAPES = {
    "PreToolUse": Shape((_PERMISSION, _BLOCK), CONTEXT, INPUT, proceed=None, suppress=None),
    "PermissionRequest": Shape((REQUEST,), proceed=None, suppress=None),
    "PostToolUse": Shape((_BLOCK, CONTINUE), CONTEXT, proceed=None, suppress=None),
    "UserPromptSubmit": Shape((_BLOCK,), CONTEXT, suppress=None),
    "SessionStart": Shape((CONTINUE,), CONTEXT, proceed=None, suppress=None),
    "SubagentStart": Shape(context=CONTEXT, proceed=None, suppress=None),
    "Stop": _STOPS,
    "SubagentStop": _STOPS,
    "PreCompact": _COMPACTS,
    "PostCompact": _COMPACTS,
    "Interrupt": Shape(proceed=None, suppress=None),
}
_MESSAGE: Place = ("systemMessage",)
_COMMON: frozenset[Place] = frozenset({("continue",), ("stopReason",), ("suppressOutput",), _MESSAGE})
_DECIDED = frozenset({_BLOCK.outcome, _BLOCK.reason})
_TOLD: frozenset[Place] = frozenset({NAME, CONTEXT})
# What may be said; a field that Codex knows and cannot do costs the whole answer like one that it does not know.
_TAKEN: dict[str, frozenset[Place]] = {
    "PreToolUse": _DECIDED | _TOLD | {_MESSAGE, _PERMISSION.outcome, _PERMISSION.reason, INPUT},
    "PermissionRequest": frozenset({NAME, _MESSAGE, REQUEST.outcome, REQUEST.reason}),
    "PostToolUse": (_COMMON | _DECIDED | _TOLD) - {("suppressOutput",)},
    "UserPromptSubmit": _COMMON | _DECIDED | _TOLD,
    "SessionStart": _COMMON | _TOLD,
    "SubagentStart": _COMMON | _TOLD,
    "Stop": _COMMON | _DECIDED,
    "SubagentStop": _COMMON | _DECIDED,
    "PreCompact": _COMMON,
    "PostCompact": _COMMON,
    "Interrupt": frozenset({_MESSAGE}),
}
_IDLE: dict[Place, bool] = {("continue",): True, ("suppressOutput",): False, (OWN, "decision", "interrupt"): False}
_HEARD = frozenset({"SessionStart", "SubagentStart", "UserPromptSubmit"})  # plain text is told to the model
_TEXTLESS = frozenset({"Stop", "SubagentStop", "Interrupt"})  # plain text is an error
_REFUSED = frozenset({"PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop"})


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """The decision as Codex honours it at this event."""
    fields = written(_SHAPES.get(native, Shape()), native, decision, given)
    if native == "PreToolUse" and given is not None:  # a refusal has no new input beside it
        fields[OWN][_PERMISSION.outcome[-1]] = "allow"
    return answer(fields)


def read_reply(native: str, said: Reply) -> Decision | None:
    """What Codex makes of a hook's answer; None where the hook has failed for it."""
    text, told = said.stdout.strip(), said.stderr.strip()
    if said.code == 2:  # noqa: PLR2004  the code that refuses
        return Decision(outcome="deny", reason=told) if told and native in _REFUSED else None
    if said.code != 0:
        return None
    if not text or native not in _SHAPES:
        return Decision()
    if not text.startswith(("{", "[")):
        return None if native in _TEXTLESS else Decision(context=text if native in _HEARD else None)
    found = object_in(text)
    return _understood(native, found) if found is not None and _is_taken(native, found) else None


def _understood(native: str, found: Object) -> Decision | None:
    shape = _SHAPES[native]
    if any(way.needs and not _is_explained(way, found) for way in shape.ways):
        return None
    if native == "PreToolUse" and (at(found, _PERMISSION.outcome) == "allow") != (at(found, INPUT) is not None):
        return None
    return understood(shape, native, found)


def _is_taken(native: str, found: Object) -> bool:
    said = {place for place, value in _leaves(found) if _IDLE.get(place) is not value or value is None}
    return said <= _TAKEN[native]


def _leaves(found: Object, above: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value with its place, down to where an answer's fields end."""
    for key, value in found.items():
        place = (*above, key)
        if type(value) is dict and place in {(OWN,), (OWN, "decision")}:
            yield from _leaves(value, place)
        else:
            yield place, value


def _is_explained(way: Way, found: Object) -> bool:
    """A refusal without a reason is an error, and so is a reason without a refusal."""
    word, reason = at(found, way.outcome), at(found, way.reason)
    if word is None:
        return reason is None
    means = way.words.get(word) if type(word) is str else None
    return means is None or bool(type(reason) is str and reason.strip())
