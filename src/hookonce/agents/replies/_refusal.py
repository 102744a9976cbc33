"""Answers of agents that parse nothing: exit code 2 refuses, and stderr tells the model why."""

from hookonce.agents.replies._answer import UNSAID
from hookonce.model import Decision, Reply

REFUSES = 2
# A refusal has one channel only: what else the model shall know follows the reason there.
_BESIDE = "\n\nContext: "


def refusal(decision: Decision) -> Reply:
    """A refusal with its reason, and some reason where it has none: silence would let the action pass."""
    more = "" if decision.context is None else _BESIDE + decision.context
    return Reply(stderr=(decision.reason or UNSAID) + more, code=REFUSES)


def refused(text: str) -> Decision:
    """The refusal that such a text explains."""
    reason, _, context = text.strip().partition(_BESIDE)
    return Decision(outcome="deny", reason=None if reason in {"", UNSAID} else reason, context=context or None)
