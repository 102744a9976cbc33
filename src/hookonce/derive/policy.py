"""Policy.*: what was blocked, what a person allowed all the same, and what was done against a denial."""

from hookonce.derive.calls import CHANGED, Calls, Change, Ended, Opened, is_refused, paths
from hookonce.derive.further import further
from hookonce.guard.loops import elapsed
from hookonce.model import Decision, Event, Object, Record, Result

# Points at which a denial keeps something from happening; elsewhere it hides a result or keeps an agent going.
PREVENTABLE = frozenset(
    {
        "before_tool_execute",
        "before_prompt",
        "before_model",
        "before_compact",
        "before_task",
        "permission_request",
        "prompt_expansion",
        "subagent_start",
        "config_change",
        "task_created",
        "model_switch_before",
    }
)
_SOON = 60_000  # milliseconds after a denial in which its file must not change


def step(calls: Calls, record: Record, change: Change) -> list[Record]:
    """What follows from a record; `calls` are those that were open before it."""
    event = record.event
    if event.type in PREVENTABLE and is_refused(record):
        return [_blocked(record)]
    if change.opened is not None and _was_lifted(calls, record, change.opened):
        return [further(event, "policy_override", {"origin_event": event.type}, tool=event.tool)]
    if change.ended is not None:
        return _outcome(event, change.ended)
    return _written(calls, event) if event.type in CHANGED else []


def _blocked(record: Record) -> Record:
    event, decision = record.event, record.decision
    why = None if decision is None else Decision(outcome="deny", reason=decision.reason, by=decision.by)
    return further(event, "policy_blocked", {"origin_event": event.type}, decision=why, tool=event.tool)


def _was_lifted(calls: Calls, record: Record, call: Opened) -> bool:
    """A hook still objects to what was refused before, and yet it goes on: somebody has said yes in between."""
    objects = any(run.outcome in {"ask", "deny"} for run in record.runs)
    refused = (one for items in calls.refused.values() for one in items)
    return objects and not call.asked and any(one.key == call.key for one in refused)


def _outcome(event: Event, ended: Ended) -> list[Record]:
    call, result = ended.call, event.tool.result if event.tool is not None else None
    if is_rejection(result):
        return []
    if call.refused:
        return [_violation(event, call, suspected=ended.guessed, tool=event.tool)]
    if not call.asked:
        return []
    data: Object = {"origin_event": "before_tool_execute"} | _guess(guessed=ended.guessed)
    return [further(event, "policy_override", data, caused_by=call.id, tool=event.tool)]


def is_rejection(result: Result | None) -> bool:
    """Whether an outcome is how agents tell that nothing was done: a failure of something that never had an exit."""
    return result is not None and result.ok is False and result.exit_code is None


def _written(calls: Calls, event: Event) -> list[Record]:
    """A file that changes soon after a call was refused that would have written it."""
    changed = set(paths(event))
    since = [one for items in calls.refused.values() for one in items if changed & set(one.paths)]
    soon = (one for one in since if (late := elapsed(one.time, event.time)) is not None and late <= _SOON)
    call = next(soon, None)
    allowed = any(changed & set(one.paths) for items in calls.open.values() for one in items)
    return [] if call is None or allowed else [_violation(event, call, suspected=True, tool=None)]


def _violation(event: Event, call: Opened, *, suspected: bool, tool: object) -> Record:
    data: Object = {"status": "suspected" if suspected else "certain", "origin_event": event.type}
    return further(event, "policy_violation", data | _guess(guessed=suspected), caused_by=call.id, tool=tool)


def _guess(*, guessed: bool) -> Object:
    return {"guessed": ["caused_by"]} if guessed else {}
