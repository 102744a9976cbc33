"""Replies to Antigravity: a verdict on a tool or on stopping, or steps injected before or after a model call.

Before a tool an object without a verdict denies the call. What leaves the matter to the user's own settings is the bare
word ask, or an empty stdout: some versions deny a call for a field that they do not know.
"""

from typing import Any

from hookonce.agents._reply.answer import DEFAULT_REASON, have_type, json_reply, parse_object
from hookonce.model import Decision, Object, Outcome, Reply

_BEFORE_TOOL, _STOP, _AFTER_MODEL = "PreToolUse", "Stop", "PostInvocation"
_STEP_EVENTS = frozenset({"PreInvocation", _AFTER_MODEL, "SessionStart"})
_UNREADABLE_REASON = "a hook's answer has no verdict"
_CONTINUE, _TERMINATE = "force_continue", "terminate"
_TEXT_KEYS = ("ephemeralMessage", "userMessage")  # what a step can tell the model
# An allow grants nothing, and ask is what would happen anyway: only the forced question is always put.
_VERDICTS: dict[str, Outcome | None] = {
    "allow": None,
    "deny": "deny",
    "ask": None,
    "force_ask": "ask",
    "deny_unless_prior_grant": "deny",
}
_DECISION_WORDS = {"deny": "deny", "ask": "force_ask"}


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision as Antigravity honours it at this event, without any other field."""
    if native == _BEFORE_TOOL:
        return json_reply({"decision": _DECISION_WORDS.get(decision.outcome or ""), "reason": decision.reason})
    if native == _STOP:
        return json_reply({"decision": "continue", "reason": decision.reason or DEFAULT_REASON})
    is_denial = decision.outcome == "deny"
    texts = [decision.reason or DEFAULT_REASON] if is_denial else []
    steps = [{"ephemeralMessage": text} for text in [*texts, decision.context] if text]
    return json_reply({"injectSteps": steps, "terminationBehavior": _CONTINUE if is_denial else None})


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a hook's reply as Antigravity does; before a tool an unreadable reply is a denial."""
    text = hook_reply.stdout.strip()
    if hook_reply.code != 0:
        return Decision(outcome="deny", reason=hook_reply.stderr.strip() or None) if native == _BEFORE_TOOL else None
    if not text:
        return Decision()
    fields = parse_object(text)
    if native == _BEFORE_TOOL:
        return _parse_verdict(fields or {})
    if fields is None:
        return None
    if native == _STOP:
        return _parse_stop(fields)
    return _parse_steps(native, fields) if native in _STEP_EVENTS else Decision()


def _parse_verdict(fields: Object) -> Decision:
    word, reason, new_input = fields.get("decision"), fields.get("reason") or None, fields.get("overwrite")
    has_types = have_type(fields, str, "decision", "reason") and have_type(fields, dict, "overwrite")
    if not has_types or word not in _VERDICTS:
        return Decision(outcome="deny", reason=_UNREADABLE_REASON)
    # Who has nothing to say asks without a reason there; who gives one has a question.
    outcome = "ask" if word == "ask" and reason else _VERDICTS[word]
    new_input = None if outcome == "deny" else new_input
    return Decision(outcome=outcome, reason=reason if outcome else None, updated_input=new_input)


def _parse_stop(fields: Object) -> Decision | None:
    if not have_type(fields, str, "decision", "reason"):
        return None
    if fields.get("decision") != "continue":
        return Decision()
    reason = fields.get("reason")
    return Decision(outcome="deny", reason=None if reason == DEFAULT_REASON else reason or None)


def _parse_steps(native: str, fields: Object) -> Decision | None:
    """The first text is the reason where the agent is forced to continue."""
    steps: Any = fields.get("injectSteps") or []
    if type(steps) is not list or not have_type(fields, str, "terminationBehavior"):
        return None
    texts = [step[key] for step in steps if type(step) is dict for key in _TEXT_KEYS if type(step.get(key)) is str]
    termination = fields.get("terminationBehavior") if native == _AFTER_MODEL else None
    if termination != _CONTINUE:
        return Decision(context="\n".join(texts) or None, proceed=False if termination == _TERMINATE else None)
    reason = texts[0] if texts and texts[0] != DEFAULT_REASON else None
    return Decision(outcome="deny", reason=reason, context="\n".join(texts[1:]) or None)
