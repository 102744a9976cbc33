"""What Antigravity takes for an answer: a verdict on a tool or on stopping, steps put in before or after a model call.

Before a tool an object without a verdict refuses the call, and some versions refuse it for a field that they do not
know. What leaves the matter to the user's own settings is the bare word ask, or to print nothing.
"""

from typing import Any

from hookonce.agents.replies._answer import UNSAID, answer, are, object_in
from hookonce.model import Decision, Object, Outcome, Reply

_BEFORE, _STOP, _AFTER_MODEL = "PreToolUse", "Stop", "PostInvocation"
_STEPS = frozenset({"PreInvocation", _AFTER_MODEL, "SessionStart"})
_UNREAD = "a hook's answer has no verdict"
_ON, _END = "force_continue", "terminate"
_TEXTS = ("ephemeralMessage", "userMessage")  # what a step can tell the model
# An allow grants nothing, and ask is what would happen anyway: only the forced question is always put.
_VERDICTS: dict[str, Outcome | None] = {
    "allow": None,
    "deny": "deny",
    "ask": None,
    "force_ask": "ask",
    "deny_unless_prior_grant": "deny",
}
_FORCED = {"deny": "deny", "ask": "force_ask"}


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """The decision as Antigravity honours it at this event, without a field more."""
    if native == _BEFORE:
        return answer({"decision": _FORCED.get(decision.outcome or ""), "reason": decision.reason})
    if native == _STOP:
        return answer({"decision": "continue", "reason": decision.reason or UNSAID})
    goes_on = decision.outcome == "deny"
    texts = [decision.reason or UNSAID] if goes_on else []
    steps = [{"ephemeralMessage": text} for text in [*texts, decision.context] if text]
    return answer({"injectSteps": steps, "terminationBehavior": _ON if goes_on else None})


def read_reply(native: str, said: Reply) -> Decision | None:
    """What Antigravity makes of a script's answer; before a tool whatever it cannot read is a refusal."""
    text = said.stdout.strip()
    if said.code != 0:
        return Decision(outcome="deny", reason=said.stderr.strip() or None) if native == _BEFORE else None
    if not text:
        return Decision()
    found = object_in(text)
    if native == _BEFORE:
        return _verdict(found or {})
    if found is None:
        return None
    if native == _STOP:
        return _held(found)
    return _told(native, found) if native in _STEPS else Decision()


def _verdict(found: Object) -> Decision:
    word, reason, new = found.get("decision"), found.get("reason") or None, found.get("overwrite")
    if (
        type(word) is not str
        or word not in _VERDICTS
        or not are(found, str, "reason")
        or not are(found, dict, "overwrite")
    ):
        return Decision(outcome="deny", reason=_UNREAD)
    # Who has nothing to say asks without a reason there; who gives one has a question.
    outcome = "ask" if word == "ask" and reason else _VERDICTS[word]
    return Decision(
        outcome=outcome, reason=reason if outcome else None, updated_input=None if outcome == "deny" else new
    )


def _held(found: Object) -> Decision | None:
    if not are(found, str, "decision", "reason"):
        return None
    if found.get("decision") != "continue":
        return Decision()
    reason = found.get("reason")
    return Decision(outcome="deny", reason=None if reason == UNSAID else reason or None)


def _told(native: str, found: Object) -> Decision | None:
    """The first text is the reason where the agent is made to go on."""
    steps: Any = found.get("injectSteps") or []
    if type(steps) is not list or not are(found, str, "terminationBehavior"):
        return None
    texts = [step[key] for step in steps if type(step) is dict for key in _TEXTS if type(step.get(key)) is str]
    ending = found.get("terminationBehavior") if native == _AFTER_MODEL else None
    if ending != _ON:
        return Decision(context="\n".join(texts) or None, proceed=False if ending == _END else None)
    reason = texts[0] if texts and texts[0] != UNSAID else None
    return Decision(outcome="deny", reason=reason, context="\n".join(texts[1:]) or None)
