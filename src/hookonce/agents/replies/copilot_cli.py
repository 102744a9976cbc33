"""What Copilot's command line takes for an answer: one flat object in the words of the event.

Only PreToolUse in Claude Code's spelling has its decision nested as Claude Code has it; what the model is told besides
stands at the top there as well.
"""

from typing import Any

from msgspec.structs import replace

from hookonce.agents.replies._answer import answer, are, object_in
from hookonce.agents.replies.shaped import INPUT, PERMISSION, Shape, Way, at, understood, written
from hookonce.model import Decision, Object, Reply
from hookonce.texts import dump

_CAMEL = {"UserPromptSubmit": "userPromptSubmitted", "Stop": "agentStop"}  # others differ by their first letter
_PERMIT = Way(("permissionDecision",), ("permissionDecisionReason",), PERMISSION.words)
_BEHAVE = Way(("behavior",), ("message",), {"allow": "allow", "deny": "deny"})
_BLOCK = Way(("decision",), ("reason",), {"block": "deny", "allow": None}, needs=True)
_RESULT = "modifiedResult"
_BLOCKS = 2  # the exit code that refuses
_UNFIT = Decision(outcome="deny", reason="a hook wants other input, and nothing but the prompt can be changed here")


def _flat(*ways: Way, told: bool = True, **places: tuple[str, ...]) -> Shape:
    """An event without the common fields: Copilot neither ends a turn for them nor shows anything."""
    context = ("additionalContext",) if told else None
    bare: dict[str, Any] = dict.fromkeys(("proceed", "message", "suppress"))
    return Shape(ways=ways, context=context, named=False, **bare | places)


_SHAPES = {
    "preToolUse": _flat(_PERMIT, input=("modifiedArgs",)),
    "PreToolUse": _flat(PERMISSION, _PERMIT, input=INPUT),
    "permissionRequest": _flat(_BEHAVE, told=False),
    "postToolUse": _flat(_BLOCK, output=(_RESULT, "textResultForLlm")),
    "postToolUseFailure": _flat(),
    "userPromptSubmitted": _flat(_BLOCK),
    "sessionStart": _flat(),
    "agentStop": _flat(_BLOCK, told=False),
    "subagentStart": _flat(),
    "subagentStop": _flat(_BLOCK, told=False, output=("modifiedResponse",)),
    "notification": _flat(),
}
_NONE = _flat(told=False)
_PROMPTS = {"userPromptSubmitted": "modifiedPrompt", "userPromptTransformed": "modifiedTransformedPrompt"}
# A hook that fails refuses where permission is given; these are the reasons that the model gets then.
_FAILED = {"preToolUse": "hook errored", "permissionRequest": "Permission request hook failed"}
_EXIT_TWO = {"preToolUse": "hook exited with code 2", "permissionRequest": "Permission denied by hook."}


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """The decision as Copilot honours it at this event, in this spelling of it."""
    changed: Object = {}
    if given is not None and (key := _PROMPTS.get(_event(native))) is not None:
        if type(given.get("prompt")) is not str:
            decision = _UNFIT
        else:
            changed, given = {key: given["prompt"]}, None
    new = decision.updated_output
    if new is not None and type(new) is not str:
        decision = replace(decision, updated_output=dump(new).decode())
    fields = written(_shape(native), native, decision, given)
    if _RESULT in fields:
        fields[_RESULT]["resultType"] = "success"
    return answer(fields | changed)


def _event(native: str) -> str:
    return _CAMEL.get(native) or native[:1].lower() + native[1:]


def _shape(native: str) -> Shape:
    return _SHAPES.get(native) or _SHAPES.get(_event(native), _NONE)


def read_reply(native: str, said: Reply) -> Decision | None:
    """What Copilot makes of a hook's answer; None where it goes on as if there were none."""
    text = _without_progress(said.stdout)
    found = object_in(text) if text.strip() else {}
    if said.code != 0:
        return _failure(native, said, found or {})
    return None if found is None else _read(native, found)


def _without_progress(text: str) -> str:
    """Lines that only tell how far a hook has come are shown to the user, and are no part of its answer."""
    if '"progress"' not in text:
        return text
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if (object_in(line) or {}).get("type") != "progress")


def _failure(native: str, said: Reply, found: Object) -> Decision | None:
    """Exit code 2 refuses in the words of the answer, not of stderr; that reaches the model after a failed tool."""
    event = _event(native)
    if event == "postToolUseFailure" and said.code == _BLOCKS:
        return Decision(context=said.stderr.strip() or None)
    if event not in _FAILED:
        return None
    if said.code != _BLOCKS:
        return Decision(outcome="deny", reason=_FAILED[event])
    told = [at(found, way.reason) for way in _shape(native).ways]
    reason = next((text for text in told if type(text) is str and text), _EXIT_TWO[event])
    return Decision(outcome="deny", reason=reason)


def _read(native: str, found: Object) -> Decision | None:
    decision, prompt = understood(_shape(native), native, found), _PROMPTS.get(_event(native), "")
    if decision is None or not are(found, str, prompt):
        return None
    if (text := found.get(prompt)) is not None:
        return replace(decision, updated_input={"prompt": text})
    if _event(native) == "permissionRequest" and decision.outcome == "deny" and found.get("interrupt") is True:
        return replace(decision, proceed=False)
    return decision
