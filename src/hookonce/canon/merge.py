"""Merging and weakening of decisions, and the capabilities that hooks need with their default strategies.

Merging: the strictest decision wins, and nothing that was said is dropped. Weakening: what an agent cannot express
becomes the safer decision, by one rule for all agents. `input_rewrite` is a matter of safety: a hook that was to
rewrite a dangerous input must not run without being able to, so that its default strategy is to block.
"""

from collections.abc import Iterable

from hookonce.model import Decision, Json, Outcome

_STRICTNESS: dict[Outcome | None, int] = {None: 0, "allow": 1, "ask": 2, "deny": 3}

_NO_DECISION = Decision()


def merge_decisions(decisions: Iterable[Decision]) -> Decision:
    """One decision of all, texts in the order in which they were said.

    Reasons count only where they explain the outcome that won, or why the turn ends where there is none. New input of
    a later hook has seen that of an earlier one, so the last is the whole of it.
    """
    all_decisions = list(decisions)
    if not all_decisions:
        return _NO_DECISION
    outcome = max((decision.outcome for decision in all_decisions), key=_STRICTNESS.__getitem__, default=None)
    winners = [candidate for candidate in all_decisions if candidate.outcome == outcome and (outcome is not None or candidate.proceed is False)]
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
    present_values = [value for value in values if value is not None]
    return present_values[-1] if present_values else None
