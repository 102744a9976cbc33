"""Replies to Copilot CLI: one flat object in the keys of the event.

Only PreToolUse in Claude Code's spelling has its decision nested, and the additional context at the top as well.
"""

from typing import Any

from msgspec.structs import replace

from hookonce.agents._reply import hook_output
from hookonce.agents._reply.answer import DENY_EXIT_CODE, have_type, json_reply, parse_object
from hookonce.agents._reply.hook_output import OutcomeField, ReplySchema, build_fields, parse_fields, value_at
from hookonce.base.jsontext import dump
from hookonce.model import Decision, Object, Reply

# Others differ by their first letter.
_CAMEL_EXCEPTIONS = {"UserPromptSubmit": "userPromptSubmitted", "Stop": "agentStop"}
_FLAT_PERMISSION = OutcomeField(("permissionDecision",), ("permissionDecisionReason",), hook_output.PERMISSION.words)
_BEHAVIOR = OutcomeField(("behavior",), ("message",), {"allow": "allow", "deny": "deny"})
_BLOCK = OutcomeField(("decision",), ("reason",), {"block": "deny", "allow": None}, requires_reason=True)
_RESULT_KEY = "modifiedResult"
_UNSUPPORTED_INPUT_REASON = "a hook wants other input, and nothing but the prompt can be changed here"


def _flat_schema(*outcomes: OutcomeField, has_context: bool = True, **paths: tuple[str, ...]) -> ReplySchema:
    """Schema without the common fields: Copilot neither ends a turn for them nor shows anything."""
    context = ("additionalContext",) if has_context else None
    absent_paths: dict[str, Any] = dict.fromkeys(("proceed", "message", "suppress"))
    return ReplySchema(outcomes=outcomes, context=context, requires_event_name=False, **absent_paths | paths)


_SCHEMAS = {
    "preToolUse": _flat_schema(_FLAT_PERMISSION, input=("modifiedArgs",)),
    "PreToolUse": _flat_schema(hook_output.PERMISSION, _FLAT_PERMISSION, input=hook_output.INPUT_PATH),
    "permissionRequest": _flat_schema(_BEHAVIOR, has_context=False),
    "postToolUse": _flat_schema(_BLOCK, output=(_RESULT_KEY, "textResultForLlm")),
    "postToolUseFailure": _flat_schema(),
    "userPromptSubmitted": _flat_schema(_BLOCK),
    "sessionStart": _flat_schema(),
    "agentStop": _flat_schema(_BLOCK, has_context=False),
    "subagentStart": _flat_schema(),
    "subagentStop": _flat_schema(_BLOCK, has_context=False, output=("modifiedResponse",)),
    "notification": _flat_schema(),
}
_EMPTY_SCHEMA = _flat_schema(has_context=False)
_PROMPT_KEYS = {"userPromptSubmitted": "modifiedPrompt", "userPromptTransformed": "modifiedTransformedPrompt"}
# A hook that fails refuses where permission is given; these are the reasons that the model gets then.
_FAILURE_REASONS = {"preToolUse": "hook errored", "permissionRequest": "Permission request hook failed"}
_DENY_REASONS = {"preToolUse": "hook exited with code 2", "permissionRequest": "Permission denied by hook."}


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision as Copilot honours it at this event, in this spelling of the event."""
    prompt_fields: Object = {}
    if native_input is not None and (key := _PROMPT_KEYS.get(camel_event(native))) is not None:
        if type(native_input.get("prompt")) is not str:
            decision = Decision(outcome="deny", reason=_UNSUPPORTED_INPUT_REASON)
        else:
            prompt_fields, native_input = {key: native_input["prompt"]}, None
    new_output = decision.updated_output
    if new_output is not None and type(new_output) is not str:
        decision = replace(decision, updated_output=dump(new_output).decode())
    fields = build_fields(_schema_of(native), native, decision, native_input)
    if _RESULT_KEY in fields:
        fields[_RESULT_KEY]["resultType"] = "success"
    return json_reply(fields | prompt_fields)


def camel_event(native: str) -> str:
    """The camelCase spelling of an event."""
    return _CAMEL_EXCEPTIONS.get(native) or native[:1].lower() + native[1:]


def _schema_of(native: str) -> ReplySchema:
    return _SCHEMAS.get(native) or _SCHEMAS.get(camel_event(native), _EMPTY_SCHEMA)


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a hook's reply as Copilot CLI does; None where Copilot CLI goes on as if the hook had failed."""
    text = _without_progress(hook_reply.stdout)
    fields = parse_object(text) if text.strip() else {}
    if hook_reply.code != 0:
        return _parse_failure(native, hook_reply, fields or {})
    return None if fields is None else _parse_success(native, fields)


def _without_progress(text: str) -> str:
    if '"progress"' not in text:
        return text
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if (parse_object(line) or {}).get("type") != "progress")


def _parse_failure(native: str, hook_reply: Reply, fields: Object) -> Decision | None:
    """Exit code 2 denies with the reason of stdout, not of stderr; stderr reaches the model after a failed tool."""
    event = camel_event(native)
    if event == "postToolUseFailure" and hook_reply.code == DENY_EXIT_CODE:
        return Decision(context=hook_reply.stderr.strip() or None)
    if event not in _FAILURE_REASONS:
        return None
    if hook_reply.code != DENY_EXIT_CODE:
        return Decision(outcome="deny", reason=_FAILURE_REASONS[event])
    reasons = [value_at(fields, field.reason) for field in _schema_of(native).outcomes]
    reason = next((text for text in reasons if type(text) is str and text), _DENY_REASONS[event])
    return Decision(outcome="deny", reason=reason)


def _parse_success(native: str, fields: Object) -> Decision | None:
    decision, prompt_key = parse_fields(_schema_of(native), native, fields), _PROMPT_KEYS.get(camel_event(native), "")
    if decision is None or not have_type(fields, str, prompt_key):
        return None
    if (text := fields.get(prompt_key)) is not None:
        return replace(decision, updated_input={"prompt": text})
    if camel_event(native) == "permissionRequest" and decision.outcome == "deny" and fields.get("interrupt") is True:
        return replace(decision, proceed=False)
    return decision
