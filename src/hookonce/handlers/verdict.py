"""Verdict of a hook's run: exit code and answer become a decision; and the result that every handler returns."""

from msgspec import Struct
from msgspec.structs import replace

from hookonce.handlers.operation import OperationResult
from hookonce.model import Decision, Gap, Hook, Usage
from hookonce.vocabulary.names import hook_label

BLOCK = 2  # the exit code that refuses
NOT_BLOCKING = "exit code 2, but the hook is not blocking"  # the failure of a hook that would refuse and may not
NONE = Decision()


class Verdict(Struct, frozen=True):
    """A decision, why the hook failed if it did, and what of its answer did not count."""

    decision: Decision
    failure: str | None = None
    gaps: tuple[Gap, ...] = ()


class Rights(Struct, frozen=True):
    """What of an answer counts: whether the hook may allow; and, if it may not block, whether it only looks on."""

    may_allow: bool = False
    strict: bool = False


def verdict(
    hook: Hook, result: OperationResult, answer: Decision | None, rights: Rights, *, has_own_exit_codes: bool = False
) -> Verdict:
    """The verdict of one run; `answer` is the decision in the hook's dialect, None if the output is no answer."""
    hook_name = hook.name or hook.event
    # With exit codes of its own, the dialect is an agent's, whose reading of them is in `answer` already.
    if result.failure == "timeout":
        return _judge_timeout(hook, hook_name)
    if result.code == BLOCK and not (has_own_exit_codes and hook.blocking):
        return _judge_block(hook, hook_name, result, answer or NONE)
    if answer is None or (result.code != 0 and not (has_own_exit_codes and hook.blocking)):
        return _judge_failure(hook, hook_name, result)
    return _apply_rights(hook, hook_name, answer, rights)


def _apply_rights(hook: Hook, hook_name: str, answer: Decision, rights: Rights) -> Verdict:
    decision = replace(answer, by=hook_name if answer.outcome else None)
    if rights.strict and not hook.blocking:
        decision = replace(decision, outcome=None, reason=None, updated_input=None, proceed=None, by=None)
        has_loss = decision != replace(answer, by=None)
        gap = answer_gap("blocking", f"{hook_name} is not blocking: its decision is ignored")
        return Verdict(decision, None, (gap,) if has_loss else ())
    if decision.outcome == "allow" and not rights.may_allow:
        gap = answer_gap("may_allow", f"{hook_name} has no may_allow: its allow is ignored")
        return Verdict(replace(decision, outcome=None, reason=None, by=None), None, (gap,))
    return Verdict(decision)


def answer_gap(capability: str, note: str) -> Gap:
    """Gap: a part of an answer that does not count."""
    return Gap(where="$.decision", capability=capability, strategy="exclude", effect="observes", note=note)


def _judge_timeout(hook: Hook, hook_name: str) -> Verdict:
    fails_closed = hook.on_failure == "closed" and hook.handler.timeout_action is None
    if hook.blocking and (hook.handler.timeout_action == "block" or fails_closed):
        return Verdict(_deny(hook_name, f"the hook {hook_label(hook)} did not answer in time"), "timeout")
    return Verdict(NONE, "timeout")


def _judge_block(hook: Hook, hook_name: str, result: OperationResult, answer: Decision) -> Verdict:
    if not hook.blocking:
        return Verdict(NONE, NOT_BLOCKING)
    reason = result.stderr.decode(errors="replace").strip() or answer.reason or f"refused by the hook {hook_name}"
    return Verdict(
        replace(answer, outcome="deny", reason=reason, updated_input=None, updated_output=None, by=hook_name)
    )


def _judge_failure(hook: Hook, hook_name: str, result: OperationResult) -> Verdict:
    failure = result.failure or (f"exit code {result.code}" if result.code else "its output is not a valid answer")
    if hook.must_answer:
        reason = f"the hook {hook_label(hook)} failed ({failure}), and on_failure is closed"
        return Verdict(_deny(hook_name, reason), failure)
    return Verdict(NONE, failure)


def _deny(hook_name: str, reason: str) -> Decision:
    return Decision(outcome="deny", reason=reason, by=hook_name)


class HandlerResult(Struct, frozen=True, kw_only=True):
    """Result of a handler: the operation's result, the decision (None if there is no answer), and the model's usage."""

    result: OperationResult
    decision: Decision | None
    model: str | None = None
    usage: Usage | None = None
    gaps: list[Gap] = []
