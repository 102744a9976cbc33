"""What Devin takes for an answer, by its documentation: a decision at the top, and code 2 for a refusal."""

from hookonce.agents.replies._answer import answer, object_in
from hookonce.agents.replies.shaped import CONTEXT, Shape, Way, understood, written
from hookonce.model import Decision, Object, Reply

_REFUSES = Way(("decision",), ("reason",), {"block": "deny", "deny": "deny", "approve": None}, needs=True)
_APPROVES = _REFUSES._replace(words={"block": "deny", "deny": "deny", "approve": "allow"}, needs=False)
_SILENT = Shape(proceed=None, message=None, suppress=None, named=False, strict=False)
_SHAPES = dict.fromkeys(("PreToolUse", "UserPromptSubmit", "Stop"), _SILENT._replace(ways=(_REFUSES,))) | {
    "PermissionRequest": _SILENT._replace(ways=(_APPROVES,)),
    "PostToolUse": _SILENT._replace(context=CONTEXT),
}


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """The decision in the words of Devin's documentation; new input has no place there."""
    return answer(written(_SHAPES.get(native, _SILENT), native, decision, given))


def read_reply(native: str, said: Reply) -> Decision | None:
    """What Devin is said to make of a hook's answer: any other code than 0 and 2 is an error that stops nothing."""
    shape = _SHAPES.get(native, _SILENT)
    if said.code == 2 and shape.ways:  # noqa: PLR2004  the code that refuses
        return Decision(outcome="deny", reason=said.stderr.strip() or None)
    if said.code != 0:
        return None
    if not said.stdout.strip().startswith("{"):
        return Decision()
    found = object_in(said.stdout)
    return None if found is None else understood(shape, native, found)
