"""Retry.*: what is tried again, what goes round, and who has stopped it."""

from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from hookonce.canon.tools import AGENT_HOOKS_ACTIONS
from hookonce.derive.calls import SESSION_ENDS, OpenCalls, CallChange, OpenCall, subagent_name
from hookonce.derive.further import derive_record
from hookonce.guard.likeness import fingerprint_call
from hookonce.guard.loops import LOOP_WINDOW_CALLS, CallFingerprint, CallLoop, elapsed_ms, find_loop
from hookonce.model import Event, Object, Record

_DENIED_RESULT = -1  # the outcome of a call that was refused
_REPORT_GROWTH = 2  # a loop is told of once more when it has doubled


class FinishedCall(Struct, frozen=True, kw_only=True):
    """A finished call, and the record that started it."""

    id: str
    act: CallFingerprint


class LoopReport(Struct, frozen=True, kw_only=True):
    """A loop as it is now, and its length when it was last reported."""

    loop: CallLoop
    count: int


class RetryState(Struct, frozen=True, kw_only=True):
    """The last calls of a session, and the reported loops by sub-agent."""

    finished_calls: tuple[FinishedCall, ...] = ()
    loops: dict[str, LoopReport] = {}


def update_retry(retry: RetryState, record: Record, calls: OpenCalls, change: CallChange, session_tokens: int | None) -> tuple[RetryState, list[Record]]:
    """The retry state after a record, and derived records; `calls` are those open before it."""
    event = record.event
    if event.type in SESSION_ENDS or event.type == "interrupt":
        loops = enumerate(report.loop for _, report in sorted(retry.loops.items()))
        return RetryState(), [_build_aborted(event, loop, index) for index, loop in loops]
    if event.type == "before_prompt":
        return _reset_on_prompt(retry, event), []
    if change.new_call is not None:
        return _apply_start(retry, event, calls, change.new_call, session_tokens)
    if change.ended_call is not None and event.tool is not None and event.tool.result is not None:
        return _apply_end(retry, event, change.ended_call.call, session_tokens)
    return retry, []


def _reset_on_prompt(retry: RetryState, event: Event) -> RetryState:
    subagent = subagent_name(event)
    remaining_calls = tuple(past_call for past_call in retry.finished_calls if past_call.act.subagent != subagent)
    return RetryState(finished_calls=remaining_calls, loops=_other_loops(retry, subagent))


def _apply_start(retry: RetryState, event: Event, calls: OpenCalls, call: OpenCall, session_tokens: int | None) -> tuple[RetryState, list[Record]]:
    derived_records = _derive_retry(retry, event, call, session_tokens)
    open_calls = [open_call for items in calls.open.values() for open_call in items if _is_same_call(open_call, call)]
    if open_calls:  # begun anew before anybody told what the last one came to
        retry, more_records = _add_finished(retry, event, _build_finished(open_calls[-1], open_calls[-1].time, session_tokens))
        derived_records += more_records
    if not call.is_refused:
        return retry, derived_records
    report = retry.loops.get(call.subagent or "")
    if report is not None and _continues_loop(retry, report.loop, call):
        remaining_calls = tuple(past_call for past_call in retry.finished_calls if past_call.act.subagent != call.subagent)
        return RetryState(finished_calls=remaining_calls, loops=_other_loops(retry, call.subagent)), [*derived_records, _build_aborted(event, report.loop)]
    denied_call = _build_finished(call, event.time, session_tokens, outcome=_DENIED_RESULT, ok=False)
    retry, more_records = _add_finished(retry, event, denied_call)
    return retry, derived_records + more_records


def _apply_end(retry: RetryState, event: Event, call: OpenCall, session_tokens: int | None) -> tuple[RetryState, list[Record]]:
    result = event.tool.result if event.tool is not None else None
    has_failed = result is not None and (result.ok is False or (result.exit_code or 0) != 0)
    past_call = _build_finished(call, event.time, session_tokens, outcome=fingerprint_call(event), ok=not has_failed)
    return _add_finished(retry, event, past_call)


