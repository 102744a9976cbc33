"""Answers of agents that parse nothing: exit code 2 refuses, and stderr tells the model why."""

from hookonce.agents.replies._answer import DEFAULT_REASON
from hookonce.model import Decision, Reply

DENY_EXIT_CODE = 2
# A refusal has one channel only: what else the model shall know follows the reason there.
_CONTEXT_SEPARATOR = "\n\nContext: "


def exit_code_denial(decision: Decision) -> Reply:
    """Deny by exit code 2; with a default reason if there is none: an empty stderr would let the action pass."""
    context_text = "" if decision.context is None else _CONTEXT_SEPARATOR + decision.context
    return Reply(stderr=(decision.reason or DEFAULT_REASON) + context_text, code=DENY_EXIT_CODE)


def parse_denial(text: str) -> Decision:
    """Parse the stderr text of a denial: reason and context."""
    reason, _, context = text.strip().partition(_CONTEXT_SEPARATOR)
    return Decision(outcome="deny", reason=None if reason in {"", DEFAULT_REASON} else reason, context=context or None)
