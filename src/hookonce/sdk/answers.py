"""Answers that a hook may return (deny, ask, allow, context, rewrite), and their encoding.

Importing this costs nothing: the model is loaded by the first answer.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hookonce.model import Decision, Object

_KEYS = {"outcome": "decision", "proceed": "continue"}  # where the format's word is another one


def deny(reason: str) -> "Decision":
    """Refuse it; on the end of a turn: go on, because of this."""
    return _decision(outcome="deny", reason=reason)


def ask(reason: str) -> "Decision":
    """Let a person decide; agents that cannot ask anybody are told no, and how to get a yes."""
    return _decision(outcome="ask", reason=reason)


def allow(reason: str | None = None) -> "Decision":
    """Let it pass without a question; counts only for hooks that have `may_allow`, and never for a project's."""
    return _decision(outcome="allow", reason=reason)


def context(text: str) -> "Decision":
    """Tell the model something, and have no opinion."""
    return _decision(context=text)


def rewrite(new: "Object") -> "Decision":
    """Let something else be done: the whole new input, in canonical names (for a prompt `{"prompt": …}`)."""
    return _decision(updated_input=new)


def _decision(**fields: "Any") -> "Decision":
    from hookonce.model import Decision

    return Decision(**fields)


def parse_answer(value: "Any", hook_name: str) -> "Decision":
    """Parse what a hook has returned into one decision; anything else is a TypeError."""
    from hookonce.model import Decision
    from hookonce.vocabulary.decision_merge import merge_decisions

    if value is None or isinstance(value, Decision):
        return value or Decision()
    answers = list(value) if isinstance(value, (list, tuple)) else [value]
    invalid = next((answer for answer in answers if not (answer is None or isinstance(answer, Decision))), None)
    if invalid is not None:
        hint = "return nothing, or deny(…), ask(…), allow(…), context(…), rewrite(…)"
        raise TypeError(f"{hook_name} has returned {invalid!r:.60}; {hint}")
    return merge_decisions([answer for answer in answers if answer is not None])


def encode_decision(decision: "Decision") -> bytes:
    """Encode a decision in the Hook Interchange Format; no opinion is empty."""
    from hookonce.base.jsontext import dump

    names = [name for name in decision.__struct_fields__ if name != "by"]
    document = {_KEYS.get(name, name): value for name in names if (value := getattr(decision, name)) is not None}
    return dump(document) if document else b""
