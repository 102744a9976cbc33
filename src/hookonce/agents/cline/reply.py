"""Replies to Cline: a JSON object on stdout, whatever the exit code; denying a call ends the run."""

from typing import Any

from hookonce.agents._reply.answer import have_type, json_reply, parse_object
from hookonce.model import Decision, Object, Reply

_BEFORE_TOOL, _AFTER_TOOL, _PROMPT = "PreToolUse", "PostToolUse", "UserPromptSubmit"
# Scripts and payloads name the events differently. At all others nobody waits for an answer.
_EVENT_NAMES = {"tool_call": _BEFORE_TOOL, "tool_result": _AFTER_TOOL, "prompt_submit": _PROMPT}
_EVENT_NAMES |= {name: name for name in (_BEFORE_TOOL, _AFTER_TOOL, _PROMPT)}
_CONTROL_PREFIX = "HOOK_CONTROL\t"  # begins a line that is the answer, among others that are a log
# Arguments that we show beside the lists they stand in; Cline looks at the lists.
_LIST_ARGUMENTS = {"command": "commands", "path": "files", "pattern": "queries", "url": "requests"}


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision in the keys that both of Cline's programs know; its editor lacks `context` and new input."""
    cancels = decision.outcome == "deny" or decision.proceed is False
    fields = {
        "cancel": True if cancels else None,
        "errorMessage": decision.reason if cancels else None,
        "contextModification": decision.context,
        "overrideInput": None if native_input is None else _drop_stale_lists(native_input),
    }
    return json_reply(fields)


def _drop_stale_lists(native_input: Object) -> Object:
    """Drop each list that differs from the argument beside it, because that argument is what a hook changed."""
    pairs = [pair for pair in _LIST_ARGUMENTS.items() if native_input.keys() >= set(pair)]
    stale = {list_name for argument, list_name in pairs if not _is_same_text(native_input, argument, list_name)}
    return {key: value for key, value in native_input.items() if key not in stale}


def _is_same_text(native_input: Object, argument: str, list_name: str) -> bool:
    entries: Any = native_input[list_name] if type(native_input[list_name]) is list else []
    texts = [entry.get(argument) if type(entry) is dict else entry for entry in entries]
    return bool("\n".join(map(str, texts)) == native_input[argument])


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a hook's reply as Cline does, which ignores exit codes; None for an invalid object."""
    event = _EVENT_NAMES.get(native)
    lines = [line for line in hook_reply.stdout.splitlines() if line.startswith(_CONTROL_PREFIX)]
    text = (lines[-1].removeprefix(_CONTROL_PREFIX) if lines else hook_reply.stdout).strip()
    if event is None or not text:
        return Decision()
    fields = parse_object(text)
    if fields is None or not have_type(fields, bool, "cancel"):
        return None
    if not have_type(fields, str, "errorMessage", "context", "contextModification"):
        return None
    return _build_decision(event, fields)


def _build_decision(event: str, fields: Object) -> Decision:
    """A message that cancels nothing becomes context, if there is no other."""
    cancels, message = fields.get("cancel") is True, fields.get("errorMessage") or None
    context = fields.get("context") or fields.get("contextModification") or None
    if cancels:
        if event == _AFTER_TOOL:
            return Decision(proceed=False, reason=message, context=context)
        return Decision(outcome="deny", reason=message, context=context)
    override = fields.get("overrideInput") if event == _BEFORE_TOOL else None
    updated_input = override if override is None or type(override) is dict else {"input": override}
    return Decision(context=context or message, updated_input=updated_input)
