"""Several decisions on one action become one: the strictest wins, and nothing that was said is dropped."""

from collections.abc import Iterable

from hookonce.model import Decision, Object, Outcome

_STRICTNESS: dict[Outcome | None, int] = {None: 0, "allow": 1, "ask": 2, "deny": 3}


def stricter(one: Outcome | None, other: Outcome | None) -> Outcome | None:
    """Deny > ask > allow > no opinion."""
    return one if _STRICTNESS[one] >= _STRICTNESS[other] else other


def merged(decisions: Iterable[Decision]) -> Decision:
    """One decision of all, texts in the order in which they were said.

    Reasons count only where they explain the outcome that won. New input of a later hook has seen that of an earlier
    one, so the last is the whole of it.
    """
    said = list(decisions)
    outcome: Outcome | None = None
    for decision in said:
        outcome = stricter(outcome, decision.outcome)
    winners = [decision for decision in said if decision.outcome == outcome]
    return Decision(
        outcome=outcome,
        reason=_joined(decision.reason for decision in winners),
        context=_joined(decision.context for decision in said),
        updated_input=_last(decision.updated_input for decision in said),
        updated_output=_last_output(said),
        proceed=False if any(decision.proceed is False for decision in said) else None,
        system_message=_joined(decision.system_message for decision in said),
        suppress_output=True if any(decision.suppress_output for decision in said) else None,
        by=_joined((decision.by for decision in winners if outcome is not None), ", "),
    )


def _joined(texts: Iterable[str | None], between: str = "\n") -> str | None:
    return between.join(dict.fromkeys(text for text in texts if text)) or None


def _last(values: Iterable[Object | None]) -> Object | None:
    found = [value for value in values if value is not None]
    return found[-1] if found else None


def _last_output(said: list[Decision]) -> object:
    found = [decision.updated_output for decision in said if decision.updated_output is not None]
    return found[-1] if found else None
