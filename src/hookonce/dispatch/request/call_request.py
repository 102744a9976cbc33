"""Request of a call: arguments and payload, decoded once, with the agent and the event by evidence."""

from codecs import BOM_UTF8
from time import time
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import decode, entry_timeout, point_of
from hookonce.base import ids, times
from hookonce.base.jsontext import NestingError, load_leniently
from hookonce.base.runtime_location import MAX_PATH_CHARS
from hookonce.dispatch import live_formats
from hookonce.dispatch.identification import (
    evidence_key,
    find_document_format,
    identify,
    is_known_by_key,
    outweighs_claim,
    overruling_entry,
    payload_event,
)
from hookonce.errors import UNREADABLE, DocumentError, PayloadError
from hookonce.model import Agent, Decision, Event, Format, Gap, HookRun, Origin, Record

if TYPE_CHECKING:
    from pathlib import Path

    from hookonce.dispatch.select import CandidateHook

_MIN_MARGIN_S, _MARGIN_RATIO = 0.5, 0.1
_MAX_WAIT_S = 600  # seconds that a call may have waited
_MAX_SENDERS, _MAX_KEY_CHARS = 256, 1 << 12  # that are remembered, and characters by which one is


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

    project: "Path"
    candidates: "list[CandidateHook]"


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


class CallSender(Struct, frozen=True, kw_only=True):
    """The agent of a payload by evidence, and the event's name; `is_certain` if that counts whatever the payload says.

    `points` has the native name and the budget of each type that such an event had, by the rest of its payload.
    """

    agent: Agent
    event_name: str | None
    is_certain: bool
    points: dict[str, tuple[str, float]]


class CallDecision(Struct, frozen=True, kw_only=True):
    """The merged decision of all hooks of a call, before it is weakened to what the agent can be told."""

    decision: Decision
    runs: list[HookRun] = []
    gaps: list[Gap] = []


def parse_request(call: CallArguments, raw: bytes, caller_pid: int = 0) -> CallRequest:
    """Decode a call; the arguments are a claim, and evidence in the payload is stronger.

    A PayloadError for whatever cannot be read: a model has written most of it, and hooks have to judge it.
    """
    claimed_agent = live_formats.load_caller(call.agent)
    try:
        payload = _parse_payload(raw)
        sender = _find_sender(call, claimed_agent, payload)
        if isinstance(sender, Format):
            return _document_request(call, sender, payload, caller_pid)
        agent, identity = sender.agent, {"id": call.id or ids.new_id(), "received": _received_time(call.id)}
        event = decode(agent, payload, sender.event_name, is_certain=sender.is_certain, **identity)
    except DocumentError as problem:
        raise PayloadError(problem.message, problem.path) from problem
    except UNREADABLE as problem:
        raise PayloadError(f"the payload has an unknown form ({type(problem).__name__})") from problem
    event = _without_bad_cwd(event)
    if call.via is not None:
        event = replace(event, origin=Origin(via=[call.via]))
    if agent is not claimed_agent:
        event = replace(event, data=event.data | {"called_through": f"{claimed_agent.name} {call.event or ''}".strip()})
    point = sender.points.get(event.type)
    if point is None:
        native = native_name(agent, event, sender.event_name, payload_event(agent, event.native))
        point = native, call_budget_s(agent, native, call.timeout, is_wrapper=call.run is not None)
        sender.points[event.type] = point
    return CallRequest(
        arguments=call, agent=agent, native=point[0], event=event, caller_pid=caller_pid, budget_s=point[1]
    )


def _find_sender(call: CallArguments, claimed_agent: Agent, payload: Any) -> CallSender | Format:
    """The sender of a payload, or the open format that it has; remembered by all that decides it.

    Marks of the environment prove nothing.
    """
    key = None
    if type(payload) is dict:
        key = (call.agent, call.event, call.timeout, call.run is None, *evidence_key(payload))
        try:
            if (known_sender := _senders.get(key)) is not None:
                return known_sender
        except TypeError:  # a name that is a list or an object
            key = None
    identification = identify(payload, lists_candidates=False) if payload else None
    form = find_document_format(identification, claimed_agent, call.event)
    if form is not None and (call.run is None or live_formats.is_live(claimed_agent.name)):
        return form
    agent, event_name = claimed_agent, call.event
    if identification is not None and outweighs_claim(identification, claimed_agent, call.event, payload):
        agent, event_name = agents.load(str(identification.name)), identification.event or call.event
    is_known = key is not None and sum(map(len, map(str, key))) < _MAX_KEY_CHARS
    is_known = is_known and is_known_by_key(payload, claimed_agent, agent)
    entry = overruling_entry(agent, payload, claimed_agent, call.event) if call.event and payload else None
    if entry is not None:
        agent, event_name = entry
    sender = CallSender(agent=agent, event_name=event_name, is_certain=entry is not None, points={})
    if is_known:
        if len(_senders) >= _MAX_SENDERS:
            _senders.clear()
        _senders[key] = sender
    return sender


_senders: dict[tuple[Any, ...] | None, CallSender] = {}


def _document_request(call: CallArguments, form: Format, payload: Any, caller_pid: int) -> CallRequest:
    from hookonce.dispatch import intake  # most calls are no documents

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


def native_name(agent: Agent, event: Event, *candidates: str | None) -> str:
    """The configured event name: from arguments or payload if it fits the type, else the agent's own."""
    native_names = {*agents.config_events(agent), *agent.config.points}
    matches = (
        name for name in candidates if name in native_names and agents.canonical_event_of(agent, name) == event.type
    )
    return next(matches, None) or agents.config_event_of(agent, event.type) or next(filter(None, candidates), "")


def _parse_payload(raw: bytes) -> Any:
    """Parse the payload; some agents send none, which is an event without details."""
    text = raw.removeprefix(BOM_UTF8).decode(errors="replace").strip()
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
        times.from_milliseconds(round(id_time * 1000))
        if id_time is not None and now - _MAX_WAIT_S < id_time <= now
        else None
    ) or times.now()


def call_budget_s(agent: Agent, native: str, timeout_s: float | None, *, is_wrapper: bool = False) -> float:
    """Seconds for all hooks of a call: the native timeout, or the agent's cap, less half a second or a tenth.

    A wrapper without a timeout has the agent's own default, an installed entry the one that we have written.
    """
    if timeout_s is None or not 0 < timeout_s < float("inf"):
        timeout_s = (agent.config.timeout if is_wrapper else None) or entry_timeout(agent, native)
    limits = (timeout_s, point_of(agent, native).hard_timeout_s, agent.config.longest)
    limit = min(value for value in limits if value is not None)
    return max(limit - max(_MIN_MARGIN_S, _MARGIN_RATIO * limit), 0)
