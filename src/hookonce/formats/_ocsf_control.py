"""What a control decided and how dangerous it looked, as OCSF's security control profile says it."""

from hookonce.formats._read import drop_none
from hookonce.model import Decision, Object, Record, Risk

# The profile's number of each level of risk; an event's severity is one more.
RISK_LEVEL_IDS = {"low": 1, "medium": 2, "high": 3, "critical": 4}
# Outcome: what the control did, and what came of it.
_ACTIONS = {
    "allow": ((1, "Allowed"), (1, "Allowed")),
    "deny": ((2, "Denied"), (2, "Blocked")),
    "ask": ((0, "Unknown"), (23, "Challenge")),
    "rewrite": ((4, "Modified"), (11, "Corrected")),
}
_DENIAL_TYPES = frozenset({"policy_blocked", "permission_denied"})


def control_profile(record: Record) -> Object:
    """The security control profile: what was decided, and the risk."""
    decision = record.decision
    outcome: str | None = None if decision is None else decision.outcome
    if decision is not None and decision.updated_input is not None and outcome != "deny":
        outcome = "rewrite"
    if outcome is None and record.event.type in _DENIAL_TYPES:
        outcome = "deny"
    profile = {} if outcome is None else _outcome_fields(outcome, decision)
    return profile if record.risk is None else profile | _risk_fields(record.risk)


def _outcome_fields(outcome: str, decision: Decision | None) -> Object:
    (action_id, action), (disposition_id, disposition) = _ACTIONS[outcome]
    fields: Object = {
        "action_id": action_id,
        "action": action,
        "disposition_id": disposition_id,
        "disposition": disposition,
    }
    if decision is not None and decision.by:
        fields["policy"] = drop_none({"name": decision.by, "desc": decision.reason})
    return fields


def _risk_fields(risk: Risk) -> Object:
    level = risk.level
    return drop_none(
        {
            "risk_score": risk.score,
            "risk_level_id": None if level is None else RISK_LEVEL_IDS[level],
            "risk_level": None if level is None else level.capitalize(),
            "risk_details": ", ".join(risk.factors) or None,
        }
    )
