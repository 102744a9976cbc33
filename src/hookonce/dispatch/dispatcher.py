"""Dispatcher: one call of an agent from arguments and payload to its native answer, whatever goes wrong.

Errors end in the fail mode of the call and in the log, never in a stray word that an agent would take for an
answer.
"""

from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from os.path import join
from time import monotonic, time

from msgspec import Struct
from msgspec.structs import asdict, replace

from hookonce.agents import canonical_event_of, point_of
from hookonce.base import ids, invocation, process_info
from hookonce.base.jsontext import drop_none, load_leniently
from hookonce.base.runtime_dir import runtime_path
from hookonce.dispatch import context, dedup, fail_mode, intake, pause
from hookonce.dispatch.context import CallContext
from hookonce.dispatch.hook_faults import notice
from hookonce.dispatch.identification import configured_name, identify
from hookonce.dispatch.live_formats import find_format, is_live, load_caller
from hookonce.dispatch.pipeline import (
    AlreadyClaimedError,
    CallAbandonedError,
    find_hooks_in_force,
    process_request,
)
from hookonce.dispatch.request.call_record import append_record, name_observers, record_response
from hookonce.dispatch.request.call_request import CallArguments, CallRequest, call_budget_s, parse_request
from hookonce.dispatch.response import CallResponse
from hookonce.errors import HookonceError, PayloadError
from hookonce.handlers.operation import OperationRunner, Task, run_blocking, run_to_completion
from hookonce.handlers.supervise.hook_results import CallResults
from hookonce.model import Agent, Gap, Object, Record, Reply
from hookonce.secrets import log
from hookonce.vocabulary.events import CALLER_CWD, HOOK_DEPTH
from hookonce.vocabulary.names import hook_name

TRIAL_PAYLOAD = b'{"hookonce":"trial"}'  # nobody's payload: whoever sends it only wants to know that we are there
_REPLY_MARGIN_S = 0.25  # seconds beyond the hooks' own time, in which an answer still reaches the agent
_UNKNOWN_AGENT_TIMEOUT_S = 4.0  # seconds for a call of which not even the agent is known
_SESSION_END = "session_end"
_WORST_EVENT = "before_tool_execute"  # that a call without a name can be about


class IncomingCall(Struct, frozen=True, kw_only=True):
    """A call as it came, and its request; without one, the problem that it has.

    `silent_agent` is set where no hook is asked: during a pause, of which the request is recorded if it can be read,
    and for our own trial.
    """

    argv: list[str]
    raw: bytes
    context: CallContext
    request: CallRequest | None = None
    problem: BaseException | None = None
    silent_agent: Agent | None = None


def receive_call(
    argv: list[str], raw: bytes, call_context: CallContext, call_id: str, started_at: float | None = None
) -> IncomingCall:
    """Parse a call and find the hooks for it, once; what is wrong with it is told by its answer."""
    request = silent_agent = None
    try:
        arguments = _parse_arguments(argv or _identify_caller(raw, call_context.environment), call_id, started_at)
        is_paused = pause.is_paused() if call_context.is_paused is None else call_context.is_paused
        if raw == TRIAL_PAYLOAD or is_paused:
            silent_agent, call_context = load_caller(arguments.agent), replace(call_context, runs_hooks=False)
        if raw != TRIAL_PAYLOAD:
            try:
                request = _note_caller(parse_request(arguments, raw, call_context.pid), call_context)
            except Exception:
                if not is_paused:  # a pause works whatever else is broken
                    raise
    except BaseException as problem:  # noqa: BLE001  our own failure is never a decision by accident
        return IncomingCall(argv=argv, raw=raw, context=call_context, problem=problem)
    if request is not None and call_context.runs_hooks:
        with suppress(Exception):  # it is tried again where hooks are selected, and told there
            request = replace(request, in_force=find_hooks_in_force(request, call_context))
    return IncomingCall(argv=argv, raw=raw, context=call_context, request=request, silent_agent=silent_agent)


def _note_caller(request: CallRequest, call_context: CallContext) -> CallRequest:
    """The request with what the payload does not tell: duration, the caller's directory, its depth below hooks."""
    event = request.event
    caller_data: Object = {}
    if event.cwd is None and call_context.cwd and call_context.has_cwd:
        caller_data[CALLER_CWD] = call_context.cwd
    if process_info.PARENT_VARIABLE in call_context.environment:
        caller_data[HOOK_DEPTH] = process_info.nesting_depth(call_context.environment, call_context.pid) or None
    event = call_context.add_duration(event)
    if caller_data:
        event = replace(event, data=event.data | drop_none(caller_data))
    return request if event is request.event else replace(request, event=event)


