"""Call pipeline: decode ─ select hooks of all scopes ─ run in order ─ merge ─ weaken ─ record ─ native reply."""

from os.path import join
from pathlib import Path
from time import monotonic, time
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import decode, point_of
from hookonce.base import ids, invocation, process_info, runtime_dir, times
from hookonce.base.jsontext import NestingError, load_leniently
from hookonce.base.paths import MAX_PATH_CHARS
from hookonce.dispatch import dedup, fail_mode, intake, live_formats, stop_limit
from hookonce.dispatch.context import CallContext
from hookonce.dispatch.dedup import CallDecision
from hookonce.dispatch.dialect import is_agent_dialect
from hookonce.dispatch.identification import (
    Identification,
    find_document_format,
    identify,
    outweighs_claim,
    overruling_entry,
    payload_event,
)
from hookonce.dispatch.response import CallResponse, add_scripts, build_response, effective_point, script_response
from hookonce.dispatch.rewrite import apply_rewrite
from hookonce.dispatch.run import CallerContext, HookResult, call_budget_s, hooks_task
from hookonce.dispatch.select import CandidateHook, SelectedHook, find_candidates, find_policy_gap, select_hooks
from hookonce.errors import UNREADABLE, DocumentError, HookonceError, PayloadError
from hookonce.handlers.operation import Task
from hookonce.manifest.discover import Scope, find_project
from hookonce.model import Agent, Decision, Event, Format, Gap, Handler, Hook, Object, Origin, Record
from hookonce.trust import approvals
from hookonce.vocabulary.decision_merge import merge_decisions

_RECORD_WAIT_S = 0.2  # seconds
_APPROVAL_REASON = "a person has allowed this call: hookonce allow, recorded as"
_MAX_SELECTION_AGE_S = 0.05  # seconds for which hooks that were selected before a wait still count
_SWEEP_EVENTS = frozenset({"session_start", "session_end"})  # moments at which nobody waits for a tool


class CallArguments(Struct, frozen=True):
    """Arguments of a call as the agent's configuration gives them, with its id and start time."""

    agent: str
    event: str | None = None
    via: str | None = None
    dialect: str | None = None
    run: str | None = None
    scope: str | None = None
    timeout: float | None = None
    on_failure: str | None = None
    id: str = ""
    started_at: float | None = None

    @property
    def is_closed(self) -> bool:
        """Whether it is a wrapper that refuses where what it runs fails."""
        return self.run is not None and self.on_failure == "closed"


class HooksInForce(Struct, frozen=True, kw_only=True):
    """The project of a call, and every hook of every scope that is for its event, as their files are now."""

    project: Path
    candidates: list[CandidateHook]


class CallRequest(Struct, frozen=True, kw_only=True):
    """A call, understood once: arguments, agent by evidence, native event name, event, caller's process (0: ours).

    `budget_s` is the time for its hooks; `in_force` its hooks, None if nobody has looked; `hook_event` what hooks are
    told, if the agent has said less; `document` what an open format says of it; `notice` what its user is told besides.
    """

    arguments: CallArguments = CallArguments(agent="")
    agent: Agent
    native: str
    event: Event
    caller_pid: int = 0
    budget_s: float | None = None
    in_force: HooksInForce | None = None
    hook_event: Event | None = None
    document: Record | None = None
    notice: str | None = None


def parse_request(call: CallArguments, raw: bytes, caller_pid: int = 0) -> CallRequest:
    """Decode a call; the arguments are a claim, and evidence in the payload is stronger.

    A PayloadError for whatever cannot be read: a model has written most of it, and hooks have to judge it.
    """
    claimed_agent = live_formats.load_caller(call.agent)
    try:
        payload = _parse_payload(raw)
        identification = identify(payload) if payload else None
        form = find_document_format(identification, claimed_agent, call.event)
        if form is not None and (call.run is None or live_formats.is_live(claimed_agent.name)):
            return _document_request(call, form, payload, caller_pid)
        agent, event_name, event = _decode_payload(call, claimed_agent, payload, identification)
    except DocumentError as problem:
        raise PayloadError(problem.message, problem.path) from problem
    except UNREADABLE as problem:
        raise PayloadError(f"the payload has an unknown form ({type(problem).__name__})") from problem
    event = _without_bad_cwd(event)
    if call.via is not None:
        event = replace(event, origin=Origin(via=[call.via]))
    if agent is not claimed_agent:
        event = replace(event, data=event.data | {"called_through": f"{claimed_agent.name} {call.event or ''}".strip()})
    native = native_name(agent, event, event_name, payload_event(agent, event.native))
    return CallRequest(
        arguments=call,
        agent=agent,
        native=native,
        event=event,
        caller_pid=caller_pid,
        budget_s=call_budget_s(agent, native, call.timeout, is_wrapper=call.run is not None),
    )


def _document_request(call: CallArguments, form: Format, payload: Any, caller_pid: int) -> CallRequest:
    if type(payload) is not dict or not payload:
        raise DocumentError(f"expected one JSON object, an event of {form.title}")
    document = intake.read_document(form, payload, _received_time(call.id), call.via)
    agent, native = live_formats.load_caller(form.name), live_formats.native_type(form, payload)
    return CallRequest(
        arguments=call,
        agent=agent,
        native=native,
        event=_without_bad_cwd(document.event),
        caller_pid=caller_pid,
        budget_s=call_budget_s(agent, native, call.timeout),
        document=document,
    )


