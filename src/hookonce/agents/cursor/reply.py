"""Replies to Cursor: one flat object, in which each event has its own few fields."""

from itertools import islice

from hookonce.agents._reply.answer import DEFAULT_REASON, DENY_EXIT_CODE, json_reply, parse_object
from hookonce.model import Decision, Json, Object, Outcome, Reply

_MAX_OBJECT_STARTS = 200  # beginnings of objects that are tried, from the end, behind text that is none
_UNREADABLE_REASON = "a hook's answer could not be read"
# The fields that are heard at an event; at an event that is not here, none is.
_EVENT_FIELDS = {
    "preToolUse": ("permission", "user_message", "agent_message", "updated_input", "additional_context"),
    "beforeShellExecution": ("permission", "user_message", "agent_message"),
    "beforeMCPExecution": ("permission", "user_message", "agent_message"),
    "beforeReadFile": ("permission", "user_message"),
    "beforeTabFileRead": ("permission", "user_message"),
    "subagentStart": ("permission", "user_message"),
    "beforeSubmitPrompt": ("continue", "user_message", "additional_context"),
    "sessionStart": ("continue", "user_message", "additional_context"),
    "postToolUse": ("additional_context", "updated_mcp_tool_output"),
    "postToolUseFailure": ("additional_context",),
    "stop": ("followup_message",),
    "subagentStop": ("followup_message",),
    "preCompact": ("user_message",),
}
_FIELD_TYPES: dict[str, type] = {"continue": bool, "updated_input": dict}  # all others are texts
_OUTPUT_FIELD = "updated_mcp_tool_output"
# An allow spares nobody Cursor's own question. A question is kept as one, heard or not.
_PERMISSION_OUTCOMES: dict[Json, Outcome | None] = {"allow": None, "deny": "deny", "ask": "ask"}
_NO_ASK_EVENTS = frozenset({"beforeReadFile", "beforeTabFileRead"})
_WRITE_ARGUMENTS = frozenset({"file_path", "content"})


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision as Cursor honours it at this event."""
    if native_input is not None and native_input.keys() >= _WRITE_ARGUMENTS:
        # Cursor would write the old content to the new path; nothing tells here which of them a hook has changed.
        decision = Decision(outcome="deny", reason="a hook wants other input, and what Cursor writes cannot be changed")
        native_input = None
    fields = {"user_message": decision.system_message, "updated_input": native_input}
    return json_reply(fields | {"additional_context": decision.context} | _decision_fields(native, decision))


def _decision_fields(native: str, decision: Decision) -> Object:
    event_fields, reason = _EVENT_FIELDS.get(native, ()), decision.reason
    if decision.outcome is None:
        return {}
    if "followup_message" in event_fields:
        return {"followup_message": reason or DEFAULT_REASON}  # it is the next prompt
    if "continue" in event_fields:
        return {"continue": False, "user_message": reason}
    message_fields = {key: reason for key in ("user_message", "agent_message") if key in event_fields}
    return {"permission": decision.outcome} | message_fields


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a hook's reply as Cursor does; an empty stdout is no opinion."""
    event_fields, text = _EVENT_FIELDS.get(native, ()), hook_reply.stdout.strip()
    if hook_reply.code == DENY_EXIT_CODE:
        can_deny = "permission" in event_fields or "continue" in event_fields
        return Decision(outcome="deny", reason=text or hook_reply.stderr.strip() or None) if can_deny else Decision()
    if hook_reply.code != 0:
        return None
    if not text:
        return Decision()
    fields = _parse_trailing_object(text)
    if fields is None or not _is_valid(native, fields):
        return Decision(outcome="deny", reason=_UNREADABLE_REASON) if "permission" in event_fields else None
    return _build_decision(native, _normalize_fields(event_fields, fields))


def _parse_trailing_object(text: str) -> Object | None:
    """The object that a text is, or that it ends with: a log may precede it."""
    fields = parse_object(text)
    if fields is not None or not text.endswith("}"):
        return fields
    suffixes = (text[start:] for start in reversed(range(len(text))) if text[start] == "{")
    objects = map(parse_object, islice(suffixes, _MAX_OBJECT_STARTS))
    return next((fields for fields in objects if fields is not None), None)


def _is_valid(native: str, fields: Object) -> bool:
    keys = [key for key in _EVENT_FIELDS.get(native, ()) if key != _OUTPUT_FIELD]
    values = {key: fields[key] for key in keys if fields.get(key) is not None}
    if any(type(value) is not _FIELD_TYPES.get(key, str) for key, value in values.items()):
        return False
    word = values.get("permission")
    return word is None or (word in _PERMISSION_OUTCOMES and not (word == "ask" and native in _NO_ASK_EVENTS))


def _normalize_fields(event_fields: tuple[str, ...], raw_fields: Object) -> Object:
    """The fields of this event, also under two of Claude Code's keys."""
    fields = {key: raw_fields[key] for key in event_fields if raw_fields.get(key) not in (None, "")}
    text, reason = raw_fields.get("additionalContext"), raw_fields.get("reason")
    if "additional_context" in event_fields and type(text) is str and text:
        fields.setdefault("additional_context", text)
    if "followup_message" in event_fields and raw_fields.get("decision") == "block" and type(reason) is str and reason:
        fields.setdefault("followup_message", reason)
    return fields


def _build_decision(native: str, fields: Object) -> Decision:
    """The user's message is the reason, unless the model gets another one."""
    user_message, agent_message, next_prompt = map(fields.get, ("user_message", "agent_message", "followup_message"))
    outcome: Outcome | None = _PERMISSION_OUTCOMES.get(fields.get("permission"))
    if fields.get("continue") is False or next_prompt:
        outcome = "deny"
    reason = (agent_message or user_message or next_prompt) if outcome else None
    is_separate_message = user_message != reason and (outcome is not None or native == "preCompact")
    return Decision(
        outcome=outcome,
        reason=None if reason == DEFAULT_REASON else reason,
        context=fields.get("additional_context"),
        updated_input=fields.get("updated_input") if outcome != "deny" else None,
        updated_output=fields.get(_OUTPUT_FIELD),
        system_message=user_message if is_separate_message else None,
    )