def _complete_end(request: CallRequest, call_context: CallContext) -> Task[CallRequest]:
    """The request of a session's end with the event as hooks are told; the record is completed where it is stored.

    After the call was acknowledged, because the store may be slow, and before anything of it is recorded, for then
    the session has ended.
    """
    has_hooks = request.in_force is not None and request.in_force.candidates and request.arguments.run is None
    if request.hook_event is None and has_hooks:
        try:
            hook_event = yield from call_context.complete_end(request.event, (request.budget_s or 0) / 2)
            request = replace(request, hook_event=hook_event)
        except Exception as problem:  # noqa: BLE001  hooks are told what the agent has said
            _log_problem("session_end", problem)
    if request.document is None:
        append_record(Record(event=request.event), call_context)  # an agent that ends does not always let us end
    return request


def answer_call(
    argv: list[str],
    raw: bytes,
    environment: Mapping[str, str],
    call_id: str | None = None,
    started_at: float | None = None,
    run_operation: OperationRunner = run_to_completion,
) -> Reply:
    """The agent's native answer, or the fail mode of the call: runs to completion in this process.

    Raises only if not even the fail mode can be told; the client then gives the reply that was prepared beforehand.
    """
    refresh_client_files()
    call_context = context.oneshot_context(environment)
    return run_blocking(
        answer_incoming(receive_call(argv, raw, call_context, call_id or ids.new_id(), started_at)), run_operation
    )


def record_call(argv: list[str], raw: bytes, call_context: CallContext, call_id: str) -> None:
    """Record a call that the fast path has answered already; no hook runs."""
    run_blocking(answer_incoming(receive_call(argv, raw, call_context, call_id)))


def answer_incoming(call: IncomingCall) -> Task[Reply]:
    """The same as a task, for a process that has more to do than to wait for one answer."""
    try:
        if call.silent_agent is not None:
            if call.request is not None:
                yield from _record_paused(call.request, call)
            return notice.pause_reply(call.silent_agent, call.argv) or fail_mode.open_reply(call.silent_agent)
        if call.request is not None:
            return (yield from _answer_request(call.request, call))
    except GeneratorExit:
        raise  # nobody waits for this answer any more
    except BaseException as problem:  # noqa: BLE001  our own failure is never a decision by accident
        return failure_reply(call.argv, call.raw, call.context, problem)
    reason = call.problem or HookonceError("a call without a request")
    with suppress(Exception):  # the fail mode is told, whatever becomes of what came
        _keep_unreadable(call, reason)
    return failure_reply(call.argv, call.raw, call.context, reason)


def _keep_unreadable(call: IncomingCall, problem: BaseException) -> None:
    """Record that a tool has sent something that is no event of its format; its sender is told nothing of it."""
    form = find_format(call.argv[0] if call.argv else None)
    if form is not None and isinstance(problem, PayloadError):
        append_record(intake.unreadable_record(form, call.raw, problem), call.context)


def call_timeout_s(argv: list[str], request: CallRequest | None = None) -> float:
    """Seconds after which a call has failed, whatever holds it up; by its arguments, for its payload may come late."""
    try:
        call = _parse_arguments(argv) if request is None else request.arguments
        agent = load_caller(call.agent)
        is_certain = request is not None and (
            request.document is not None or (request.agent, request.native) == (agent, call.event)
        )
        if request is not None and is_certain and request.budget_s:
            return request.budget_s + _REPLY_MARGIN_S
        native = call.event or (configured_name(agent, _WORST_EVENT) if is_live(agent.name) else "")
        return call_budget_s(agent, native, call.timeout, is_wrapper=call.run is not None) + _REPLY_MARGIN_S
    except Exception:  # noqa: BLE001  words that say nothing are told so where they are answered
        return _UNKNOWN_AGENT_TIMEOUT_S


def _identify_caller(raw: bytes, environment: Mapping[str, str]) -> list[str]:
    """The arguments of a call that came without any, by its payload: versions of an agent without `args` drop them.

    Its entry is a door of its own: the same call may come through another one too.
    """
    try:
        identification = identify(load_leniently(raw.decode(errors="replace")), environment)
    except ValueError as problem:
        raise HookonceError(f"called without arguments, with a payload that cannot be read: {problem}") from problem
    if identification.kind != "agent" or identification.name is None or identification.event is None:
        raise HookonceError(f"called without arguments, by an unknown agent: {'; '.join(identification.evidence)}")
    return [identification.name, identification.event, "--via", f"{identification.name}/unknown"]


