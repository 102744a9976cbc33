"""Call pipeline: decode ─ select hooks of all scopes ─ run in order ─ merge ─ weaken ─ record ─ native reply."""

from functools import partial
from os.path import join
from time import monotonic

from msgspec.structs import replace

from hookonce.agents import point_of
from hookonce.base import invocation, process_info, runtime_dir
from hookonce.dispatch import dedup, fail_mode, intake
from hookonce.dispatch.context import CallContext
from hookonce.dispatch.dialect import is_agent_dialect
from hookonce.dispatch.request.call_request import CallDecision, CallRequest, HooksInForce, call_budget_s
from hookonce.dispatch.response import CallResponse, add_scripts, build_response, effective_point, script_response
from hookonce.dispatch.rewrite import apply_rewrite
from hookonce.dispatch.run import CallerContext, HookResult, hooks_task
from hookonce.dispatch.select import SelectedHook, find_candidates, find_policy_gap, select_hooks
from hookonce.errors import HookonceError
from hookonce.handlers.operation import Task
from hookonce.manifest.discover import Scope, find_project
from hookonce.model import Decision, Event, Gap, Handler, Hook, Origin, Record
from hookonce.vocabulary.decision_merge import merge_decisions

_RECORD_WAIT_S = 0.2  # seconds
_APPROVAL_REASON = "a person has allowed this call: hookonce allow, recorded as"
_MAX_SELECTION_AGE_S = 0.05  # seconds for which hooks that were selected before a wait still count
_SWEEP_EVENTS = frozenset({"session_start", "session_end"})  # moments at which nobody waits for a tool


def find_hooks_in_force(request: CallRequest, call_context: CallContext) -> HooksInForce:
    """What is in force for a call, looked up on disk."""
    cwd = join(call_context.cwd, request.event.cwd or "")  # noqa: PTH118  as texts; somebody waits
    project = find_project(cwd)
    # Where the agent runs counts beside what it says: a payload must not lead away from hooks that must be asked.
    cwds = (cwd, call_context.cwd) if cwd != call_context.cwd else (cwd,)
    candidates = find_candidates(project, request.event.type, call_context.shared_stamps, cwds)
    return HooksInForce(project=project, candidates=candidates)


class AlreadyClaimedError(HookonceError):
    """Another process runs the hooks of this call, or has run them, and answers."""


class CallAbandonedError(HookonceError):
    """The client has gone on without us before any hook has begun."""


class NestingTooDeepError(HookonceError):
    """A chain of agents and hooks that would not end."""


def process_request(request: CallRequest, call_context: CallContext) -> Task[CallResponse]:
    """Run every hook that is selected for a call, and build the agent's native response."""
    call, event, budget_s = request.arguments, request.event, request.budget_s
    if budget_s is None:
        budget_s = call_budget_s(request.agent, request.native, call.timeout)
    deadline = (call.started_at or monotonic()) + budget_s
    if event.type in _SWEEP_EVENTS:
        runtime_dir.remove_stale_files()
    if event.type == "before_prompt":
        from hookonce.dispatch import stop_limit  # as below

        stop_limit.reset_stops(event)
    if request.document is not None:
        return (yield from _process_document(request, call_context, deadline))
    if call.via is None:
        call_decision = yield from _decide_call(request, call_context, deadline)
        return script_response(request, call_decision, call_context.dedup_store)
    joined_at = monotonic()
    entry = yield from dedup.join_call(event, call.via, deadline, call_context.dedup_store)
    request = _drop_old_selection(_with_dedup_ids(request, entry), joined_at)
    if entry.decided is not None:
        yield from _wait_for_record(entry.first_id, call_context)
        response = build_response(replace(request, notice=None), entry.decided)
        return replace(response, record=add_scripts(response.record, entry))
    try:
        call_decision = yield from _decide_call(request, call_context, deadline)
        response = build_response(request, call_decision)
        publish = partial(_publish_record, request, call_decision, call_context.dedup_store)
        return replace(response, publish_record=publish)
    except AlreadyClaimedError:
        raise  # somebody else has this very call, and its doors
    except BaseException:
        dedup.abandon_call(request.event, call_context.dedup_store)  # who waits at another door decides
        raise


