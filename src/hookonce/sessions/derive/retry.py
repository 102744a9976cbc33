"""Retry and loop detection (retry.*): repeated failing calls, and rounds of the same calls and results."""

from collections.abc import Sequence
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import asdict, replace

from hookonce.base.times import elapsed_ms
from hookonce.model import Event, Object, Record
from hookonce.sessions.derive.calls import SESSION_ENDS, CallChange, OpenCall, OpenCalls, subagent_name
from hookonce.sessions.derive.derived_record import derive_record
from hookonce.vocabulary.call_fingerprint import fingerprint_call
from hookonce.vocabulary.tools import action_of_tool
from hookonce.vocabulary.usage_sources import is_from_transcript

MIN_LOOP_ROUNDS = 4  # times before it is called a loop
MIN_ROUNDS_WITHOUT_RESULT = 8  # and where nobody has told what the calls came to
MAX_LOOP_CALLS = 4  # calls that may make up one round
LOOP_WINDOW_CALLS = 64  # calls that are remembered


class CallFingerprint(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finished call: who started it, and fingerprints of its input and result, which are equal where these are alike.

    `session_tokens` is the usage of the session by then. Without `result_fingerprint` the outcome was not reported.
    """

    id: str
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
        has_results = all(act.result_fingerprint is not None for act in acts[-period:])
        if rounds >= (MIN_LOOP_ROUNDS if has_results else MIN_ROUNDS_WITHOUT_RESULT):
            return _build_loop(acts, period, rounds)
    return None


def _count_rounds(acts: Sequence[CallFingerprint], period: int) -> int:
    if len(acts) < period:
        return 0
    outcomes = [(act.action, act.input_fingerprint, act.result_fingerprint) for act in reversed(acts)]
    pairs = zip(outcomes, outcomes[period:], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) // period + 1


def _build_loop(acts: Sequence[CallFingerprint], period: int, rounds: int) -> CallLoop:
    first, last = acts[-period * rounds], acts[-1]
    return CallLoop(
        iteration_count=rounds,
        action_name=last.action,
        tokens_consumed=_token_difference(first, last.session_tokens),
        elapsed_ms=elapsed_ms(first.time, last.time),
        period=period,
    )


def _token_difference(first: CallFingerprint, tokens: int | None) -> int | None:
    return None if tokens is None or first.session_tokens is None else max(tokens - first.session_tokens, 0)


StateChange = tuple["RetryState", list[Record]]
_DENIED_RESULT = -1  # the outcome of a call that was refused
_REPORT_GROWTH = 2  # a loop is told of once more when it has doubled


class RetryState(Struct, frozen=True, kw_only=True):
    """The last calls of a session, and by sub-agent its loop with the length at which it was last reported."""

    finished_calls: tuple[CallFingerprint, ...] = ()
    loops: dict[str, tuple[CallLoop, int]] = {}


def update_retry(
    retry: RetryState, record: Record, calls: OpenCalls, change: CallChange, tokens: int | None
) -> StateChange:
    """The retry state after a record, and derived records; `calls` are those open before it, `tokens` all by then."""
    event = record.event
    if event.type in SESSION_ENDS or event.type == "interrupt":
        loops = enumerate(loop for _, (loop, _) in sorted(retry.loops.items()))
        return RetryState(), [_build_aborted(event, loop, index) for index, loop in loops]
    if event.type == "before_prompt":
        return _forget_subagent(retry, subagent_name(event)), []
    if change.new_call is not None:
        return _apply_start(retry, event, calls, change.new_call, tokens)
    result = event.tool.result if event.tool is not None else None
    if change.ended_call is None or result is None:
        return retry, []
    has_failed = result.ok is False or (result.exit_code or 0) != 0
    ok = None if result.ok is None and not has_failed else not has_failed
    if is_from_transcript(event):  # which has no output that could be compared
        return _update_result(retry, change.ended_call.id, ok=ok), []
    return _add_finished(
        retry, event, _build_finished(change.ended_call, event.time, tokens, fingerprint_call(event), ok=ok)
    )


def _update_result(retry: RetryState, call_id: str, *, ok: bool | None) -> RetryState:
    calls = tuple(replace(call, ok=ok) if call.id == call_id else call for call in retry.finished_calls)
    return replace(retry, finished_calls=calls)


def _forget_subagent(retry: RetryState, subagent: str | None) -> RetryState:
    remaining = tuple(call for call in retry.finished_calls if call.subagent != subagent)
    return RetryState(finished_calls=remaining, loops=_other_loops(retry, subagent))


def _apply_start(retry: RetryState, event: Event, calls: OpenCalls, call: OpenCall, tokens: int | None) -> StateChange:
    records = _derive_retry(retry, event, call, tokens)
    same_calls = [other for items in calls.open.values() for other in items if _is_same_call(other, call)]
    if same_calls:  # begun anew before anybody told what the last one came to
        last = same_calls[-1]
        retry, more_records = _add_finished(retry, event, _build_finished(last, last.time, tokens))
        records += more_records
    if not call.is_refused:
        return retry, records
    loop, _ = retry.loops.get(call.subagent or "", (None, 0))
    if loop is not None and _continues_loop(retry, loop, call):
        return _forget_subagent(retry, call.subagent), [*records, _build_aborted(event, loop)]
    denied_call = _build_finished(call, event.time, tokens, _DENIED_RESULT, ok=False)
    retry, more_records = _add_finished(retry, event, denied_call)
    return retry, records + more_records


def _add_finished(retry: RetryState, event: Event, call: CallFingerprint) -> StateChange:
    """A loop is reported when it is found, and whenever it has doubled."""
    window = (*(other for other in retry.finished_calls if other.id != call.id), call)[-LOOP_WINDOW_CALLS:]
    subagent, loops = call.subagent or "", _other_loops(retry, call.subagent)
    _, reported_count = retry.loops.get(subagent, (None, 0))
    loop, records = find_loop(window), list[Record]()
    if loop is not None and loop.iteration_count < _REPORT_GROWTH * reported_count:
        loops |= {subagent: (loop, reported_count)}
    elif loop is not None:
        loops |= {subagent: (loop, loop.iteration_count)}
        records = [derive_record(event, "retry_loop_detected", _loop_data(loop))]
    return RetryState(finished_calls=window, loops=loops), records


def _derive_retry(retry: RetryState, event: Event, call: OpenCall, tokens: int | None) -> list[Record]:
    """The call that failed last, made once more."""
    failure = (call.tool, call.input_fingerprint, False)
    own_calls = [other for other in reversed(retry.finished_calls) if other.subagent == call.subagent]
    tries = [*takewhile(lambda other: (other.action, other.input_fingerprint, other.ok) == failure, own_calls)]
    if not tries:
        return []
    first = tries[-1]
    data = {
        "iteration_count": len(tries) + 1,
        "action_name": action_of_tool(call.tool),
        "tokens_consumed": _token_difference(first, tokens),
        "elapsed_ms": elapsed_ms(first.time, event.time),
    }
    return [derive_record(event, "retry_triggered", data, caused_by=tries[0].id)]


def _build_finished(
    call: OpenCall, time: str, tokens: int | None, outcome: int | None = None, *, ok: bool | None = None
) -> CallFingerprint:
    return CallFingerprint(
        id=call.id,
        subagent=call.subagent,
        action=call.tool,
        input_fingerprint=call.input_fingerprint,
        result_fingerprint=outcome,
        ok=ok,
        time=time,
        session_tokens=tokens,
    )


def _continues_loop(retry: RetryState, loop: CallLoop, call: OpenCall) -> bool:
    """Whether a call would be the next of its loop, unless that is one of refusals anyway."""
    acts = [act for act in retry.finished_calls if act.subagent == call.subagent][-loop.period :]
    inputs = {(act.action, act.input_fingerprint) for act in acts if act.result_fingerprint != _DENIED_RESULT}
    return (call.tool, call.input_fingerprint) in inputs


def _other_loops(retry: RetryState, subagent: str | None) -> dict[str, tuple[CallLoop, int]]:
    return {name: report for name, report in retry.loops.items() if name != (subagent or "")}


def _is_same_call(first: OpenCall, second: OpenCall) -> bool:
    is_same_tool = (first.subagent, first.tool) == (second.subagent, second.tool)
    return is_same_tool and first.input_fingerprint == second.input_fingerprint


def _build_aborted(event: Event, loop: CallLoop, index: int = 0) -> Record:
    return derive_record(event, "retry_loop_aborted", _loop_data(loop), index=index)


def _loop_data(loop: CallLoop) -> Object:
    fields = asdict(loop)
    del fields["period"]
    return fields | {"action_name": action_of_tool(loop.action_name)}
