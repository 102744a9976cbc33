"""Call pipeline: decode ─ select hooks of all scopes ─ run in order ─ merge ─ weaken ─ record ─ native reply."""

from os.path import join
from pathlib import Path
from time import monotonic, time
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import config_of, decode, point_of
from hookonce.base import ids, process_info, runtime_dir, settings, times
from hookonce.base.jsontext import NestingError, load_leniently
from hookonce.base.terminal_text import escape_data
from hookonce.dispatch import dedup, fail_mode, stop_limit
from hookonce.dispatch.context import CallContext
from hookonce.dispatch.dedup import CallDecision
from hookonce.dispatch.dialect import is_agent_dialect
from hookonce.dispatch.identification import identify, outweighs_claim, overruling_entry, payload_event
from hookonce.dispatch.run import CallerContext, HookResult, apply_rewrite, call_budget_s, hooks_task
from hookonce.dispatch.select import CandidateHook, SelectedHook, find_candidates, find_policy_gap, select_hooks
from hookonce.errors import UNREADABLE, HookonceError, PayloadError
from hookonce.handlers.operation import Task
from hookonce.manifest.discover import Scope, find_project
from hookonce.model import Agent, Decision, Event, Gap, Handler, Hook, Object, Origin, Point, Record, Reply
from hookonce.trust import approvals
from hookonce.vocabulary.decision_merge import MAX_CONTEXT_CHARS, merge_decisions, weaken

_MAX_PATH_CHARS = 4096
_RECORD_WAIT_S = 0.2  # seconds
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
    id: str = ""
    started_at: float | None = None


class HooksInForce(Struct, frozen=True, kw_only=True):
    """The project of a call, and every hook of every scope that is for its event, as their files are now."""

    project: Path
    candidates: list[CandidateHook]


class CallRequest(Struct, frozen=True, kw_only=True):
    """A call, understood once: arguments, agent by evidence, native event name, event, caller's process (0: ours).

    `budget_s` is the time for its hooks; `in_force` what was found of its hooks, None if nobody has looked yet;
    `hook_event` the event as hooks are told, where that is more than what the agent has said.
    """

    arguments: CallArguments = CallArguments(agent="")
    agent: Agent
    native: str
    event: Event
    caller_pid: int = 0
    budget_s: float | None = None
    in_force: HooksInForce | None = None
    hook_event: Event | None = None


class CallResponse(Struct, frozen=True, kw_only=True):
    """The native reply, and the record of the call."""

    reply: Reply
    record: Record


def parse_request(call: CallArguments, raw: bytes, caller_pid: int = 0) -> CallRequest:
    """Decode a call; the arguments are a claim, and evidence in the payload is stronger.

    A PayloadError for whatever cannot be read: a model has written most of it, and hooks have to judge it.
    """
    claimed_agent = agents.load(call.agent)
    try:
        agent, event_name, event = _decode_payload(call, claimed_agent, _parse_payload(raw))
    except UNREADABLE as problem:
        raise PayloadError(f"the payload has a form that nobody knows ({type(problem).__name__})") from problem
    if event.cwd is not None and ("\0" in event.cwd or len(event.cwd) > _MAX_PATH_CHARS):
        event = replace(event, cwd=None)  # no folder has such a name
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


