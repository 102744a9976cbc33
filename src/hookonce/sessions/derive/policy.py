"""Policy events: blocked actions, overrides by a person, and violations of a denial (policy.*)."""

from hookonce.base.times import elapsed_ms
from hookonce.model import Decision, Event, Record
from hookonce.sessions.derive.calls import FILE_CHANGE_EVENTS, CallChange, OpenCall, OpenCalls, file_paths, is_refused
from hookonce.sessions.derive.derived_record import derive_record

# Points at which a denial keeps something from happening; elsewhere it hides a result or keeps an agent going.
PREVENTABLE_EVENTS = {"before_tool_execute", "before_prompt", "before_model", "before_compact", "before_task"}
PREVENTABLE_EVENTS |= {"permission_request", "prompt_expansion", "subagent_start", "config_change", "task_created"}
PREVENTABLE_EVENTS |= {"model_switch_before"}
_VIOLATION_WINDOW_MS = 60_000  # after a denial in which its file must not change


def derive_policy_events(calls: OpenCalls, record: Record, change: CallChange) -> list[Record]:
    """Policy events that follow from a record; `calls` are those that were open before it."""
    event = record.event
    if event.type in PREVENTABLE_EVENTS and record.decision is not None and is_refused(record):
        denial = Decision(outcome="deny", reason=record.decision.reason, by=record.decision.by)
        return [derive_record(event, "policy_blocked", {"origin_event": event.type}, decision=denial, tool=event.tool)]
    if change.new_call is not None and _is_override(calls, record, change.new_call):
        return [derive_record(event, "policy_override", {"origin_event": event.type}, tool=event.tool)]
    if change.ended_call is not None:
        return _derive_from_outcome(event, change.ended_call, is_guess=change.is_guess)
    return _find_file_violation(calls, event) if event.type in FILE_CHANGE_EVENTS else []


def _is_override(calls: OpenCalls, record: Record, call: OpenCall) -> bool:
    """A hook still objects to what was refused before, and yet it goes on: a person has allowed it."""
    has_objection = any(run.outcome in {"ask", "deny"} for run in record.runs)
    refused_calls = (refused_call for items in calls.refused_calls.values() for refused_call in items)
    return has_objection and not call.is_ask and any(refused_call.key == call.key for refused_call in refused_calls)


def _derive_from_outcome(event: Event, call: OpenCall, *, is_guess: bool) -> list[Record]:
    result = event.tool.result if event.tool is not None else None
    if result is not None and result.ok is False and result.exit_code is None:  # nothing was done
        return []
    if call.is_refused:
        return [_build_violation(event, call, is_suspected=is_guess, tool=event.tool)]
    if not call.is_ask:
        return []
    data = {"origin_event": "before_tool_execute", "guessed": ["caused_by"] if is_guess else None}
    return [derive_record(event, "policy_override", data, caused_by=call.id, tool=event.tool)]


def _find_file_violation(calls: OpenCalls, event: Event) -> list[Record]:
    """A file changes soon after a call was refused that would have written it."""
    changed_paths = set(file_paths(event))

    def writers(table: dict[str, tuple[OpenCall, ...]]) -> list[OpenCall]:
        return [call for items in table.values() for call in items if changed_paths & set(call.paths)]

    delays = ((call, elapsed_ms(call.time, event.time)) for call in writers(calls.refused_calls))
    call = next((call for call, delay_ms in delays if delay_ms is not None and delay_ms <= _VIOLATION_WINDOW_MS), None)
    return [] if call is None or writers(calls.open) else [_build_violation(event, call, is_suspected=True, tool=None)]


def _build_violation(event: Event, call: OpenCall, *, is_suspected: bool, tool: object) -> Record:
    data = {"status": "suspected" if is_suspected else "certain", "origin_event": event.type}
    guess = {"guessed": ["caused_by"]} if is_suspected else {}
    return derive_record(event, "policy_violation", data | guess, caused_by=call.id, tool=tool)
