"""Several decisions on one action become one: the strictest wins, and nothing that was said is dropped."""

from collections.abc import Iterable

from hookonce.model import Decision, Json, Outcome

_STRICTNESS: dict[Outcome | None, int] = {None: 0, "allow": 1, "ask": 2, "deny": 3}

_NOTHING = Decision()


def merged(decisions: Iterable[Decision]) -> Decision:
    """One decision of all, texts in the order in which they were said.

    Reasons count only where they explain the outcome that won, or why the turn ends where there is none. New input of
    a later hook has seen that of an earlier one, so the last is the whole of it.
    """
    said = list(decisions)
    if not said:
        return _NOTHING
    outcome = max((decision.outcome for decision in said), key=_STRICTNESS.__getitem__, default=None)
    winners = [one for one in said if one.outcome == outcome and (outcome is not None or one.proceed is False)]
    return Decision(
        outcome=outcome,
        reason=_joined(decision.reason for decision in winners),
        context=_joined(decision.context for decision in said),
        updated_input=_last(decision.updated_input for decision in said),
        updated_output=_last(decision.updated_output for decision in said),
        proceed=False if any(decision.proceed is False for decision in said) else None,
        system_message=_joined(decision.system_message for decision in said),
        suppress_output=True if any(decision.suppress_output for decision in said) else None,
        by=_joined((decision.by for decision in winners), ", "),
    )


def _joined(texts: Iterable[str | None], between: str = "\n") -> str | None:
    return between.join(dict.fromkeys(text for text in texts if text)) or None


def _last(values: Iterable[Json]) -> Json:
    found = [value for value in values if value is not None]
    return found[-1] if found else None
