"""Replies to Windsurf Cascade: exit code 2 before an action, and nothing else."""

from hookonce.agents._reply.answer import DENY_EXIT_CODE, exit_code_denial, parse_denial
from hookonce.model import Decision, Object, Reply

_BEFORE_PREFIX = "pre_"  # how the events begin that wait for an answer


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write a denial; Cascade supports nothing else of a decision."""
    return exit_code_denial(decision) if decision.outcome == "deny" else Reply()


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse the exit code as Cascade does; stdout is shown to the user at most."""
    if native.startswith(_BEFORE_PREFIX) and hook_reply.code == DENY_EXIT_CODE:
        return parse_denial(hook_reply.stderr)
    return Decision() if hook_reply.code == 0 else None
