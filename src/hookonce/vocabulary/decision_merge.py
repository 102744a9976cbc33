"""Merging and weakening of decisions, and the capabilities that hooks need with their default strategies.

Merging: the strictest decision wins, and nothing that was said is dropped. Weakening: what an agent cannot express
becomes the safer decision, by one rule for all agents. `input_rewrite` is a matter of safety: a hook that was to
rewrite a dangerous input must not run without being able to, so that its default strategy is to block.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from hookonce.model import Decision, Gap, Json, Object, Outcome, Point, Strategy
from hookonce.vocabulary.tools import is_field_name

_STRICTNESS: dict[Outcome | None, int] = {None: 0, "allow": 1, "ask": 2, "deny": 3}

_NO_DECISION = Decision()
_NO_DECISIONS: tuple[list[Decision], ...] = ([], [_NO_DECISION])


def merge_decisions(decisions: Iterable[Decision]) -> Decision:
    """One decision of all, texts in the order in which they were said.

    Reasons count only where they explain the outcome that won, or why the turn ends where there is none. New input of
    a later hook has seen that of an earlier one, so the last is the whole of it.
    """
    all_decisions = list(decisions)
    if all_decisions in _NO_DECISIONS:  # most calls
        return _NO_DECISION
    outcome = max((decision.outcome for decision in all_decisions), key=_STRICTNESS.__getitem__, default=None)
    winners = [item for item in all_decisions if item.outcome == outcome and (outcome or item.proceed is False)]
    return Decision(
        outcome=outcome,
        reason=_join_texts(decision.reason for decision in winners),
        context=_join_texts(decision.context for decision in all_decisions),
        updated_input=_last_value(decision.updated_input for decision in all_decisions),
        updated_output=_last_value(decision.updated_output for decision in all_decisions),
        proceed=False if any(decision.proceed is False for decision in all_decisions) else None,
        system_message=_join_texts(decision.system_message for decision in all_decisions),
        suppress_output=True if any(decision.suppress_output for decision in all_decisions) else None,
        by=_join_texts((decision.by for decision in winners), ", "),
    )


def _join_texts(texts: Iterable[str | None], between: str = "\n") -> str | None:
    return between.join(dict.fromkeys(text for text in texts if text)) or None


def _last_value(values: Iterable[Json]) -> Json:
    return next((value for value in reversed([*values]) if value is not None), None)


MAX_CONTEXT_CHARS = 10_240  # characters of injected context, unless the user says otherwise
APPROVAL_PREFIX = "needs approval: "
APPROVAL_HINT = " (a person can allow it once: run hookonce allow in a terminal)"


def weaken(
    decision: Decision, point: Point, current_input: Object | None = None, max_chars: int = MAX_CONTEXT_CHARS
) -> tuple[Decision, list[Gap]]:
    """The decision as this point can hold it, and the gaps of what was lost.

    `current_input` is the action's canonical input as the agent knows it: needed to tell whether a merge can express a
    rewrite. `max_chars` is how many characters of context the model may be told.
    """
    gaps: list[Gap] = []
    if decision == _NO_DECISION:
        return decision, gaps
    decision = _weaken_ask(decision, point, gaps)
    decision = _weaken_rewrite(decision, point, current_input or {}, gaps)
    decision = _weaken_stop(decision, point, gaps)
    decision = _weaken_outcome(decision, point, gaps)
    decision = _drop_unsupported_texts(decision, point, gaps)
    return _truncate_context(decision, max_chars, gaps), gaps


def _weaken_gap(capability: str, effect: str, note: str) -> Gap:
    return Gap(where="$.decision", capability=capability, strategy="weaken", effect=effect, note=note)


def _weaken_ask(decision: Decision, point: Point, gaps: list[Gap]) -> Decision:
    """A question that nobody would hear is a no."""
    if decision.outcome != "ask" or point.ask in {"native", "denies_headless"}:
        return decision
    gaps.append(_weaken_gap("ask", "prevents", "no person can be asked here, so the action is refused"))
    reason = f"{APPROVAL_PREFIX}{decision.reason or 'a hook wants a person to decide'}{APPROVAL_HINT}"
    return replace(decision, outcome="deny", reason=reason)


def _weaken_rewrite(decision: Decision, point: Point, current_input: Object, gaps: list[Gap]) -> Decision:
    """Input that cannot be changed as the hook wants must not go on unchanged."""
    new_input = decision.updated_input
    if new_input is None or decision.outcome == "deny":
        return replace(decision, updated_input=None) if new_input is not None else decision
    missing = current_input.keys() - new_input.keys() if point.rewrite in {"merge", "fields"} else set()
    if point.rewrite is not None and not missing:
        return decision
    if new_input == current_input:
        return replace(decision, updated_input=None)
    why = "input cannot be changed here" if point.rewrite is None else f"{_field_names(missing)} cannot be taken out"
    gaps.append(_weaken_gap("input_rewrite", "prevents", f"a hook has changed the input, and {why}"))
    return replace(decision, outcome="deny", updated_input=None, reason=f"a hook wants other input, and {why}")


def _field_names(fields: set[str]) -> str:
    """Fields by their names; who has none is not told, for a key may be anybody's text."""
    return ", ".join(sorted({name if is_field_name(name) else "a field without a name" for name in fields}))