def _publish_record(
    request: CallRequest, call_decision: CallDecision, store: dedup.DedupStore, record: Record
) -> Record:
    """Tell other entries of the decision; the record with those that have joined since, and with their scripts."""
    own_entry = dedup.publish_decision(request.event, call_decision, store)
    return add_scripts(replace(record, event=_with_dedup_ids(request, own_entry).event), own_entry)


def _drop_old_selection(request: CallRequest, joined_at: float) -> CallRequest:
    """The request without hooks that were selected too long ago: trust or policy may have changed while we waited."""
    return replace(request, in_force=None) if monotonic() - joined_at > _MAX_SELECTION_AGE_S else request


def _process_document(request: CallRequest, call_context: CallContext, deadline: float) -> Task[CallResponse]:
    """The same for an event of an open format: hooks are asked once for an id and its content, wherever it comes in."""
    event, store, find_event, joined_at = request.event, call_context.dedup_store, call_context.find_event, monotonic()
    entry = yield from intake.join_event(event, request.arguments.id, deadline, store)
    if entry.decided is not None:
        request, wait_end = _with_event_id(request, entry.first_id), monotonic() + _RECORD_WAIT_S
        while not (is_recorded := intake.is_recorded(entry.first_id, find_event)) and monotonic() < wait_end:
            yield _RECORD_WAIT_S / 10
        return replace(build_response(request, entry.decided), is_duplicate=is_recorded)
    request = _drop_old_selection(request, joined_at)
    try:
        place = intake.resolve_event(event, entry, find_event)
        request = _with_event_id(request, place.id)
        if place.earlier is None:
            call_decision = yield from _decide_call(request, call_context, deadline)
        else:
            call_decision = intake.recorded_decision(place.earlier, request.document or Record(event=event))
        recorded_id = place.recorded_id(call_decision)
        request = _with_event_id(request, recorded_id or place.id)
        intake.publish_decision(event, request.event.id, call_decision, store)
    except AlreadyClaimedError:
        raise  # somebody else has this very call
    except BaseException:
        intake.abandon_event(event, store)  # who waits with the same event decides
        raise
    return replace(build_response(request, call_decision), is_duplicate=recorded_id is not None)


def _with_event_id(request: CallRequest, event_id: str) -> CallRequest:
    event, document = intake.rename_event(request.event, request.document or Record(event=request.event), event_id)
    return replace(request, event=event, document=document)


def _with_dedup_ids(request: CallRequest, entry: dedup.DedupEntry | None) -> CallRequest:
    """The request under the id of its deduplication entry, whichever entry it came through."""
    if entry is None:
        return request
    event = entry.event if entry.event is not None and dedup.is_empty_payload(request.event) else request.event
    return replace(request, event=replace(event, id=entry.first_id, origin=Origin(via=list(entry.ids))))


def _wait_for_record(event_id: str, call_context: CallContext) -> Task[None]:
    """Give the first process a moment to write its record, for ours has to be the later one."""
    deadline = monotonic() + _RECORD_WAIT_S
    while not call_context.spool.has(event_id) and monotonic() < deadline:
        yield _RECORD_WAIT_S / 10


def _decide_call(request: CallRequest, call_context: CallContext, deadline: float) -> Task[CallDecision]:
    nesting = process_info.nesting_depth(call_context.environment, call_context.pid)
    if nesting >= process_info.MAX_DEPTH:
        raise NestingTooDeepError("hooks start agents whose hooks start agents; no hook runs at this depth")
    hooks, decisions, gaps = _select_call_hooks(request, call_context) if call_context.runs_hooks else ([], [], [])
    is_repeat = request.hook_event is not None and request.hook_event.data.get("repeat") is True
    if is_repeat and request.document is None:  # a tool's own events have ids, by which each is asked once
        note = "hooks ran for the end of this session before, and do not run again"
        hooks, gaps = [], [*gaps, _gap("repeat", note)]
    results = (yield from _run_claimed(hooks, request, call_context, nesting, deadline)) if hooks else []
    merged_decision = merge_decisions([*decisions, *(result.decision for result in results)])
    decision, limit_gaps = _apply_stop_limit(request, _apply_approval(request, merged_decision))
    gaps += [gap for result in results for gap in result.gaps] + limit_gaps
    return CallDecision(decision=decision, runs=[result.run for result in results], gaps=gaps)


