"""What a control decided and how dangerous it looked, as OCSF's security control profile says it."""

from hookonce.formats._read import given
from hookonce.model import Decision, Object, Record, Risk

# The profile's number of each level of risk; an event's severity is one more.
LEVELS = {"low": 1, "medium": 2, "high": 3, "critical": 4}
# Outcome: what the control did, and what came of it.
_ACTIONS = {
    "allow": ((1, "Allowed"), (1, "Allowed")),
    "deny": ((2, "Denied"), (2, "Blocked")),
    "ask": ((0, "Unknown"), (23, "Challenge")),
    "rewrite": ((4, "Modified"), (11, "Corrected")),
}
_DENIALS = frozenset({"policy_blocked", "permission_denied"})


def control(record: Record) -> Object:
    """The profile for what a control decided, and how dangerous it looked."""
    decision = record.decision
    outcome: str | None = None if decision is None else decision.outcome
    if decision is not None and decision.updated_input is not None and outcome != "deny":
        outcome = "rewrite"
    if outcome is None and record.event.type in _DENIALS:
        outcome = "deny"
    found = {} if outcome is None else _acted(outcome, decision)
    return found if record.risk is None else found | _risk(record.risk)


def _acted(outcome: str, decision: Decision | None) -> Object:
    (action_id, action), (disposition_id, disposition) = _ACTIONS[outcome]
    found: Object = {
        "action_id": action_id,
        "action": action,
        "disposition_id": disposition_id,
        "disposition": disposition,
    }
    if decision is not None and decision.by:
        found["policy"] = given({"name": decision.by, "desc": decision.reason})
    return found


def _risk(risk: Risk) -> Object:
    level = risk.level
    return given(
        {
            "risk_score": risk.score,
            "risk_level_id": None if level is None else LEVELS[level],
            "risk_level": None if level is None else level.capitalize(),
            "risk_details": ", ".join(risk.factors) or None,
        }
    )