def _add_finished(retry: RetryState, event: Event, past_call: FinishedCall) -> tuple[RetryState, list[Record]]:
    """A loop is reported when it is found, and whenever it has doubled."""
    finished_calls = (*(item for item in retry.finished_calls if item.id != past_call.id), past_call)[-LOOP_WINDOW_CALLS:]
    subagent, other_loops = past_call.act.subagent or "", _other_loops(retry, past_call.act.subagent)
    old_report, loop = retry.loops.get(subagent), find_loop([item.act for item in finished_calls])
    if loop is None:
        return RetryState(finished_calls=finished_calls, loops=other_loops), []
    if old_report is not None and loop.iteration_count < _REPORT_GROWTH * old_report.count:
        return RetryState(finished_calls=finished_calls, loops=other_loops | {subagent: replace(old_report, loop=loop)}), []
    report = LoopReport(loop=loop, count=loop.iteration_count)
    return RetryState(finished_calls=finished_calls, loops=other_loops | {subagent: report}), [derive_record(event, "retry_loop_detected", _loop_data(loop))]


def _derive_retry(retry: RetryState, event: Event, call: OpenCall, session_tokens: int | None) -> list[Record]:
    """The call that failed last, made once more."""
    own_calls = [past_call for past_call in reversed(retry.finished_calls) if past_call.act.subagent == call.subagent]
    tries = [*takewhile(lambda past_call: _is_same_failure(past_call.act, call), own_calls)]
    if not tries:
        return []
    first = tries[-1].act
    used_tokens = None if session_tokens is None or first.session_tokens is None else max(session_tokens - first.session_tokens, 0)
    data = {
        "iteration_count": len(tries) + 1,
        "action_name": action_name(call.tool),
        "tokens_consumed": used_tokens,
        "elapsed_ms": elapsed_ms(first.time, event.time),
    }
    return [derive_record(event, "retry_triggered", data, caused_by=tries[0].id)]


def action_name(tool: str) -> str:
    """The Agent Hooks name of a tool's action."""
    return "mcp:" + tool.partition("/")[2] if tool.startswith("mcp:") else AGENT_HOOKS_ACTIONS.get(tool, tool)


def _build_finished(call: OpenCall, time: str, session_tokens: int | None, *, outcome: int | None = None, ok: bool | None = None) -> FinishedCall:
    act = CallFingerprint(subagent=call.subagent, action=call.tool, input_fingerprint=call.input_fingerprint, result_fingerprint=outcome, ok=ok, time=time, session_tokens=session_tokens)
    return FinishedCall(id=call.id, act=act)


def _continues_loop(retry: RetryState, loop: CallLoop, call: OpenCall) -> bool:
    """Whether a call would be the next of its loop, unless that is one of refusals anyway."""
    own_calls = [past_call.act for past_call in retry.finished_calls if past_call.act.subagent == call.subagent][-loop.period :]
    return any((act.action, act.input_fingerprint) == (call.tool, call.input_fingerprint) and act.result_fingerprint != _DENIED_RESULT for act in own_calls)


def _is_same_failure(act: CallFingerprint, call: OpenCall) -> bool:
    return (act.action, act.input_fingerprint, act.ok) == (call.tool, call.input_fingerprint, False)


def _other_loops(retry: RetryState, subagent: str | None) -> dict[str, LoopReport]:
    return {name: report for name, report in retry.loops.items() if name != (subagent or "")}


def _is_same_call(first: OpenCall, second: OpenCall) -> bool:
    return (first.subagent, first.tool, first.input_fingerprint) == (second.subagent, second.tool, second.input_fingerprint)


def _build_aborted(event: Event, loop: CallLoop, index: int = 0) -> Record:
    return derive_record(event, "retry_loop_aborted", _loop_data(loop), index=index)


def _loop_data(loop: CallLoop) -> Object:
    return {
        "iteration_count": loop.iteration_count,
        "action_name": action_name(loop.action_name),
        "tokens_consumed": loop.tokens_consumed,
        "elapsed_ms": loop.elapsed_ms,
    }
