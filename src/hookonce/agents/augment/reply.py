"""Replies to Auggie: Claude Code's object, with the decision on stopping nested as well."""

from msgspec.structs import replace

from hookonce.agents._reply import hook_output
from hookonce.agents._reply.answer import DENY_EXIT_CODE, json_reply, parse_object
from hookonce.agents._reply.hook_output import ReplySchema, build_fields, parse_fields
from hookonce.model import Decision, Object, Reply

# Auggie knows the word allow and grants nothing for it.
_PERMISSION = replace(hook_output.PERMISSION, words={"deny": "deny", "ask": "ask", "allow": None})
_SCHEMAS = {
    "PreToolUse": ReplySchema((_PERMISSION,), input=hook_output.INPUT_PATH),
    "PostToolUse": ReplySchema((hook_output.NESTED_BLOCK,), context=hook_output.CONTEXT_PATH),
    "SessionStart": ReplySchema(context=hook_output.CONTEXT_PATH),
    "SessionEnd": ReplySchema(),
    "Stop": ReplySchema((hook_output.NESTED_BLOCK,)),
    "Notification": ReplySchema(),
}
_DENIABLE_EVENT = "PreToolUse"
_STDERR_CONTEXT_EVENTS = frozenset({"PostToolUse", "Stop"})  # what a hook complains of on stderr, the model is told


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision as Auggie honours it at this event."""
    return json_reply(build_fields(_SCHEMAS[native], native, decision, native_input))


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a hook's reply as Auggie does; at an event without a schema stdout is ignored."""
    schema = _SCHEMAS.get(native)
    if schema is None:
        return Decision()
    if hook_reply.code == DENY_EXIT_CODE:
        return _parse_stderr(native, hook_reply.stderr.strip() or None)
    if hook_reply.code != 0:
        return None
    fields = parse_object(hook_reply.stdout)
    if fields is None:
        return Decision(context=hook_reply.stdout.strip() or None) if native == "SessionStart" else Decision()
    decision, text = parse_fields(schema, native, fields), fields.get("additionalContext")
    if decision is None or text is None or decision.context is not None:
        return decision
    return replace(decision, context=text or None) if type(text) is str else None


def _parse_stderr(native: str, text: str | None) -> Decision | None:
    if native == _DENIABLE_EVENT:
        return Decision(outcome="deny", reason=text)
    return Decision(context=text) if native in _STDERR_CONTEXT_EVENTS else None
