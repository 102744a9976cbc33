"""Replies to Copilot in Visual Studio Code, by its source: Claude Code's keys, each in its own place.

A text under `stopReason` ends the turn even without `continue`. Denying a prompt means ending the turn: every version
supports that, and not every one a block.
"""

from typing import Any

from msgspec.structs import replace

from hookonce.agents._reply import hook_output
from hookonce.agents._reply.answer import DENY_EXIT_CODE, json_reply, parse_object
from hookonce.agents._reply.hook_output import ReplySchema, build_fields, parse_fields, value_at
from hookonce.model import Decision, Object, Reply

_BLOCK = replace(hook_output.BLOCK, requires_reason=True)
_LENIENT_SCHEMA = ReplySchema(suppress=None, requires_event_name=False, strict=False)
_CONTEXT_SCHEMA = replace(_LENIENT_SCHEMA, context=hook_output.CONTEXT_PATH)
_SCHEMAS = {
    "PreToolUse": replace(_CONTEXT_SCHEMA, outcomes=(hook_output.PERMISSION,), input=hook_output.INPUT_PATH),
    "PostToolUse": replace(_CONTEXT_SCHEMA, outcomes=(_BLOCK,)),
    "UserPromptSubmit": replace(_CONTEXT_SCHEMA, outcomes=(hook_output.CONTINUE, _BLOCK), proceed=None),
    "Stop": replace(_LENIENT_SCHEMA, outcomes=(hook_output.NESTED_BLOCK,)),
    "SubagentStop": replace(_LENIENT_SCHEMA, outcomes=(_BLOCK,)),
    "SessionStart": _CONTEXT_SCHEMA,
    "SubagentStart": _CONTEXT_SCHEMA,
}


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision in the place where this event has it."""
    return json_reply(build_fields(_SCHEMAS.get(native, _LENIENT_SCHEMA), native, decision, native_input))


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a hook's reply as VS Code Copilot does; None where VS Code Copilot goes on as if the hook had failed."""
    schema, stderr = _SCHEMAS.get(native, _LENIENT_SCHEMA), hook_reply.stderr.strip()
    if hook_reply.code == DENY_EXIT_CODE and schema.outcomes:
        return None if native.endswith("Stop") and not stderr else Decision(outcome="deny", reason=stderr or None)
    if hook_reply.code != 0:
        return None
    if not hook_reply.stdout.strip():
        return Decision()
    fields = parse_object(hook_reply.stdout)
    if fields is None or _is_other_event(fields.get(hook_output.EVENT_NAME_PATH[-1]), native):
        return None
    if type(fields.get("stopReason")) is str:
        fields = fields | {"continue": False}
    if _is_other_event(value_at(fields, hook_output.EVENT_NAME_PATH), native):
        fields = {key: value for key, value in fields.items() if key != hook_output.HOOK_OUTPUT_KEY}
    return parse_fields(schema, native, fields)


def _is_other_event(name: Any, native: str) -> bool:
    return type(name) is str and name != native
