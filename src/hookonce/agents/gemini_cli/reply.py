"""Replies to Gemini CLI: an object, else text by exit code; the user sees only `systemMessage`, so reasons go there."""

from typing import Any

from msgspec.structs import replace

from hookonce.agents._reply import hook_output
from hookonce.agents._reply.answer import json_reply
from hookonce.agents._reply.hook_output import OutcomeField, ReplySchema, build_fields, parse_fields, value_at
from hookonce.base.jsontext import load
from hookonce.model import Decision, Json, Object, Reply

_DENY_OUTCOME = OutcomeField(("decision",), ("reason",), {"deny": "deny", "block": "deny"}, requires_reason=True)
_ASK_OUTCOME = replace(_DENY_OUTCOME, words={"deny": "deny", "block": "deny", "ask": "ask"})
_LENIENT_SCHEMA = ReplySchema(requires_event_name=False, strict=False)
_NO_STOP_SCHEMA = replace(_LENIENT_SCHEMA, proceed=None)
_DENY_SCHEMA = replace(_LENIENT_SCHEMA, outcomes=(_DENY_OUTCOME,))
_SCHEMAS = {
    "BeforeTool": replace(_LENIENT_SCHEMA, outcomes=(_ASK_OUTCOME,), input=(hook_output.HOOK_OUTPUT_KEY, "tool_input")),
    "AfterTool": replace(_DENY_SCHEMA, context=hook_output.CONTEXT_PATH),
    "BeforeAgent": replace(_DENY_SCHEMA, context=hook_output.CONTEXT_PATH),
    "AfterAgent": _DENY_SCHEMA,
    "BeforeModel": replace(_DENY_SCHEMA, input=(hook_output.HOOK_OUTPUT_KEY, "llm_request")),
    "AfterModel": replace(_DENY_SCHEMA, output=(hook_output.HOOK_OUTPUT_KEY, "llm_response")),
    "BeforeToolSelection": replace(_NO_STOP_SCHEMA, input=(hook_output.HOOK_OUTPUT_KEY, "toolConfig")),
    "SessionStart": replace(_NO_STOP_SCHEMA, context=hook_output.CONTEXT_PATH),
}
_MESSAGE_KEY = "systemMessage"


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision as an object, never with an exit code."""
    if type(decision.updated_output) is str:
        candidate = {"content": {"role": "model", "parts": [decision.updated_output]}, "finishReason": "STOP"}
        decision = replace(decision, updated_output={"candidates": [candidate]})
    fields = build_fields(_SCHEMAS.get(native, _NO_STOP_SCHEMA), native, decision, native_input)
    if "decision" in fields:
        fields[_MESSAGE_KEY] = "\n".join(text for text in (fields["reason"], decision.system_message) if text)
    return json_reply(fields)


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a hook's reply as Gemini CLI does; None where Gemini CLI goes on as if the hook had failed."""
    text = hook_reply.stdout.strip() or hook_reply.stderr.strip()
    if not text or hook_reply.code < 0:
        return None if hook_reply.code else Decision()
    try:
        fields: Json = load(text)
        fields = load(fields) if type(fields) is str else fields  # an object may come as the JSON text of one
    except (ValueError, RecursionError):
        return _parse_plain_text(native, text, hook_reply.code)
    return _build_decision(native, fields) if type(fields) is dict else None


def _parse_plain_text(native: str, text: str, code: int) -> Decision | None:
    """Text is shown to the user, as a warning after code 1; after a higher code it is the reason of a denial."""
    if code == 0:
        return Decision(system_message=text)
    if code == 1 or not _SCHEMAS.get(native, _NO_STOP_SCHEMA).outcomes:
        return None
    return Decision(outcome="deny", reason=text)


def _build_decision(native: str, fields: Object) -> Decision | None:
    decision = parse_fields(_SCHEMAS.get(native, _NO_STOP_SCHEMA), native, fields)
    if decision is None:
        return None
    output = _response_text(decision.updated_output)
    return replace(decision, updated_output=output, system_message=_extra_message(decision, fields))


def _extra_message(decision: Decision, fields: Object) -> str | None:
    """The system message without the reason that precedes it."""
    message, reason = decision.system_message, value_at(fields, _DENY_OUTCOME.reason, str)
    if decision.outcome is None or message is None or not reason:
        return message
    return None if message == reason else message.removeprefix(f"{reason}\n") or None


def _response_text(output: Any) -> Any:
    """The text of a model response that is nothing but one text."""
    candidates = output.get("candidates") if type(output) is dict else None
    first = candidates[0] if type(candidates) is list and len(candidates) == 1 else None
    parts = value_at(first, ("content", "parts"), list) if type(first) is dict else None
    return parts[0] if parts is not None and len(parts) == 1 and type(parts[0]) is str else output
