"""Replies to Codex: only the fields that it knows at this event, or exit code 2 with a text.

A field that Codex cannot honour makes it reject the whole reply and go on. Input is changed only beside the word allow,
which grants nothing: whoever must approve is asked all the same.
"""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from hookonce.agents._reply import hook_output
from hookonce.agents._reply.answer import DENY_EXIT_CODE, json_reply, parse_object
from hookonce.agents._reply.hook_output import KeyPath, OutcomeField, ReplySchema, build_fields, parse_fields, value_at
from hookonce.model import Decision, Object, Reply

_PERMISSION = replace(hook_output.PERMISSION, words={"deny": "deny", "allow": None}, requires_reason=True)
_BLOCK = replace(hook_output.BLOCK, words={"block": "deny"}, requires_reason=True)
_STOP_SCHEMA = ReplySchema((_BLOCK,), suppress=None)
_PLAIN_SCHEMA = ReplySchema(proceed=None, suppress=None)
_CONTEXT_SCHEMA = replace(_PLAIN_SCHEMA, context=hook_output.CONTEXT_PATH)
_COMPACT_SCHEMA = replace(_PLAIN_SCHEMA, outcomes=(hook_output.CONTINUE,))
_SCHEMAS = {
    "PreToolUse": replace(_CONTEXT_SCHEMA, outcomes=(_PERMISSION, _BLOCK), input=hook_output.INPUT_PATH),
    "PermissionRequest": replace(_PLAIN_SCHEMA, outcomes=(hook_output.PERMISSION_REQUEST,)),
    "PostToolUse": replace(_CONTEXT_SCHEMA, outcomes=(_BLOCK, hook_output.CONTINUE)),
    "UserPromptSubmit": ReplySchema((_BLOCK,), hook_output.CONTEXT_PATH, suppress=None),
    "SessionStart": replace(_CONTEXT_SCHEMA, outcomes=(hook_output.CONTINUE,)),
    "SubagentStart": _CONTEXT_SCHEMA,
    "Stop": _STOP_SCHEMA,
    "SubagentStop": _STOP_SCHEMA,
    "PreCompact": _COMPACT_SCHEMA,
    "PostCompact": _COMPACT_SCHEMA,
    "Interrupt": _PLAIN_SCHEMA,
}
_MESSAGE_PATH: KeyPath = ("systemMessage",)
_COMMON_PATHS: frozenset[KeyPath] = frozenset({("continue",), ("stopReason",), ("suppressOutput",), _MESSAGE_PATH})
_DECISION_PATHS = frozenset(_BLOCK.paths)
_CONTEXT_PATHS: frozenset[KeyPath] = frozenset({hook_output.EVENT_NAME_PATH, hook_output.CONTEXT_PATH})
# What may be said; a field that Codex knows and cannot do costs the whole answer like one that it does not know.
_ALLOWED_PATHS: dict[str, frozenset[KeyPath]] = {
    "PreToolUse": _DECISION_PATHS | _CONTEXT_PATHS | {_MESSAGE_PATH, *_PERMISSION.paths, hook_output.INPUT_PATH},
    "PermissionRequest": frozenset(
        {
            _MESSAGE_PATH,
            hook_output.EVENT_NAME_PATH,
            *hook_output.PERMISSION_REQUEST.paths,
        }
    ),
    "PostToolUse": (_COMMON_PATHS | _DECISION_PATHS | _CONTEXT_PATHS) - {("suppressOutput",)},
    "UserPromptSubmit": _COMMON_PATHS | _DECISION_PATHS | _CONTEXT_PATHS,
    **dict.fromkeys(("SessionStart", "SubagentStart"), _COMMON_PATHS | _CONTEXT_PATHS),
    **dict.fromkeys(("Stop", "SubagentStop"), _COMMON_PATHS | _DECISION_PATHS),
    **dict.fromkeys(("PreCompact", "PostCompact"), _COMMON_PATHS),
    "Interrupt": frozenset({_MESSAGE_PATH}),
}
_NEUTRAL_VALUES: dict[KeyPath, bool] = {
    ("continue",): True,
    ("suppressOutput",): False,
    (hook_output.HOOK_OUTPUT_KEY, "decision", "interrupt"): False,
}
_PLAIN_TEXT_EVENTS = frozenset({"SessionStart", "SubagentStart", "UserPromptSubmit"})  # plain text is told to the model
_JSON_ONLY_EVENTS = frozenset({"Stop", "SubagentStop", "Interrupt"})  # plain text is an error
_DENIABLE_EVENTS = ("PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop")


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision as Codex honours it at this event."""
    fields = build_fields(_SCHEMAS.get(native, ReplySchema()), native, decision, native_input)
    if native == "PreToolUse" and native_input is not None:  # a refusal has no new input beside it
        fields[hook_output.HOOK_OUTPUT_KEY][_PERMISSION.outcome[-1]] = "allow"
    return json_reply(fields)


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a hook's reply as Codex does; None where Codex goes on as if the hook had failed."""
    text, stderr = hook_reply.stdout.strip(), hook_reply.stderr.strip()
    if hook_reply.code == DENY_EXIT_CODE:
        return Decision(outcome="deny", reason=stderr) if stderr and native in _DENIABLE_EVENTS else None
    if hook_reply.code != 0:
        return None
    if not text or native not in _SCHEMAS:
        return Decision()
    if not text.startswith(("{", "[")):
        return None if native in _JSON_ONLY_EVENTS else Decision(context=text if native in _PLAIN_TEXT_EVENTS else None)
    fields = parse_object(text)
    if fields is None:
        return None
    paths = {path for path, value in _leaf_values(fields) if _NEUTRAL_VALUES.get(path) is not value or value is None}
    return _build_decision(native, fields) if paths <= _ALLOWED_PATHS[native] else None


def _build_decision(native: str, fields: Object) -> Decision | None:
    schema = _SCHEMAS[native]
    if any(field.requires_reason and not _has_matching_reason(field, fields) for field in schema.outcomes):
        return None
    allows = value_at(fields, _PERMISSION.outcome) == "allow"
    if native == "PreToolUse" and allows != (value_at(fields, hook_output.INPUT_PATH) is not None):
        return None
    return parse_fields(schema, native, fields)


def _leaf_values(fields: Object, parent: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Every value with its key path, down to where a reply's fields end."""
    for key, value in fields.items():
        path = (*parent, key)
        if type(value) is dict and path in {(hook_output.HOOK_OUTPUT_KEY,), (hook_output.HOOK_OUTPUT_KEY, "decision")}:
            yield from _leaf_values(value, path)
        else:
            yield path, value


def _has_matching_reason(field: OutcomeField, fields: Object) -> bool:
    """A denial without a reason is an error, and so is a reason without a denial."""
    word, reason = value_at(fields, field.outcome), value_at(fields, field.reason)
    if word is None:
        return reason is None
    outcome = field.words.get(word) if type(word) is str else None
    return outcome is None or bool(type(reason) is str and reason.strip())
