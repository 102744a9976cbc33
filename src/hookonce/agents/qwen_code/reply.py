"""Replies to Qwen Code: Claude Code's keys, read as Gemini CLI reads them; after code 2 stderr is the reply."""

from msgspec.structs import replace

from hookonce.agents._reply import hook_output
from hookonce.agents._reply.answer import DENY_EXIT_CODE, json_reply, parse_object, text_context
from hookonce.agents._reply.hook_output import ReplySchema, build_fields, parse_fields
from hookonce.base.jsontext import load
from hookonce.model import Decision, Object, Reply

_PERMISSION = replace(hook_output.PERMISSION, words={"deny": "deny", "ask": "ask"})
_TOP_DECISION = replace(hook_output.BLOCK, words={"deny": "deny", "block": "deny", "ask": "ask"})
_BLOCK = replace(hook_output.BLOCK, words={"block": "deny", "deny": "deny"}, requires_reason=True)
_LENIENT_SCHEMA = ReplySchema(proceed=None, requires_event_name=False, strict=False)
_BLOCK_SCHEMA = replace(_LENIENT_SCHEMA, outcomes=(_BLOCK, hook_output.CONTINUE))
_CONTEXT_SCHEMA = replace(_LENIENT_SCHEMA, context=hook_output.CONTEXT_PATH)
_SCHEMAS = {
    "PreToolUse": replace(_LENIENT_SCHEMA, outcomes=(_PERMISSION, _TOP_DECISION, hook_output.CONTINUE)),
    "PermissionRequest": replace(
        _LENIENT_SCHEMA, outcomes=(hook_output.PERMISSION_REQUEST,), input=hook_output.REQUEST_INPUT_PATH
    ),
    "PostToolUse": replace(_CONTEXT_SCHEMA, outcomes=(hook_output.CONTINUE,)),
    "UserPromptSubmit": replace(_CONTEXT_SCHEMA, outcomes=(_BLOCK,), proceed=("continue",)),
}
_BLOCK_EVENTS = ("PostToolBatch", "UserPromptExpansion", "Stop", "SubagentStop", "TodoCreated", "TodoCompleted")
_SCHEMAS |= dict.fromkeys(_BLOCK_EVENTS, _BLOCK_SCHEMA)
_SCHEMAS |= dict.fromkeys(("PostToolUseFailure", "SessionStart", "PreCompact"), _CONTEXT_SCHEMA)
_DENIABLE_OUTCOMES = {_TOP_DECISION.outcome, hook_output.PERMISSION_REQUEST.outcome}
_PLAIN_TEXT_EVENTS = frozenset({"UserPromptSubmit", "SessionStart"})  # plain text is told to the model


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision; a denied call is denied in two fields, because another hook's reply may override one."""
    fields = build_fields(_SCHEMAS.get(native, _LENIENT_SCHEMA), native, decision, native_input)
    if native == "PreToolUse" and decision.outcome == "deny":
        fields = {"decision": "deny", "reason": decision.reason} | fields
    return json_reply(fields)


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a hook's reply as Qwen Code does; None where Qwen Code goes on as if the hook had failed."""
    is_denial = hook_reply.code == DENY_EXIT_CODE
    text = hook_reply.stderr.strip() if is_denial else hook_reply.stdout.strip() or hook_reply.stderr.strip()
    if not text or hook_reply.code < 0:
        return None if hook_reply.code else Decision()
    fields = parse_object(text)
    if fields is not None:
        return parse_fields(_SCHEMAS.get(native, _LENIENT_SCHEMA), native, fields)
    if is_denial:
        # Not where only the turn can be ended.
        outcomes = {field.outcome for field in _SCHEMAS.get(native, _LENIENT_SCHEMA).outcomes}
        return Decision(outcome="deny", reason=text) if outcomes & _DENIABLE_OUTCOMES else None
    if hook_reply.code or _is_json(text):
        return None
    return text_context(native, hook_reply.stdout.strip(), _PLAIN_TEXT_EVENTS)


def _is_json(text: str) -> bool:
    """JSON that is no object is neither a reply nor plain text."""
    try:
        load(text)
    except (ValueError, RecursionError):
        return False
    return True