def _parse_arguments(argv: list[str], call_id: str = "", started_at: float | None = None) -> CallArguments:
    call = invocation.parse_arguments(*argv)
    if call is None:
        raise HookonceError(f"unknown arguments: {argv}")
    options = asdict(call)
    del options["client"]
    return CallArguments(**options, id=call_id, started_at=started_at)


def refresh_client_files() -> None:
    """Refresh the fail-mode file and the fast-path table beside the client; errors are only logged."""
    from hookonce.dispatch.fast_path import table  # a one-shot process finds them current, most of the time

    try:
        fail_mode.refresh_fail_mode()
        table.refresh_table()
    except Exception as problem:  # noqa: BLE001  the call itself goes on
        _log_problem("failmode", problem)


def _answer_request(request: CallRequest, call: IncomingCall) -> Task[Reply]:
    call_context = call.context
    if not call.raw.strip() and "prevent" in point_of(request.agent, request.native).capabilities:
        raise PayloadError("the payload does not contain what the hooks have to judge")
    if request.event.type == _SESSION_END:
        request = yield from _complete_end(request, call_context)
    elif notice.concerns(request):
        request = yield from notice.add_notice(request, call_context)
    try:
        response = yield from process_request(request, call_context)
    except AlreadyClaimedError:
        return (yield from _await_claimant(request, call))
    except CallAbandonedError:
        return Reply()  # to nobody: whoever answers now records it too
    except GeneratorExit:
        raise
    except BaseException as problem:  # noqa: BLE001  recorded, and answered by the fail mode of the call
        response = _failure_response(request, problem, call_context)
    observers = call_context.observers or []
    if observers:
        response = name_observers(response, [hook_name(job.selection.hook) for job in observers])
    with suppress(BaseException):  # a decision that was made is told, whatever becomes of its record
        record_response(request.arguments.id, response, call.raw, call_context)
    if observers:
        call_context.start_observers(observers, response.record, call_context)
    return response.reply


def _record_paused(request: CallRequest, call: IncomingCall) -> Task[None]:
    """Record a call of a pause, and that no hook was asked about it."""
    try:
        response = yield from process_request(request, call.context)
        record = replace(response.record, gaps=[*response.record.gaps, pause.PAUSE_GAP])
        record_response(request.arguments.id, replace(response, record=record), call.raw, call.context)
    except GeneratorExit:
        raise
    except BaseException as problem:  # noqa: BLE001  the agent goes on all the same
        _log_problem(f"{request.agent.name} {request.native}: not recorded", problem)


def _await_claimant(request: CallRequest, call: IncomingCall) -> Task[Reply]:
    """The answer of whoever has claimed this call.

    If that was the daemon, and it was killed, the answer is made of the results that its hooks have left, and of
    hooks that it had not begun. If there is none in time, it is the fail mode.
    """
    arguments = request.arguments
    elapsed_s = monotonic() - arguments.started_at if arguments.started_at is not None else 0
    call_claim = yield from dedup.await_answer(arguments.id, call.raw, time() + (request.budget_s or 0) - elapsed_s)
    if call_claim.reply is not None:
        return call_claim.reply
    if call_claim.keeps_results:
        results = CallResults(runtime_path("calls", arguments.id), 0, takes_over=True)
        call_context = replace(call.context, claim=bool, results=results)
        try:
            return (yield from _answer_request(request, replace(call, context=call_context)))
        finally:
            results.release()
    response = _failure_response(request, HookonceError("the process that ran the hooks has ended"), call.context)
    if not response.is_duplicate:
        append_record(response.record, call.context)
        intake.report_gaps(response.record)
    return response.reply


def _failure_response(request: CallRequest, problem: BaseException, call_context: CallContext) -> CallResponse:
    _log_problem(f"{request.agent.name} {request.native}", problem)
    note = f"{type(problem).__name__}: {log.safe_message(problem)}"
    gaps = [Gap(where="$", capability="respond", strategy=intake.FAIL_MODE, effect="observes", note=note)]
    refusal = _find_call_refusal(request, call_context, problem)
    reply = fail_mode.build_reply(request.agent, request.native, refusal)
    if refusal is not None and reply == fail_mode.open_reply(request.agent):
        gaps.append(fail_mode.UNREFUSED_GAP)
    if request.document is None:
        return CallResponse(reply=reply, record=Record(event=request.event, gaps=gaps))
    record, is_known = intake.failure_record(request.event, request.document, gaps, call_context)
    is_duplicate = is_known or isinstance(problem, dedup.DedupTimeoutError)
    return CallResponse(reply=reply, record=record, is_duplicate=is_duplicate)