def _without_bad_cwd(event: Event) -> Event:
    """The event without a folder that no folder can be."""
    is_bad = event.cwd is not None and ("\0" in event.cwd or len(event.cwd) > MAX_PATH_CHARS)
    return replace(event, cwd=None) if is_bad else event


def _decode_payload(
    call: CallArguments, claimed_agent: Agent, payload: Any, identification: Identification | None
) -> tuple[Agent, str | None, Event]:
    """Agent and event by evidence of the payload, with the event decoded; marks of the environment prove nothing."""
    agent, event_name = claimed_agent, call.event
    if identification is not None and outweighs_claim(identification, claimed_agent, call.event, payload):
        agent, event_name = agents.load(str(identification.name)), identification.event or call.event
    identity: Object = {"id": call.id or ids.new_id(), "received": _received_time(call.id)}
    entry = overruling_entry(agent, payload, claimed_agent, call.event) if call.event and payload else None
    if entry is not None:
        agent, event_name = entry
    return agent, event_name, decode(agent, payload, event_name, is_certain=entry is not None, **identity)


def find_hooks_in_force(request: CallRequest, call_context: CallContext) -> HooksInForce:
    """What is in force for a call, looked up on disk."""
    cwd = join(call_context.cwd, request.event.cwd or "")  # noqa: PTH118  as texts; somebody waits
    project = find_project(cwd)
    # Where the agent runs counts beside what it says: a payload must not lead away from hooks that must be asked.
    cwds = (cwd, call_context.cwd) if cwd != call_context.cwd else (cwd,)
    candidates = find_candidates(project, request.event.type, call_context.shared_stamps, cwds)
    return HooksInForce(project=project, candidates=candidates)


def native_name(agent: Agent, event: Event, *candidates: str | None) -> str:
    """The configured event name: from arguments or payload if it fits the type, else the agent's own."""
    native_names = {*agents.config_events(agent), *agent.config.points}
    matches = (
        name for name in candidates if name in native_names and agents.canonical_event_of(agent, name) == event.type
    )
    return next(matches, None) or agents.config_event_of(agent, event.type) or next(filter(None, candidates), "")


def _parse_payload(raw: bytes) -> Any:
    """Parse the payload; some agents send none, which is an event without details."""
    text = raw.decode("utf-8-sig", "replace").strip()
    if not text:
        return {}
    try:
        return load_leniently(text)
    except NestingError as problem:
        raise PayloadError(str(problem)) from None
    except ValueError as problem:
        raise PayloadError(f"the payload is not JSON: {problem}") from None


def _received_time(call_id: str | None) -> str:
    """When a call came, by its UUIDv7, since it may have waited; an implausible time is not believed."""
    now = time()
    id_time = ids.time_of(call_id) if call_id else None
    return (
        times.from_seconds(id_time) if id_time is not None and now - _MAX_WAIT_S < id_time <= now else None
    ) or times.now()


_MAX_WAIT_S = 600  # seconds that a call may have waited


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
        return add_scripts(build_response(replace(request, notice=None), entry.decided), entry)
    try:
        call_decision = yield from _decide_call(request, call_context, deadline)
        own_entry = dedup.publish_decision(request.event, call_decision, call_context.dedup_store)
        return add_scripts(build_response(_with_dedup_ids(request, own_entry), call_decision), own_entry)
    except AlreadyClaimedError:
        raise  # somebody else has this very call, and its doors
    except BaseException:
        dedup.abandon_call(request.event, call_context.dedup_store)  # who waits at another door decides
        raise


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
        results=call_context.results,
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
    decisions = selection.decisions
    refusal = fail_mode.find_refusal(event.type, None, in_force.candidates) if selection.has_broken_source else None
    if refusal is not None:
        decisions = [*decisions, Decision(outcome="deny", reason=refusal, by="hookonce")]
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
    _, effective_event, _ = apply_rewrite(decision, request.event)  # what would happen, not what was asked for
    if (approval := approvals.consume_approval(effective_event)) is not None:
        return replace(decision, outcome=None, reason=f"{_APPROVAL_REASON} {approval.event}", by="user")
    approvals.leave_question(effective_event)
    return decision


def _apply_stop_limit(request: CallRequest, decision: Decision) -> tuple[Decision, list[Gap]]:
    """Apply the stop limit: an agent that is never let go would cost its user money for ever."""
    if "retry" not in point_of(request.agent, request.native).capabilities or decision.proceed is False:
        return decision, []
    if decision.outcome != "deny" or stop_limit.refuse_stop(request.event, decision.reason):
        return decision, []
    return Decision(), [
        _gap("stop", f"hooks have refused to let the agent stop {stop_limit.MAX_REFUSALS} times; now it may stop")
    ]


def _gap(capability: str, note: str) -> Gap:
    return Gap(where="$.decision", capability=capability, strategy="exclude", effect="observes", note=note)
