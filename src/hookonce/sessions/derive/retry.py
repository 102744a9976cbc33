"""Retry and loop detection (retry.*): repeated failing calls, and rounds of the same calls and results."""

from collections.abc import Sequence
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base.times import elapsed_ms
from hookonce.model import Event, Object, Record
from hookonce.sessions.derive.calls import SESSION_ENDS, CallChange, OpenCall, OpenCalls, subagent_name
from hookonce.sessions.derive.derived_record import derive_record
from hookonce.vocabulary.call_fingerprint import fingerprint_call
from hookonce.vocabulary.tools import AGENT_HOOKS_ACTIONS

MIN_LOOP_ROUNDS = 4  # times before it is called a loop
MIN_ROUNDS_WITHOUT_RESULT = 8  # and where nobody has told what the calls came to
MAX_LOOP_CALLS = 4  # calls that may make up one round
LOOP_WINDOW_CALLS = 64  # calls that are remembered


class CallFingerprint(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finished call as fingerprints of its input and result, which are equal where these are alike.

    `session_tokens` is the usage of the session by then. Without `result_fingerprint` the outcome was not reported.
    """

    subagent: str | None = None
    action: str
    input_fingerprint: int
    result_fingerprint: int | None = None
    ok: bool | None = None
    time: str
    session_tokens: int | None = None


class CallLoop(Struct, frozen=True, kw_only=True):
    """A loop: number of rounds, last call, tokens and time since it began, calls per round."""

    iteration_count: int
    action_name: str
    tokens_consumed: int | None
    elapsed_ms: int | None
    period: int


def find_loop(window: Sequence[CallFingerprint]) -> CallLoop | None:
    """The loop that the last call belongs to, the shortest period first; other sub-agents' calls do not count."""
    acts = [act for act in window if act.subagent == window[-1].subagent]
    for period in range(1, MAX_LOOP_CALLS + 1):
        rounds = _count_rounds(acts, period)
        if rounds >= (
            MIN_LOOP_ROUNDS
            if all(act.result_fingerprint is not None for act in acts[-period:])
            else MIN_ROUNDS_WITHOUT_RESULT
        ):
            return _build_loop(acts, period, rounds)
    return None


def _count_rounds(acts: Sequence[CallFingerprint], period: int) -> int:
    if len(acts) < period:
        return 0
    match_count = 0
    while match_count + period < len(acts) and _is_same_outcome(
        acts[-1 - match_count], acts[-1 - match_count - period]
    ):
        match_count += 1
    return match_count // period + 1


def _is_same_outcome(first: CallFingerprint, second: CallFingerprint) -> bool:
    return (first.action, first.input_fingerprint, first.result_fingerprint) == (
        second.action,
        second.input_fingerprint,
        second.result_fingerprint,
    )


def _build_loop(acts: Sequence[CallFingerprint], period: int, rounds: int) -> CallLoop:
    first, last = acts[-period * rounds], acts[-1]
    return CallLoop(
        iteration_count=rounds,
        action_name=last.action,
        tokens_consumed=None
        if first.session_tokens is None or last.session_tokens is None
        else max(last.session_tokens - first.session_tokens, 0),
        elapsed_ms=elapsed_ms(first.time, last.time),
        period=period,
    )


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


def update_retry(
    retry: RetryState, record: Record, calls: OpenCalls, change: CallChange, session_tokens: int | None
) -> tuple[RetryState, list[Record]]:
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


def _apply_start(
    retry: RetryState, event: Event, calls: OpenCalls, call: OpenCall, session_tokens: int | None
) -> tuple[RetryState, list[Record]]:
    derived_records = _derive_retry(retry, event, call, session_tokens)
    open_calls = [open_call for items in calls.open.values() for open_call in items if _is_same_call(open_call, call)]
    if open_calls:  # begun anew before anybody told what the last one came to
        retry, more_records = _add_finished(
            retry, event, _build_finished(open_calls[-1], open_calls[-1].time, session_tokens)
        )
        derived_records += more_records
    if not call.is_refused:
        return retry, derived_records
    report = retry.loops.get(call.subagent or "")
    if report is not None and _continues_loop(retry, report.loop, call):
        remaining_calls = tuple(
            past_call for past_call in retry.finished_calls if past_call.act.subagent != call.subagent
        )
        return RetryState(finished_calls=remaining_calls, loops=_other_loops(retry, call.subagent)), [
            *derived_records,
            _build_aborted(event, report.loop),
        ]
    denied_call = _build_finished(call, event.time, session_tokens, outcome=_DENIED_RESULT, ok=False)
    retry, more_records = _add_finished(retry, event, denied_call)
    return retry, derived_records + more_records


def _apply_end(
    retry: RetryState, event: Event, call: OpenCall, session_tokens: int | None
) -> tuple[RetryState, list[Record]]:
    result = event.tool.result if event.tool is not None else None
    has_failed = result is not None and (result.ok is False or (result.exit_code or 0) != 0)
    past_call = _build_finished(call, event.time, session_tokens, outcome=fingerprint_call(event), ok=not has_failed)
    return _add_finished(retry, event, past_call)


def _add_finished(retry: RetryState, event: Event, past_call: FinishedCall) -> tuple[RetryState, list[Record]]:
    """A loop is reported when it is found, and whenever it has doubled."""
    finished_calls = (*(item for item in retry.finished_calls if item.id != past_call.id), past_call)[
        -LOOP_WINDOW_CALLS:
    ]
    subagent, other_loops = past_call.act.subagent or "", _other_loops(retry, past_call.act.subagent)
    old_report, loop = retry.loops.get(subagent), find_loop([item.act for item in finished_calls])
    if loop is None:
        return RetryState(finished_calls=finished_calls, loops=other_loops), []
    if old_report is not None and loop.iteration_count < _REPORT_GROWTH * old_report.count:
        return RetryState(
            finished_calls=finished_calls, loops=other_loops | {subagent: replace(old_report, loop=loop)}
        ), []
    report = LoopReport(loop=loop, count=loop.iteration_count)
    return RetryState(finished_calls=finished_calls, loops=other_loops | {subagent: report}), [
        derive_record(event, "retry_loop_detected", _loop_data(loop))
    ]


def _derive_retry(retry: RetryState, event: Event, call: OpenCall, session_tokens: int | None) -> list[Record]:
    """The call that failed last, made once more."""
    own_calls = [past_call for past_call in reversed(retry.finished_calls) if past_call.act.subagent == call.subagent]
    tries = [*takewhile(lambda past_call: _is_same_failure(past_call.act, call), own_calls)]
    if not tries:
        return []
    first = tries[-1].act
    used_tokens = (
        None
        if session_tokens is None or first.session_tokens is None
        else max(session_tokens - first.session_tokens, 0)
    )
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


def _build_finished(
    call: OpenCall, time: str, session_tokens: int | None, *, outcome: int | None = None, ok: bool | None = None
) -> FinishedCall:
    act = CallFingerprint(
        subagent=call.subagent,
        action=call.tool,
        input_fingerprint=call.input_fingerprint,
        result_fingerprint=outcome,
        ok=ok,
        time=time,
        session_tokens=session_tokens,
    )
    return FinishedCall(id=call.id, act=act)


def _continues_loop(retry: RetryState, loop: CallLoop, call: OpenCall) -> bool:
    """Whether a call would be the next of its loop, unless that is one of refusals anyway."""
    own_calls = [past_call.act for past_call in retry.finished_calls if past_call.act.subagent == call.subagent][
        -loop.period :
    ]
    return any(
        (act.action, act.input_fingerprint) == (call.tool, call.input_fingerprint)
        and act.result_fingerprint != _DENIED_RESULT
        for act in own_calls
    )


def _is_same_failure(act: CallFingerprint, call: OpenCall) -> bool:
    return (act.action, act.input_fingerprint, act.ok) == (call.tool, call.input_fingerprint, False)


def _other_loops(retry: RetryState, subagent: str | None) -> dict[str, LoopReport]:
    return {name: report for name, report in retry.loops.items() if name != (subagent or "")}


def _is_same_call(first: OpenCall, second: OpenCall) -> bool:
    return (first.subagent, first.tool, first.input_fingerprint) == (
        second.subagent,
        second.tool,
        second.input_fingerprint,
    )


def _build_aborted(event: Event, loop: CallLoop, index: int = 0) -> Record:
    return derive_record(event, "retry_loop_aborted", _loop_data(loop), index=index)


def _loop_data(loop: CallLoop) -> Object:
    return {
        "iteration_count": loop.iteration_count,
        "action_name": action_name(loop.action_name),
        "tokens_consumed": loop.tokens_consumed,
        "elapsed_ms": loop.elapsed_ms,
    }