def _weaken_stop(decision: Decision, point: Point, gaps: list[Gap]) -> Decision:
    """Ending the turn, where an agent cannot, is at least a no to this action; one that wants to stop is let go."""
    if decision.proceed is False and "retry" in point.capabilities:
        decision = replace(decision, outcome=None, by=None)
        return decision if "stop" in point.capabilities else replace(decision, proceed=None, reason=None)
    if decision.proceed is not False or "stop" in point.capabilities:
        return decision
    gaps.append(_weaken_gap("continue", "prevents", "the turn cannot be ended here; the action is refused"))
    reason = decision.reason or "a hook has ended the turn"
    return replace(decision, proceed=None, outcome="deny", reason=reason, updated_input=None)


def _weaken_outcome(decision: Decision, point: Point, gaps: list[Gap]) -> Decision:
    """A refusal that nobody heeds is told to the model, if it can be told anything; an allow is dropped."""
    if decision.outcome == "allow" and "allow" not in point.capabilities:
        gaps.append(_weaken_gap("allow", "observes", "nothing can be allowed here; the agent asks as usual"))
        return replace(decision, outcome=None, reason=None, by=None)
    if decision.outcome != "deny" or point.capabilities & {"prevent", "retry"}:
        return decision
    accepts_context = "context" in point.capabilities
    gaps.append(_weaken_gap("blocking", "later" if accepts_context else "observes", "nothing can be refused here"))
    context = "\n".join(text for text in (decision.reason, decision.context) if text) if accepts_context else None
    return replace(decision, outcome=None, reason=None, context=context or None, updated_input=None)


def _drop_unsupported_texts(decision: Decision, point: Point, gaps: list[Gap]) -> Decision:
    """Texts and output that the agent has no ear for are left out, by name."""
    if decision.context is not None and "context" not in point.capabilities:
        gaps.append(_weaken_gap("context", "lost", "text for the model is not possible at this event"))
        decision = replace(decision, context=None)
    if decision.updated_output is not None and "output" not in point.capabilities:
        gaps.append(_weaken_gap("output_rewrite", "observes", "a tool's output cannot be changed here"))
        decision = replace(decision, updated_output=None)
    if decision.system_message is not None and "message" not in point.capabilities:
        gaps.append(_weaken_gap("system_message", "lost", "text for the user is not possible at this event"))
        decision = replace(decision, system_message=None)
    if decision.suppress_output and (obstacle := _suppress_obstacle(decision, point)) is not None:
        gaps.append(_weaken_gap("suppress_output", "lost", obstacle))
        decision = replace(decision, suppress_output=None)
    return decision


def _suppress_obstacle(decision: Decision, point: Point) -> str | None:
    """Why output cannot be hidden; None where it can. Some agents hide what the user is told along with it."""
    if "suppress" not in point.capabilities:
        return "output is shown here all the same"
    is_user_told = decision.outcome is not None or decision.system_message is not None
    if is_user_told and "hides_messages" in point.capabilities:
        return "output is shown here all the same, because messages to the user would be hidden with it"
    return None


def _truncate_context(decision: Decision, max_chars: int, gaps: list[Gap]) -> Decision:
    """What the model is told costs the user tokens at every turn: too long a text ends early."""
    if decision.context is None or len(decision.context) <= max_chars:
        return decision
    note = f"context was cut at {max_chars} of {len(decision.context)} characters"
    gaps.append(_weaken_gap("context", "later", note))
    return replace(decision, context=decision.context[:max_chars])


CAPABILITIES: dict[str, Strategy] = {
    "structured_output": "warn",
    "input_rewrite": "block",
    "llm_evaluated": "exclude",
    "http_handler": "warn",
    "async_execution": "warn",
    "platform_commands": "warn",
    "custom_env": "warn",
    "configurable_cwd": "warn",
}

# The capabilities that speak of a hook's answer: naming one in `degradation` shows that the hook gives one.
OUTPUT_CAPABILITIES = frozenset({"structured_output", "input_rewrite"})
