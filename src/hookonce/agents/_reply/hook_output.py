"""Reply schema of the `hookSpecificOutput` protocol that Claude Code coined and other agents took over.

An agent has a table with a `ReplySchema` for each of its events. A schema has a key path for each thing that can be
said at its event; what has none is neither written nor read. Exit codes, plain text and unknown keys differ everywhere
and are left to the agent's package.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from hookonce.agents._reply import answer
from hookonce.agents._reply.answer import DEFAULT_REASON
from hookonce.model import Decision, Object, Outcome

KeyPath = tuple[str, ...]
HOOK_OUTPUT_KEY = "hookSpecificOutput"
EVENT_NAME_PATH: KeyPath = (HOOK_OUTPUT_KEY, "hookEventName")


class OutcomeField(Struct, frozen=True):
    """Field that carries an outcome: its key path, the path of its reason, and the meaning of its words."""

    outcome: KeyPath
    reason: KeyPath
    words: Mapping[str | bool, Outcome | None]
    requires_reason: bool = False

    @property
    def paths(self) -> tuple[KeyPath, KeyPath]:
        """The key paths of the outcome, and of its reason."""
        return self.outcome, self.reason


PERMISSION = OutcomeField(
    (HOOK_OUTPUT_KEY, "permissionDecision"),
    (HOOK_OUTPUT_KEY, "permissionDecisionReason"),
    {"allow": "allow", "deny": "deny", "ask": "ask"},
)
PERMISSION_REQUEST = OutcomeField(
    (HOOK_OUTPUT_KEY, "decision", "behavior"),
    (HOOK_OUTPUT_KEY, "decision", "message"),
    {"allow": "allow", "deny": "deny"},
)
NESTED_BLOCK = OutcomeField(
    (HOOK_OUTPUT_KEY, "decision"),
    (HOOK_OUTPUT_KEY, "reason"),
    {"block": "deny"},
    requires_reason=True,
)
BLOCK = OutcomeField(("decision",), ("reason",), {"block": "deny", "approve": None})
# To end the turn is the only way to refuse at some events; a shape with this way has no place to `proceed`.
CONTINUE = OutcomeField(("continue",), ("stopReason",), {False: "deny", True: None})
CONTEXT_PATH: KeyPath = (HOOK_OUTPUT_KEY, "additionalContext")
INPUT_PATH: KeyPath = (HOOK_OUTPUT_KEY, "updatedInput")
REQUEST_INPUT_PATH: KeyPath = (HOOK_OUTPUT_KEY, "decision", "updatedInput")


class ReplySchema(Struct, frozen=True):
    """Key paths of one event's reply; a path that is None does not exist there."""

    outcomes: tuple[
        OutcomeField, ...
    ] = ()  # the first with a word is written, the first whose word has a meaning counts
    context: KeyPath | None = None
    input: KeyPath | None = None
    output: KeyPath | None = None
    proceed: KeyPath | None = ("continue",)
    stop_reason: KeyPath = ("stopReason",)  # why the turn ends
    message: KeyPath | None = ("systemMessage",)
    suppress: KeyPath | None = ("suppressOutput",)
    requires_event_name: bool = True  # in the nested object
    strict: bool = True  # whether one value of a wrong type, or one unknown word, invalidates the whole reply


def build_fields(schema: ReplySchema, event: str, decision: Decision, native_input: Object | None) -> Object:
    """Build the reply object of a decision; `native_input` is the new input in the agent's own names."""
    fields: Object = {}
    if decision.proceed is False:
        _put_value(fields, schema.proceed, value=False)
        _put_value(fields, schema.stop_reason, decision.reason)
    outcome, reason = decision.outcome, decision.reason
    words = ((field, word) for field in schema.outcomes for word in field.words if field.words[word] == outcome)
    if outcome and (pair := next(words, None)):
        field, word = pair
        is_missing = reason is None or reason.strip() == ""
        _put_value(fields, field.outcome, word)
        _put_value(fields, field.reason, DEFAULT_REASON if field.requires_reason and is_missing else reason)
    _put_value(fields, schema.input, native_input)
    _put_value(fields, schema.context, decision.context)
    _put_value(fields, schema.output, decision.updated_output)
    _put_value(fields, schema.message, decision.system_message)
    _put_value(fields, schema.suppress, decision.suppress_output or None)
    if HOOK_OUTPUT_KEY in fields:
        fields[HOOK_OUTPUT_KEY] = {EVENT_NAME_PATH[-1]: event} | fields[HOOK_OUTPUT_KEY]
    return fields


def _put_value(fields: Object, path: KeyPath | None, value: Any) -> None:
    if path is None or value is None:
        return
    for key in path[:-1]:
        fields = fields.setdefault(key, {})
    fields[path[-1]] = value


def parse_fields(schema: ReplySchema, event: str, fields: Object) -> Decision | None:
    """Parse a reply object into a decision; None where the agent would reject the object."""
    if (
        schema.requires_event_name
        and fields.get(HOOK_OUTPUT_KEY) is not None
        and value_at(fields, EVENT_NAME_PATH) != event
    ) or not is_valid(schema, fields):
        return None
    outcome, reason = _parse_outcome(schema, fields)
    proceed = False if value_at(fields, schema.proceed) is False else None
    if reason is None and proceed is False:
        reason = value_at(fields, schema.stop_reason, str)
    return Decision(
        outcome=outcome,
        reason=None if reason == DEFAULT_REASON else reason or None,
        context=value_at(fields, schema.context, str) or None,
        updated_input=value_at(fields, schema.input, dict),
        updated_output=value_at(fields, schema.output),
        proceed=proceed,
        system_message=value_at(fields, schema.message, str) or None,
        suppress_output=value_at(fields, schema.suppress, bool) or None,
    )


def _parse_outcome(schema: ReplySchema, fields: Object) -> tuple[Outcome | None, str | None]:
    for field in schema.outcomes:
        word = value_at(fields, field.outcome)
        if type(word) in {str, bool} and (outcome := field.words.get(word)) is not None:
            return outcome, value_at(fields, field.reason, str)
    return None, None


def is_valid(schema: ReplySchema, fields: Object) -> bool:
    """Whether every value has its type and every word is known; always true for a schema that is not strict."""
    if not schema.strict:
        return True
    kinds: list[tuple[KeyPath | None, type]] = [(field.reason, str) for field in schema.outcomes]
    kinds += [(schema.context, str), (schema.input, dict), (schema.proceed, bool), (schema.stop_reason, str)]
    kinds += [(schema.message, str), (schema.suppress, bool), ((HOOK_OUTPUT_KEY,), dict)]
    words = [(value_at(fields, field.outcome), field.words) for field in schema.outcomes]
    return all(type(value_at(fields, path)) in {kind, type(None)} for path, kind in kinds) and all(
        word is None or (type(word) in {str, bool} and word in meanings) for word, meanings in words
    )


def value_at(fields: Object, path: KeyPath | None, expected_type: type | None = None) -> Any:
    """The value at a key path; None where it does not exist or has another type than expected."""
    value = answer.value_at(fields, path) if path else None
    return value if expected_type is None or type(value) is expected_type else None