def _decode_payload(call: CallArguments, claimed_agent: Agent, payload: Any) -> tuple[Agent, str | None, Event]:
    """Agent and event by evidence of the payload, with the event decoded; marks of the environment prove nothing."""
    identification = identify(payload) if payload else None
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
    native_names = {*agents.config_events(agent), *config_of(agent).points}
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
        raise PayloadError(f"the payload is no JSON: {problem}") from None


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
    if call.via is None:
        return build_response(request, (yield from _decide_call(request, call_context, deadline)))
    joined_at = monotonic()
    entry = yield from dedup.join_call(event, call.via, deadline, call_context.dedup_store)
    request = _with_dedup_ids(request, entry)
    if monotonic() - joined_at > _MAX_SELECTION_AGE_S:  # trust or policy may have changed while we waited
        request = replace(request, in_force=None)
    if entry.decided is not None:
        yield from _wait_for_record(entry.first_id, call_context)
        return build_response(request, entry.decided)
    try:
        call_decision = yield from _decide_call(request, call_context, deadline)
        return build_response(
            _with_dedup_ids(request, dedup.publish_decision(request.event, call_decision, call_context.dedup_store)),
            call_decision,
        )
    except AlreadyClaimedError:
        raise  # somebody else has this very call, and its doors
    except BaseException:
        dedup.abandon_call(request.event, call_context.dedup_store)  # who waits at another door decides
        raise


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
    if request.hook_event is not None and request.hook_event.data.get("repeat") is True:
        note = "hooks were asked about the end of this session before, and are not asked again"
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
        raise AlreadyClaimedError("somebody else runs the hooks of this very call")
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

    It runs in the caller's directory. What its exit code means is for the agent to say that it was written for,
    which knows no non-blocking hooks.
    """
    call = request.arguments
    handler = Handler(type="command", command=call.run, timeout=call.timeout, cwd=cwd)
    has_agent_dialect = call.dialect is not None and is_agent_dialect(call.dialect)
    blocking = has_agent_dialect or bool(point_of(request.agent, request.native).capabilities & {"prevent", "retry"})
    hook = Hook(event=request.event.type, handler=handler, dialect=call.dialect, blocking=blocking, may_allow=True)
    scope: Scope = "user" if call.scope == "user" else "project"
    return SelectedHook(hook=hook, scope=scope, folder=cwd, may_allow=scope == "user")


def _effective_point(request: CallRequest) -> Point:
    """The event's capabilities; a `fatal` ask counts as native while a terminal is there."""
    point = point_of(request.agent, request.native)
    return (
        replace(point, ask="native")
        if point.ask == "fatal" and process_info.has_terminal(request.caller_pid)
        else point
    )


def _apply_approval(request: CallRequest, decision: Decision) -> Decision:
    """Apply a person's approval to an `ask` that this agent cannot show, or leave a question for one."""
    if decision.outcome != "ask" or _effective_point(request).ask in {"native", "denies_headless"}:
        return decision
    _, effective_event, _ = apply_rewrite(
        decision, request.event
    )  # what would happen, and not what the agent has asked for
    if approvals.consume_approval(effective_event):
        return replace(decision, outcome=None, reason=None, by=None)
    approvals.leave_question(effective_event)
    return decision


def _apply_stop_limit(request: CallRequest, decision: Decision) -> tuple[Decision, list[Gap]]:
    """Apply the stop limit: an agent that is never let go would cost its user money for ever."""
    if "retry" not in point_of(request.agent, request.native).capabilities or decision.proceed is False:
        return decision, []
    if decision.outcome != "deny" or stop_limit.refuse_stop(request.event, decision.reason):
        return decision, []
    return Decision(), [_gap("stop", f"the agent was kept from stopping {stop_limit.MAX_REFUSALS} times; now it may")]


def build_response(request: CallRequest, call_decision: CallDecision) -> CallResponse:
    """The response for a decision, weakened to what the agent can be told, and its record."""
    decision, event, rewrite_gaps = apply_rewrite(call_decision.decision, request.event)
    original_input = request.event.tool.input if request.event.tool is not None else _prompt_input(request.event)
    final, weaken_gaps = weaken(decision, _effective_point(request), original_input, _max_context_chars(decision))
    gaps = [*call_decision.gaps, *rewrite_gaps, *weaken_gaps]
    record = Record(event=request.event, decision=final, runs=call_decision.runs, gaps=gaps)
    return CallResponse(reply=_native_reply(replace(request, event=event), final), record=record)


def _max_context_chars(decision: Decision) -> int:
    if decision.context is None:
        return MAX_CONTEXT_CHARS
    return settings.load().require().context_limit or MAX_CONTEXT_CHARS


def _prompt_input(event: Event) -> Object | None:
    return {"prompt": event.prompt} if type(event.prompt) is str else None


def _native_reply(request: CallRequest, decision: Decision) -> Reply:
    """The native reply for a weakened decision; its event has the new input already."""
    agent, tool, new_input = request.agent, request.event.tool, decision.updated_input
    if agent.reply is None or not _has_opinion(decision):
        return Reply(stdout=config_of(agent).silence)
    reply = agent.reply(
        request.native, decision, tool.native_input if new_input is not None and tool is not None else new_input
    )
    if reply.stderr.isprintable():
        return reply
    return replace(reply, stderr=escape_data(reply.stderr))  # agents show it on a terminal as it is


def _has_opinion(decision: Decision) -> bool:
    return replace(decision, by=None, reason=decision.reason if decision.outcome else None) != Decision()


def _gap(capability: str, note: str) -> Gap:
    return Gap(where="$.decision", capability=capability, strategy="exclude", effect="observes", note=note)
