"""Replies to Factory Droid: Claude Code's object whatever the exit code; codes 2 (deny) and 3 (end the run)."""

from msgspec.structs import replace

from hookonce.agents._reply import answer, hook_output
from hookonce.agents._reply.hook_output import ReplySchema, build_fields, parse_fields
from hookonce.model import Decision, Object, Reply

_STOP_EXIT_CODE = 3  # the exit code that ends the whole run
_BEFORE_TOOL, _AFTER_TOOL = "PreToolUse", "PostToolUse"
_PROMPT, _START, _STOP = "UserPromptSubmit", "SessionStart", "Stop"
# To ask changes nothing, whatever the mode.
_PERMISSION = replace(hook_output.PERMISSION, words={"allow": "allow", "deny": "deny", "ask": None})
_EMPTY_SCHEMA = ReplySchema(proceed=None, message=None, suppress=None, requires_event_name=False)
_STOPPABLE_SCHEMA = replace(_EMPTY_SCHEMA, proceed=ReplySchema().proceed)
_SCHEMAS = {
    _BEFORE_TOOL: replace(_STOPPABLE_SCHEMA, outcomes=(_PERMISSION,), input=hook_output.INPUT_PATH),
    _AFTER_TOOL: replace(_STOPPABLE_SCHEMA, context=hook_output.CONTEXT_PATH, message=ReplySchema().message),
    _PROMPT: replace(_STOPPABLE_SCHEMA, context=hook_output.CONTEXT_PATH, input=hook_output.INPUT_PATH),
    _START: replace(_EMPTY_SCHEMA, context=hook_output.CONTEXT_PATH),
    _STOP: replace(_STOPPABLE_SCHEMA, outcomes=(replace(hook_output.BLOCK, requires_reason=True),)),
}
_EXIT_CODE_ONLY_EVENTS = frozenset({_PROMPT, "PreCompact"})  # where an object cannot refuse
# Before a tool it can, but only the first object that names a permission counts, and that may be another hook's.
_EXIT_CODE_EVENTS = _EXIT_CODE_ONLY_EVENTS | {_BEFORE_TOOL}
_DENIABLE_EVENTS = _EXIT_CODE_EVENTS | {_STOP}
_UNSUPPORTED_INPUT_REASON = "a hook wants other input, and nothing but the text of the prompt can be changed here"
_PLAIN_TEXT_EVENTS = frozenset({_PROMPT, _START})  # where text that is no object is told to the model


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision as an object, except denials that only an exit code expresses reliably."""
    if native == _PROMPT and native_input is not None and type(native_input.get("prompt")) is not str:
        return answer.exit_code_denial(Decision(outcome="deny", reason=_UNSUPPORTED_INPUT_REASON))
    if decision.outcome == "deny" and decision.proceed is None and native in _EXIT_CODE_EVENTS:
        return answer.exit_code_denial(decision)
    fields = build_fields(_SCHEMAS.get(native, _EMPTY_SCHEMA), native, decision, native_input)
    return answer.json_reply(fields) if fields else Reply()


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a hook's reply as droid does: a stop precedes a denial, and a denial precedes everything else."""
    stdout_decision = _parse_stdout(native, hook_reply.stdout.strip(), hook_reply.code)
    decision = stdout_decision or Decision()
    if decision.proceed is False:
        return decision
    if hook_reply.code == _STOP_EXIT_CODE and native in _DENIABLE_EVENTS | {_AFTER_TOOL}:
        reason = hook_reply.stderr.strip()
        is_denial = native in _EXIT_CODE_ONLY_EVENTS
        return answer.parse_denial(reason) if is_denial else Decision(proceed=False, reason=reason or None)
    if decision.outcome == "deny":
        return decision
    if hook_reply.code == answer.DENY_EXIT_CODE:
        exit_decision = _exit_code_decision(native, hook_reply.stderr.strip(), decision)
        if exit_decision is not None:
            return exit_decision
    is_failure = hook_reply.code != 0 or stdout_decision is None
    return None if is_failure and decision == Decision() else decision


def _parse_stdout(native: str, text: str, code: int) -> Decision | None:
    """The object on stdout, or plain text as context; None for a broken object."""
    if not text.startswith("{"):
        return answer.text_context(native, text, _PLAIN_TEXT_EVENTS if code == 0 else ())
    fields = answer.parse_object(text)
    decision = None if fields is None else parse_fields(_SCHEMAS.get(native, _EMPTY_SCHEMA), native, fields)
    if fields is None or decision is None:
        return None
    if native == _STOP and decision.outcome == "deny" and not fields.get("reason"):
        return replace(decision, outcome=None)  # there is nothing to go on with
    return _prompt_decision(decision, fields) if native == _PROMPT else decision


def _prompt_decision(decision: Decision, fields: Object) -> Decision:
    """Before a prompt a stop is a denial, and of new input only the prompt itself counts."""
    if decision.proceed is False:
        message = fields.get("systemMessage")
        return Decision(outcome="deny", reason=decision.reason or (message if type(message) is str else None))
    prompt = (decision.updated_input or {}).get("prompt")
    return replace(decision, updated_input={"prompt": prompt} if type(prompt) is str else None)


def _exit_code_decision(native: str, reason: str, decision: Decision) -> Decision | None:
    """Exit code 2 is a denial, or after a tool context for the model; None where it means nothing."""
    if native == _AFTER_TOOL:
        return replace(decision, context="\n".join(text for text in (decision.context, reason) if text) or None)
    return answer.parse_denial(reason) if native in _DENIABLE_EVENTS and (reason or native != _STOP) else None
