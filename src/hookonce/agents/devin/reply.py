"""Replies to Devin, by its documentation: a decision at the top level, and exit code 2 for a denial."""

from msgspec.structs import replace

from hookonce.agents._reply.answer import DENY_EXIT_CODE, json_reply, parse_object
from hookonce.agents._reply.hook_output import CONTEXT_PATH, OutcomeField, ReplySchema, build_fields, parse_fields
from hookonce.model import Decision, Object, Reply

_PERMISSION_OUTCOME = OutcomeField(("decision",), ("reason",), {"block": "deny", "deny": "deny", "approve": "allow"})
_DENY_OUTCOME = replace(
    _PERMISSION_OUTCOME, words={"block": "deny", "deny": "deny", "approve": None}, requires_reason=True
)
_EMPTY_SCHEMA = ReplySchema(proceed=None, message=None, suppress=None, requires_event_name=False, strict=False)
_SCHEMAS = dict.fromkeys(
    ("PreToolUse", "UserPromptSubmit", "Stop"), replace(_EMPTY_SCHEMA, outcomes=(_DENY_OUTCOME,))
) | {
    "PermissionRequest": replace(_EMPTY_SCHEMA, outcomes=(_PERMISSION_OUTCOME,)),
    "PostToolUse": replace(_EMPTY_SCHEMA, context=CONTEXT_PATH),
}


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision in the keys of Devin's documentation; new input has no place there."""
    return json_reply(build_fields(_SCHEMAS.get(native, _EMPTY_SCHEMA), native, decision, native_input))


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a hook's reply as documented: any exit code but 0 and 2 is an error that stops nothing."""
    schema = _SCHEMAS.get(native, _EMPTY_SCHEMA)
    if hook_reply.code == DENY_EXIT_CODE and schema.outcomes:
        return Decision(outcome="deny", reason=hook_reply.stderr.strip() or None)
    if hook_reply.code != 0:
        return None
    if not hook_reply.stdout.strip().startswith("{"):
        return Decision()
    fields = parse_object(hook_reply.stdout)
    return None if fields is None else parse_fields(schema, native, fields)
