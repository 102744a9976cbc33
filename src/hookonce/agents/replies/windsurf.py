"""What Cascade takes for an answer: exit code 2 before an action, and nothing else."""

from hookonce.agents.replies._refusal import REFUSES, refusal, refused
from hookonce.model import Decision, Object, Reply

_BEFORE = "pre_"  # how the events begin that wait for an answer


def reply(native: str, decision: Decision, given: Object | None) -> Reply:
    """A refusal; whatever else a decision says, Cascade has no words for it."""
    return refusal(decision) if decision.outcome == "deny" else Reply()


def read_reply(native: str, said: Reply) -> Decision | None:
    """What Cascade makes of an exit code; what is printed is shown to the user at most."""
    if native.startswith(_BEFORE) and said.code == REFUSES:
        return refused(said.stderr)
    return Decision() if said.code == 0 else None
