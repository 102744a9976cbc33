"""What Gemini CLI takes for an answer: whatever text there is, as an object if it is one, else by the exit code.

A person sees no reason, only `systemMessage`: what is refused or asked says its reason there too, before anything else.
"""

from typing import Any

from msgspec.structs import replace

from hookonce.agents.replies._answer import answer
from hookonce.agents.replies.shaped import CONTEXT, OWN, Shape, Way, at, understood, written
from hookonce.model import Decision, Json, Object, Reply
from hookonce.texts import load

_DENIES = Way(("decision",), ("reason",), {"deny": "deny", "block": "deny"}, needs=True)
_ASKS = _DENIES._replace(words={"deny": "deny", "block": "deny", "ask": "ask"})
_LOOSE = Shape(suppress=None, named=False, strict=False)
_DEAF = _LOOSE._replace(proceed=None)
_SHAPES = {
    "BeforeTool": _LOOSE._replace(ways=(_ASKS,), input=(OWN, "tool_input")),
    "AfterTool": _LOOSE._replace(ways=(_DENIES,), context=CONTEXT),
    "BeforeAgent": _LOOSE._replace(ways=(_DENIES,), context=CONTEXT),
    "AfterAgent": _LOOSE._replace(ways=(_DENIES,)),
    "BeforeModel": _LOOSE._replace(ways=(_DENIES,), input=(OWN, "llm_request")),
    "AfterModel": _LOOSE._replace(ways=(_DENIES,), output=(OWN, "llm_response")),
    "BeforeToolSelection": _DEAF._replace(input=(OWN, "toolConfig")),
    "SessionStart": _DEAF._replace(context=CONTEXT),
}
_MESSAGE, _OUTPUT = "systemMessage", "llm_response"


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """The decision as Gemini CLI honours it at this event, always as an object and never beside a code."""
    if type(decision.updated_output) is str:
        decision = replace(decision, updated_output=_response(decision.updated_output))
    fields = written(_SHAPES.get(native, _DEAF), native, decision, given)
    if "decision" in fields:
        fields[_MESSAGE] = "\n".join(text for text in (fields["reason"], decision.system_message) if text)
    return answer(fields)


def _response(text: str) -> Object:
    """A text as the model's answer."""
    return {"candidates": [{"content": {"role": "model", "parts": [text]}, "finishReason": "STOP"}]}


def read_reply(native: str, said: Reply) -> Decision | None:
    """What Gemini CLI makes of a hook's answer; None where it takes the hook for a failed one."""
    text = said.stdout.strip() or said.stderr.strip()
    if not text or said.code < 0:
        return None if said.code else Decision()
    try:
        found = _unwrapped(load(text))
    except (ValueError, RecursionError):
        return _plain(native, text, said.code)
    return _understood(native, found) if type(found) is dict else None


def _unwrapped(found: Json) -> Json:
    """An object may come as the text of one."""
    return load(found) if type(found) is str else found


def _plain(native: str, text: str, code: int) -> Decision | None:
    """Text is shown, as a warning after code 1; after a higher code it is why the hook refuses."""
    if code == 0:
        return Decision(system_message=text)
    if code == 1 or not _SHAPES.get(native, _DEAF).ways:
        return None
    return Decision(outcome="deny", reason=text)


def _understood(native: str, found: Object) -> Decision | None:
    decision = understood(_SHAPES.get(native, _DEAF), native, found)
    if decision is None:
        return None
    output = _text(decision.updated_output)
    return replace(decision, updated_output=output, system_message=_besides(decision, found))


def _besides(decision: Decision, found: Object) -> str | None:
    """What the user is told besides the reason."""
    told, reason = decision.system_message, at(found, _DENIES.reason, str)
    if decision.outcome is None or told is None or not reason:
        return told
    return None if told == reason else told.removeprefix(f"{reason}\n") or None


def _text(output: Any) -> Any:
    """The text of a model's answer that is nothing but a text."""
    candidates = output.get("candidates") if type(output) is dict else None
    first = candidates[0] if type(candidates) is list and len(candidates) == 1 else None
    parts = at(first, ("content", "parts"), list) if type(first) is dict else None
    return parts[0] if parts is not None and len(parts) == 1 and type(parts[0]) is str else output