def _fail_mode_reply(
    request: CallRequest, call_context: CallContext, problem: BaseException | None, *, counts_stops: bool = True
) -> Reply:
    refusal = _find_call_refusal(request, call_context, problem, counts_stops=counts_stops)
    return fail_mode.build_reply(request.agent, request.native, refusal)


def _find_call_refusal(
    request: CallRequest, call_context: CallContext, problem: BaseException | None, *, counts_stops: bool = True
) -> str | None:
    """A refusal if a hook has to be asked; but an agent that is kept from stopping has to be let go in the end."""
    event = request.event
    is_stop = "retry" in point_of(request.agent, request.native).capabilities
    if is_stop and not counts_stops:
        return None
    cwd = join(call_context.cwd, event.cwd or "")  # noqa: PTH118  as where hooks are chosen
    refusal = fail_mode.find_call_refusal(request.arguments, event.type, cwd, problem)
    if not is_stop or refusal is None:
        return refusal
    from hookonce.dispatch.stop_limit import refuse_stop  # few stops are refused

    return refusal if refuse_stop(event, refusal) else None


def late_reply(call: IncomingCall) -> Reply:
    """The reply if an answer never comes; a stop is let pass, for nobody would count it."""
    request = call.request
    if call.silent_agent is not None:
        return fail_mode.open_reply(call.silent_agent)
    try:
        if request is not None and request.in_force is not None:
            refusal = fail_mode.find_refusal(request.event.type, None, request.in_force.candidates)
            if request.arguments.is_closed:
                refusal = fail_mode.FAIL_CLOSED_REASON
            if refusal is None or "retry" in point_of(request.agent, request.native).capabilities:
                return fail_mode.open_reply(request.agent)
            return fail_mode.build_reply(request.agent, request.native, refusal)
    except Exception:  # noqa: BLE001, S110  by less evidence, then
        pass
    return _reply_by_evidence(call.argv, call.raw, call.context, call.problem, counts_stops=False)


def failure_reply(argv: list[str], raw: bytes, call_context: CallContext, problem: BaseException) -> Reply:
    """The fail mode of a call that raised, for its agent as far as that is known."""
    _log_problem(" ".join(argv[:2]), problem)
    return _reply_by_evidence(argv, raw, call_context, problem)


def _reply_by_evidence(
    argv: list[str],
    raw: bytes,
    call_context: CallContext,
    problem: BaseException | None,
    *,
    counts_stops: bool = True,
) -> Reply:
    """Fail mode by arguments and payload, else by the arguments alone; to somebody unknown there is nothing to say."""
    try:
        words = _parse_leniently(argv or _identify_caller(raw, call_context.environment))
    except Exception:  # noqa: BLE001  nobody knows whose refusal it would be
        return fail_mode.unknown_caller_reply(call_context.cwd)
    with suppress(Exception):
        request = _identify_request(words, raw, call_context.environment)
        return _fail_mode_reply(request, call_context, problem, counts_stops=counts_stops)
    with suppress(HookonceError):
        return _reply_by_name(words, call_context.cwd, problem)
    return Reply()


def _parse_leniently(argv: list[str]) -> CallArguments:
    """What the fail mode has to know of any arguments: agent and event, and whether a wrapper must answer."""
    names = [argument for argument in argv[:2] if not argument.startswith("--")]
    is_closed = ("--on-failure", "closed") in pairwise(argv)
    words = CallArguments(names[0] if names else "", names[1] if names[1:] else None)
    return replace(words, run="", on_failure="closed") if is_closed else words


def _identify_request(words: CallArguments, raw: bytes, environment: Mapping[str, str]) -> CallRequest:
    """Agent and event by arguments and payload, or by the payload alone."""
    try:
        load_caller(words.agent)
    except HookonceError:
        identification = identify(load_leniently(raw.decode(errors="replace")), environment)
        words = replace(words, agent=identification.name or "", event=identification.event or words.event)
    return parse_request(words, raw)


def _reply_by_name(words: CallArguments, base_dir: str, problem: BaseException | None) -> Reply:
    """Fail mode by the arguments alone; a stop is let pass, for nobody could count it."""
    agent = load_caller(words.agent)
    native = configured_name(agent, words.event or _WORST_EVENT)
    if "retry" in point_of(agent, native).capabilities:
        return fail_mode.open_reply(agent)
    refusal = fail_mode.find_call_refusal(words, canonical_event_of(agent, native), base_dir, problem)
    return fail_mode.build_reply(agent, native, refusal)


def _log_problem(subject: str, problem: BaseException) -> None:
    with suppress(Exception):
        text = str(problem) if isinstance(problem, HookonceError) else log.format_trace(problem)
        log.write(f"on {subject}: {text}")
