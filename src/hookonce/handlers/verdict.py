"""What a hook's run says: exit code and answer become a decision, row by row as our table has it."""

from typing import NamedTuple

from msgspec.structs import replace

from hookonce.handlers.errand import Ran
from hookonce.model import Decision, Gap, Hook

BLOCK = 2  # the exit code that refuses
NONE = Decision()


class Verdict(NamedTuple):
    """A decision, why the hook failed if it did, and what of its answer did not count."""

    decision: Decision
    failure: str | None = None
    gaps: tuple[Gap, ...] = ()


class Rights(NamedTuple):
    """What of an answer counts: whether the hook may allow; and, if it may not block, whether it only looks on."""

    may_allow: bool = False
    strict: bool = False


def verdict(hook: Hook, ran: Ran, spoken: Decision | None, rights: Rights, *, codes_told: bool = False) -> Verdict:
    """The verdict of one run; `spoken` is what the answer says in the hook's dialect, None if it is no answer.

    `codes_told`: the dialect is an agent's, whose own reading of exit codes is in what was spoken already.
    """
    who = hook.name or hook.event
    if ran.failure == "timeout":
        return _late(hook, who)
    if ran.code == BLOCK and not (codes_told and hook.blocking):
        return _exit_two(hook, who, ran, spoken or NONE)
    if spoken is None or (ran.code != 0 and not (codes_told and hook.blocking)):
        return _failed(hook, who, ran)
    return _counted(hook, who, spoken, rights)


def _counted(hook: Hook, who: str, spoken: Decision, rights: Rights) -> Verdict:
    decision = replace(spoken, by=who if spoken.outcome else None)
    if rights.strict and not hook.blocking:
        decision = replace(decision, outcome=None, reason=None, updated_input=None, proceed=None, by=None)
        lost = decision != replace(spoken, by=None)
        return Verdict(decision, None, (_gap("blocking", f"{who} may only look on"),) if lost else ())
    if decision.outcome == "allow" and not rights.may_allow:
        gap = _gap("may_allow", f"{who} has no right to allow")
        return Verdict(replace(decision, outcome=None, reason=None, by=None), None, (gap,))
    return Verdict(decision)


def _gap(capability: str, note: str) -> Gap:
    return Gap(where="$.decision", capability=capability, strategy="exclude", effect="observes", note=note)


def _late(hook: Hook, who: str) -> Verdict:
    closed = hook.on_failure == "closed" and hook.handler.timeout_action is None
    if hook.blocking and (hook.handler.timeout_action == "block" or closed):
        return Verdict(_denied(who, f"the hook {who} did not answer in time"), "timeout")
    return Verdict(NONE, "timeout")


def _exit_two(hook: Hook, who: str, ran: Ran, spoken: Decision) -> Verdict:
    """A refusal, whatever the answer says; what it tells besides is kept."""
    if not hook.blocking:
        return Verdict(NONE, "exit code 2 of a hook that may not block")
    reason = ran.stderr.decode(errors="replace").strip() or spoken.reason or f"refused by the hook {who}"
    return Verdict(replace(spoken, outcome="deny", reason=reason, updated_input=None, updated_output=None, by=who))


def _failed(hook: Hook, who: str, ran: Ran) -> Verdict:
    failure = ran.failure or (f"exit code {ran.code}" if ran.code else "the answer is no answer")
    if hook.on_failure == "closed" and hook.blocking:
        return Verdict(_denied(who, f"the hook {who} failed ({failure}), and is there to be asked"), failure)
    return Verdict(NONE, failure)


def _denied(who: str, reason: str) -> Decision:
    return Decision(outcome="deny", reason=reason, by=who)