def _run_claimed(
    hooks: list[SelectedHook], request: CallRequest, call_context: CallContext, nesting: int, deadline: float
) -> Task[list[HookResult]]:
    """Run the hooks, if nobody else has this very call."""
    if request.arguments.id and not call_context.claim(request.arguments.id):
        raise AlreadyClaimedError("another process runs the hooks of this call")
    caller = CallerContext(
        environment=call_context.environment,
        cwd=call_context.cwd,
        umask=call_context.umask,
        depth=nesting,
        handler_registry=call_context.handler_registry,
        current_settings=call_context.current_settings,
        results=call_context.results,
        observers=call_context.observers,
        detaches_observers=call_context.detaches_observers,
    )
    return (yield from hooks_task(hooks, _event_for_hooks(request), caller, deadline))


def _event_for_hooks(request: CallRequest) -> Event:
    """The event as hooks are told; its id may have become that of another entry's call since it was completed."""
    event, hook_event = request.event, request.hook_event
    if hook_event is None or hook_event.session != event.session:
        return event
    return replace(hook_event, id=event.id, origin=event.origin)


def _select_call_hooks(
    request: CallRequest, call_context: CallContext
) -> tuple[list[SelectedHook], list[Decision], list[Gap]]:
    """The script that a wrapper names, else the hooks of the manifests; and decisions that need no hook."""
    event, in_force = request.event, request.in_force or find_hooks_in_force(request, call_context)
    if request.arguments.run is not None:
        script_hook = _wrapper_hook(request, call_context.cwd)
        policy_refusal = find_policy_gap(script_hook, event, in_force.project)
        return ([], [], [policy_refusal]) if policy_refusal is not None else ([script_hook], [], [])
    selection = select_hooks(event, in_force.project, in_force.candidates)
    decisions = fail_mode.standing_decisions(event.type, selection, in_force.candidates)
    return selection.hooks, decisions, selection.gaps


def _wrapper_hook(request: CallRequest, cwd: str) -> SelectedHook:
    """The hook of a wrapper entry, which has the agent's own trust; a user's script may allow, a project's may not.

    It runs in the caller's directory. Its exit code means what it does on its own agent, where every hook may block.
    A refusal because it failed names it by its command, for an entry has no name for it.
    """
    call = request.arguments
    handler = invocation.parse_handler(call.run or "") or Handler(type="command", command=call.run)
    has_agent_dialect = call.dialect is not None and is_agent_dialect(call.dialect)
    blocking = has_agent_dialect or bool(point_of(request.agent, request.native).capabilities & {"prevent", "retry"})
    handler = replace(handler, timeout=call.timeout, cwd=cwd)
    hook = Hook(event=request.event.type, handler=handler, dialect=call.dialect, blocking=blocking, may_allow=True)
    if call.is_closed and blocking:
        hook = replace(hook, on_failure="closed")
    scope: Scope = "user" if call.scope == "user" else "project"
    return SelectedHook(hook=hook, scope=scope, folder=cwd, may_allow=scope == "user")


def _apply_approval(request: CallRequest, decision: Decision) -> Decision:
    """Apply a person's approval to an `ask` that this agent may be unable to show, or leave a question for one."""
    if decision.outcome != "ask" or effective_point(request).ask == "native":
        return decision
    from hookonce.trust import approvals  # few hooks ask

    _, effective_event, _ = apply_rewrite(decision, request.event)  # what would happen, not what was asked for
    if (approval := approvals.consume_approval(effective_event)) is not None:
        return replace(decision, outcome=None, reason=f"{_APPROVAL_REASON} {approval.event}", by="user")
    approvals.leave_question(effective_event)
    return decision


def _apply_stop_limit(request: CallRequest, decision: Decision) -> tuple[Decision, list[Gap]]:
    """Apply the stop limit: an agent that is never let go would cost its user money for ever."""
    if "retry" not in point_of(request.agent, request.native).capabilities or decision.proceed is False:
        return decision, []
    if decision.outcome != "deny":
        return decision, []
    from hookonce.dispatch import stop_limit  # few stops are refused

    if stop_limit.refuse_stop(request.event, decision.reason):
        return decision, []
    return Decision(), [
        _gap("stop", f"hooks have refused to let the agent stop {stop_limit.MAX_REFUSALS} times; now it may stop")
    ]


def _gap(capability: str, note: str) -> Gap:
    return Gap(where="$.decision", capability=capability, strategy="exclude", effect="observes", note=note)
