"""Replies to Claude Code: a JSON object whatever the exit code, and exit code 2 as a denial beside it."""

from typing import Any

from msgspec.structs import replace

from hookonce.agents._reply.answer import DEFAULT_REASON, json_reply, parse_object
from hookonce.agents._reply.hook_output import (
    BLOCK,
    CONTEXT_PATH,
    HOOK_OUTPUT_KEY,
    INPUT_PATH,
    PERMISSION,
    PERMISSION_REQUEST,
    REQUEST_INPUT_PATH,
    ReplySchema,
    build_fields,
    parse_fields,
    value_at,
)
from hookonce.model import Decision, Object, Reply

# A call that is put off until somebody resumes the session is one that somebody is asked about.
_PERMISSION = PERMISSION._replace(words={**PERMISSION.words, "defer": "ask"})
_LEGACY_BLOCK = BLOCK._replace(words={"block": "deny", "approve": "allow"})
_BLOCK_SCHEMA, _CONTEXT_SCHEMA = ReplySchema((BLOCK,), CONTEXT_PATH), ReplySchema(context=CONTEXT_PATH)
_SCHEMAS = {
    "PreToolUse": ReplySchema((_PERMISSION, _LEGACY_BLOCK), CONTEXT_PATH, INPUT_PATH),
    "PermissionRequest": ReplySchema((PERMISSION_REQUEST,), input=REQUEST_INPUT_PATH),
    "PostToolUse": _BLOCK_SCHEMA,
    "PostToolUseFailure": _BLOCK_SCHEMA,
    "PostToolBatch": _BLOCK_SCHEMA,
    "UserPromptSubmit": _BLOCK_SCHEMA,
    "UserPromptExpansion": _BLOCK_SCHEMA,
    "Stop": _BLOCK_SCHEMA,
    "SubagentStop": _BLOCK_SCHEMA,
    "PreCompact": ReplySchema((BLOCK,)),
    "ConfigChange": ReplySchema((BLOCK,)),
    "PreModelSwitch": ReplySchema((PERMISSION,)),
    "SessionStart": _CONTEXT_SCHEMA,
    "Setup": _CONTEXT_SCHEMA,
    "SubagentStart": _CONTEXT_SCHEMA,
    "PostModelSwitch": _CONTEXT_SCHEMA,
    "Notification": _CONTEXT_SCHEMA,
}
_DEFAULT_SCHEMA = ReplySchema()
# No field refuses at these events, or none that has room for a reason.
EXIT_CODE_EVENTS = frozenset({"TaskCreated", "TaskCompleted", "TeammateIdle", "Elicitation", "ElicitationResult"})
EXIT_CODE_EVENTS |= {"WorktreeCreate"}
_ELICITATION_EVENTS = frozenset({"Elicitation", "ElicitationResult"})
_PLAIN_TEXT_EVENTS = frozenset(
    {"UserPromptSubmit", "UserPromptExpansion", "SessionStart", "PostModelSwitch"}
)  # plain text counts
_INTERRUPT_PATH = (HOOK_OUTPUT_KEY, "decision", "interrupt")
_OUTPUT_KEYS: tuple[tuple[str, type], ...] = (("updatedToolOutput", dict), ("updatedMCPToolOutput", list))
_DENY_EXIT_CODE = 2


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision as Claude Code honours it at this event."""
    fields = build_fields(_SCHEMAS.get(native, _DEFAULT_SCHEMA), native, decision, native_input)
    base_reply = json_reply(fields) if fields else Reply()
    if decision.outcome == "deny" and native in EXIT_CODE_EVENTS:
        return replace(base_reply, stderr=decision.reason or DEFAULT_REASON, code=_DENY_EXIT_CODE)
    return base_reply


def to_http_reply(native: str, hook_reply: Reply) -> Reply:
    """The same reply without an exit code, for HTTP: a denial by code ends the turn, or declines an elicitation."""
    if hook_reply.code != _DENY_EXIT_CODE:
        return hook_reply
    decline_fields: Object = {HOOK_OUTPUT_KEY: {"hookEventName": native, "action": "decline"}}
    stop_fields: Object = {"continue": False, "stopReason": hook_reply.stderr}
    return json_reply(
        (parse_object(hook_reply.stdout) or {}) | (decline_fields if native in _ELICITATION_EVENTS else stop_fields)
    )


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a hook's reply as Claude Code does; None where Claude Code goes on as if the hook had failed."""
    if hook_reply.code < 0:
        return None
    text = hook_reply.stdout.strip().lstrip("\ufeff").strip()
    fields = parse_object(text)
    decision = None if fields is None else _build_decision(native, fields)
    if hook_reply.code == _DENY_EXIT_CODE and _can_deny(native):
        return _deny(decision or Decision(), hook_reply.stderr.strip())
    if fields is not None:
        return decision
    return None if hook_reply.code or _is_broken_json(text) else _parse_plain_text(native, text)


def _build_decision(native: str, fields: Object) -> Decision | None:
    decision = parse_fields(_SCHEMAS.get(native, _DEFAULT_SCHEMA), native, fields)
    if decision is None:
        return None
    if native == "PermissionRequest" and decision.outcome == "deny" and value_at(fields, _INTERRUPT_PATH) is True:
        return replace(decision, proceed=False)
    return replace(decision, updated_output=_updated_output(fields)) if native == "PostToolUse" else decision


def _updated_output(fields: Object) -> Any:
    """The new result of a tool, in one of two keys; a text there is ignored."""
    values = (value_at(fields, (HOOK_OUTPUT_KEY, key), kind) for key, kind in _OUTPUT_KEYS)
    return next((value for value in values if value is not None), None)


def _can_deny(native: str) -> bool:
    return native in EXIT_CODE_EVENTS or bool(_SCHEMAS.get(native, _DEFAULT_SCHEMA).outcomes)


def _deny(decision: Decision, stderr: str) -> Decision:
    """Exit code 2 denies whatever the object says; a reason in the object precedes stderr."""
    reason = decision.reason if decision.outcome == "deny" else None if stderr == DEFAULT_REASON else stderr or None
    return replace(decision, outcome="deny", reason=reason, updated_input=None)


def _is_broken_json(text: str) -> bool:
    """Text with the braces of an object that is none; several objects, one per line, are plain text."""
    if not (text.startswith("{") and text.endswith("}")):
        return False
    lines = text.splitlines()
    return len(lines) == 1 or any(parse_object(line) is None for line in lines)


def _parse_plain_text(native: str, text: str) -> Decision:
    return Decision(context=text or None) if native in _PLAIN_TEXT_EVENTS else Decision()
