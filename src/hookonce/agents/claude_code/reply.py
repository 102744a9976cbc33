"""Replies to Claude Code: a JSON object whatever the exit code, and exit code 2 as a denial beside it."""

from typing import Any

from msgspec.structs import replace

from hookonce.agents._reply import hook_output
from hookonce.agents._reply.answer import DEFAULT_REASON, DENY_EXIT_CODE, json_reply, parse_object, text_context
from hookonce.agents._reply.hook_output import ReplySchema, build_fields, parse_fields, value_at
from hookonce.model import Decision, Object, Reply

# A call that is put off until somebody resumes the session is one that somebody is asked about.
_PERMISSION = replace(hook_output.PERMISSION, words={**hook_output.PERMISSION.words, "defer": "ask"})
_LEGACY_BLOCK = replace(hook_output.BLOCK, words={"block": "deny", "approve": "allow"})
_CONTEXT_SCHEMA = ReplySchema(context=hook_output.CONTEXT_PATH)
_BLOCK_SCHEMA = replace(_CONTEXT_SCHEMA, outcomes=(hook_output.BLOCK,))
_SCHEMAS = {
    "PreToolUse": ReplySchema((_PERMISSION, _LEGACY_BLOCK), hook_output.CONTEXT_PATH, hook_output.INPUT_PATH),
    "PermissionRequest": ReplySchema((hook_output.PERMISSION_REQUEST,), input=hook_output.REQUEST_INPUT_PATH),
    "PreCompact": ReplySchema((hook_output.BLOCK,)),
    "ConfigChange": ReplySchema((hook_output.BLOCK,)),
    "PreModelSwitch": ReplySchema((hook_output.PERMISSION,)),
}
_SCHEMAS |= dict.fromkeys(("PostToolUse", "PostToolUseFailure", "PostToolBatch", "Stop", "SubagentStop"), _BLOCK_SCHEMA)
_SCHEMAS |= dict.fromkeys(("UserPromptSubmit", "UserPromptExpansion"), _BLOCK_SCHEMA)
_CONTEXT_EVENTS = ("SessionStart", "Setup", "SubagentStart", "PostModelSwitch", "Notification")
_SCHEMAS |= dict.fromkeys(_CONTEXT_EVENTS, _CONTEXT_SCHEMA)
_DEFAULT_SCHEMA = ReplySchema()
# No field refuses at these events, or none that has room for a reason.
EXIT_CODE_EVENTS = frozenset({"TaskCreated", "TaskCompleted", "TeammateIdle", "Elicitation", "ElicitationResult"})
EXIT_CODE_EVENTS |= {"WorktreeCreate"}
_ELICITATION_EVENTS = frozenset({"Elicitation", "ElicitationResult"})
# Plain text counts.
_PLAIN_TEXT_EVENTS = frozenset({"UserPromptSubmit", "UserPromptExpansion", "SessionStart", "PostModelSwitch"})
_INTERRUPT_PATH = (hook_output.HOOK_OUTPUT_KEY, "decision", "interrupt")
_OUTPUT_KEYS: tuple[tuple[str, type], ...] = (("updatedToolOutput", dict), ("updatedMCPToolOutput", list))


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision as Claude Code honours it at this event."""
    fields = build_fields(_SCHEMAS.get(native, _DEFAULT_SCHEMA), native, decision, native_input)
    base_reply = json_reply(fields) if fields else Reply()
    if decision.outcome == "deny" and native in EXIT_CODE_EVENTS:
        return replace(base_reply, stderr=decision.reason or DEFAULT_REASON, code=DENY_EXIT_CODE)
    return base_reply


def to_http_reply(native: str, hook_reply: Reply) -> Reply:
    """The same reply without an exit code, for HTTP: a denial by code ends the turn, or declines an elicitation."""
    if hook_reply.code != DENY_EXIT_CODE:
        return hook_reply
    decline_fields: Object = {hook_output.HOOK_OUTPUT_KEY: {"hookEventName": native, "action": "decline"}}
    stop_fields: Object = {"continue": False, "stopReason": hook_reply.stderr}
    fields = parse_object(hook_reply.stdout) or {}
    return json_reply(fields | (decline_fields if native in _ELICITATION_EVENTS else stop_fields))


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a hook's reply as Claude Code does; None where Claude Code goes on as if the hook had failed."""
    if hook_reply.code < 0:
        return None
    text = hook_reply.stdout.strip().lstrip("\ufeff").strip()
    fields = parse_object(text)
    decision = None if fields is None else _build_decision(native, fields)
    can_deny = native in EXIT_CODE_EVENTS or _SCHEMAS.get(native, _DEFAULT_SCHEMA).outcomes
    if hook_reply.code == DENY_EXIT_CODE and can_deny:
        # The code denies whatever the object says; a reason in the object precedes stderr.
        base, stderr = decision or Decision(), hook_reply.stderr.strip()
        reason = base.reason if base.outcome == "deny" else None if stderr == DEFAULT_REASON else stderr or None
        return replace(base, outcome="deny", reason=reason, updated_input=None)
    if fields is not None:
        return decision
    return None if hook_reply.code or _is_broken_json(text) else text_context(native, text, _PLAIN_TEXT_EVENTS)


def _build_decision(native: str, fields: Object) -> Decision | None:
    decision = parse_fields(_SCHEMAS.get(native, _DEFAULT_SCHEMA), native, fields)
    if decision is None:
        return None
    if native == "PermissionRequest" and decision.outcome == "deny" and value_at(fields, _INTERRUPT_PATH) is True:
        return replace(decision, proceed=False)
    return replace(decision, updated_output=_updated_output(fields)) if native == "PostToolUse" else decision


def _updated_output(fields: Object) -> Any:
    """The new result of a tool, in one of two keys; a text there is ignored."""
    values = (value_at(fields, (hook_output.HOOK_OUTPUT_KEY, key), kind) for key, kind in _OUTPUT_KEYS)
    return next((value for value in values if value is not None), None)


def _is_broken_json(text: str) -> bool:
    """Text with the braces of an object that is none; several objects, one per line, are plain text."""
    if not (text.startswith("{") and text.endswith("}")):
        return False
    lines = text.splitlines()
    return len(lines) == 1 or any(parse_object(line) is None for line in lines)
