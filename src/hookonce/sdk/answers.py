"""What a hook may say: nothing, or one of these; several of them may be given together."""

from collections.abc import Iterable
from typing import Any

from hookonce.canon.merge import merged
from hookonce.model import Decision, Object
from hookonce.texts import dump

Answer = Decision | Iterable[Decision] | None
_KEYS = {
    "outcome": "decision",
    "reason": "reason",
    "context": "context",
    "updated_input": "updated_input",
    "updated_output": "updated_output",
    "proceed": "continue",
    "system_message": "system_message",
    "suppress_output": "suppress_output",
}


def deny(reason: str) -> Decision:
    """Refuse it; on the end of a turn: go on, because of this."""
    return Decision(outcome="deny", reason=reason)


def ask(reason: str) -> Decision:
    """Let a person decide; agents that cannot ask anybody are told no, and how to get a yes."""
    return Decision(outcome="ask", reason=reason)


def allow(reason: str | None = None) -> Decision:
    """Let it pass without a question; counts only for hooks that have `may_allow`, and never for a project's."""
    return Decision(outcome="allow", reason=reason)


def context(text: str) -> Decision:
    """Tell the model something, and have no opinion."""
    return Decision(context=text)


def rewrite(new: Object) -> Decision:
    """Let something else be done: the whole new input, in canonical names (for a prompt `{"prompt": …}`)."""
    return Decision(updated_input=new)


def said(value: Any, by: str) -> Decision:
    """What a hook has returned, as one decision; anything else than an answer is the hook's mistake."""
    if value is None or isinstance(value, Decision):
        return value or Decision()
    found = list(value) if isinstance(value, (list, tuple)) else [value]
    wrong = next((one for one in found if not (one is None or isinstance(one, Decision))), None)
    if wrong is not None:
        told = "return nothing, or deny(…), ask(…), allow(…), context(…), rewrite(…)"
        raise TypeError(f"{by} has returned {wrong!r:.60}; {told}")
    return merged([one for one in found if one is not None])


def written(decision: Decision) -> bytes:
    """A decision as the Hook Interchange Format has it; no opinion is nothing at all."""
    fields = {key: getattr(decision, name) for name, key in _KEYS.items()}
    found = {key: value for key, value in fields.items() if value is not None}
    return dump(found) if found else b""
