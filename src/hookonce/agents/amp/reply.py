"""Replies to Amp: assignments for our plugin; a delegate program of a permission rule replies by its exit code."""

from hookonce.agents._reply import plugin_assignments
from hookonce.agents._reply.plugin_assignments import AssignmentTarget, value_at
from hookonce.model import Decision, Object, Outcome, Reply

_TARGETS = {
    "tool.call": AssignmentTarget(can_deny=True, input="input"),
    "tool.result": AssignmentTarget(can_deny=True, output="output"),
    "agent.start": AssignmentTarget(context="message.content", context_extras={"message.display": False}),
    "agent.end": AssignmentTarget(can_deny=True),
    "changes.prompt": AssignmentTarget(context="append"),
}
_DELEGATE_EVENT = "delegate"
_OUTCOME_BY_EXIT_CODE: dict[int, Outcome] = {0: "allow", 1: "ask"}


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision for the plugin to carry out."""
    assignments = plugin_assignments.build_assignments(_TARGETS.get(native, AssignmentTarget()), decision, native_input)
    return plugin_assignments.build_plugin_reply(decision, assignments)


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a reply as the plugin does, or a delegate's exit code; None where it is no valid reply."""
    if native == _DELEGATE_EVENT:
        outcome = _OUTCOME_BY_EXIT_CODE.get(hook_reply.code, "deny")
        return Decision(outcome=outcome, reason=hook_reply.stderr.strip() or None if outcome == "deny" else None)
    plugin_reply = plugin_assignments.parse_plugin_reply(hook_reply)
    if plugin_reply is None:
        return None
    error_text, assignments = plugin_reply
    follow_up = value_at(assignments, "userMessage") if native == "agent.end" else None
    if error_text is None and type(follow_up) is str:
        return Decision(outcome="deny", reason=follow_up)
    return plugin_assignments.decision_of(_TARGETS.get(native, AssignmentTarget()), plugin_reply)
