"""What Auggie takes for an answer: Claude Code's object, with the verdict on stopping nested as well."""

from msgspec.structs import replace

from hookonce.agents.replies._answer import answer, object_in
from hookonce.agents.replies.shaped import CONTEXT, INPUT, OWN, PERMISSION, Shape, Way, understood, written
from hookonce.model import Decision, Object, Reply

_BLOCK = 2
# Auggie knows the word allow and grants nothing for it.
_PERMISSION = PERMISSION._replace(words={"deny": "deny", "ask": "ask", "allow": None})
_BLOCKING = Way((OWN, "decision"), (OWN, "reason"), {"block": "deny"}, needs=True)
_SHAPES = {
    "PreToolUse": Shape((_PERMISSION,), input=INPUT),
    "PostToolUse": Shape((_BLOCKING,), context=CONTEXT),
    "SessionStart": Shape(context=CONTEXT),
    "SessionEnd": Shape(),
    "Stop": Shape((_BLOCKING,)),
    "Notification": Shape(),
}
_REFUSES = "PreToolUse"
_TELLS = frozenset({"PostToolUse", "Stop"})  # what a hook complains of on stderr, the model is told


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """The decision as Auggie honours it at this event."""
    return answer(written(_SHAPES[native], native, decision, given))


def read_reply(native: str, said: Reply) -> Decision | None:
    """What Auggie makes of a script's answer; at an event without a shape nobody reads what is printed."""
    shape = _SHAPES.get(native)
    if shape is None:
        return Decision()
    if said.code == _BLOCK:
        return _complained(native, said.stderr.strip() or None)
    if said.code != 0:
        return None
    found = object_in(said.stdout)
    if found is None:
        return Decision(context=said.stdout.strip() or None) if native == "SessionStart" else Decision()
    decision, text = understood(shape, native, found), found.get("additionalContext")
    if decision is None or text is None or decision.context is not None:
        return decision
    return replace(decision, context=text or None) if type(text) is str else None


def _complained(native: str, text: str | None) -> Decision | None:
    if native == _REFUSES:
        return Decision(outcome="deny", reason=text)
    return Decision(context=text) if native in _TELLS else None
