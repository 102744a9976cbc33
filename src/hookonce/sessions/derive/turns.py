"""Turn state of a session: start, turns, last response, and implicit starts, stops and ends.

Missing events are derived: a session starts with its first work, starts again after its end, a turn stops with
the agent's last response when the next one begins, and a session ends when its process is gone or after half an
hour of rest. Where agents report the start, it is given time to arrive: the first call of a day starts the
daemon, and is known last.
"""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base.times import elapsed_ms
from hookonce.model import Event, Object, Record
from hookonce.sessions.derive.calls import SESSION_ENDS
from hookonce.sessions.derive.derived_record import derive_record
from hookonce.sessions.derive.token_usage import Spending, total_usage
from hookonce.vocabulary.events import CALLER_FIELDS, TOOL_END_EVENTS
from hookonce.vocabulary.usage_sources import is_from_transcript

BEGIN_EVENTS = frozenset({"before_prompt", "before_tool_execute", "before_model"})  # other work may come in late
RESPONSE_EVENTS = frozenset({"after_model", "agent_response"})
WORK_EVENTS = BEGIN_EVENTS | RESPONSE_EVENTS | TOOL_END_EVENTS | {"agent_stop", "subagent_start"}
AgentPredicate = Callable[[str], bool]  # of the agent of that name
_INHERITED_DATA = ("response", *CALLER_FIELDS)
_START_GRACE_MS = 10_000  # in which a beginning may come in after what it began


class TurnState(Struct, frozen=True, kw_only=True):
    """Turn state; `last_response` is the event with the agent's last words, if nothing came after them.

    `pending_start` is the first event of a session whose start may still arrive; `is_start_derived`: we have derived
    it.
    """

    first: str | None = None
    last: Event | None = None
    has_begun: bool = False
    pending_start: Event | None = None
    is_start_derived: bool = False
    has_ended: bool = False
    is_working: bool = False
    prompts: int = 0
    actions: int = 0
    last_response: Event | None = None


def update_turns(turns: TurnState, record: Record, reports_start: AgentPredicate) -> tuple[TurnState, list[Record]]:
    """The turn state after a record, and derived records.

    `reports_start`: whether the agent of that name reports session starts. Transcript events arrive late and do not
    change the state. Events without a session start none.
    """
    event = record.event
    if is_from_transcript(event) or event.session is None:
        return turns, []
    turns, start_records = _derive_start(turns, event, reports_start)
    derived_records = start_records + _derive_stop(turns, event)
    turns = replace(turns, first=turns.first or event.time, last=_strip_event(event))
    if event.type in SESSION_ENDS:
        return replace(turns, has_ended=True, is_working=False, last_response=None), derived_records
    if event.type == "session_start":
        return replace(turns, has_begun=True, has_ended=False, is_start_derived=False), derived_records
    if event.type in WORK_EVENTS:
        turns = replace(turns, has_begun=True, has_ended=turns.has_ended and event.type not in BEGIN_EVENTS)
    return _apply_event(turns, record), derived_records


def _apply_event(turns: TurnState, record: Record) -> TurnState:
    event = record.event
    turns = replace(turns, actions=turns.actions + (event.type == "before_tool_execute"))
    if event.subagent is not None:
        return turns
    if event.type == "before_prompt":
        return replace(turns, is_working=True, prompts=turns.prompts + 1, last_response=None)
    if event.type == "agent_stop":  # a denial there keeps it going
        is_working = record.decision is not None and record.decision.outcome == "deny"
        return replace(turns, is_working=is_working, last_response=None)
    if event.type == "interrupt":
        return replace(turns, is_working=False, last_response=None)
    if event.type in RESPONSE_EVENTS:
        last_response = _strip_event(event) if event.data.get("response") is not None else turns.last_response
        return replace(turns, is_working=True, last_response=last_response)
    return replace(turns, is_working=True, last_response=None) if event.type in WORK_EVENTS else turns


def _derive_start(turns: TurnState, event: Event, reports_start: AgentPredicate) -> tuple[TurnState, list[Record]]:
    if turns.pending_start is not None:
        return _await_start(turns, turns.pending_start, event)
    is_open = turns.has_begun and not turns.has_ended
    if is_open or event.type not in (BEGIN_EVENTS if turns.has_ended else WORK_EVENTS):
        return turns, []
    if not turns.has_ended and reports_start(event.agent):
        return replace(turns, pending_start=_strip_event(event)), []
    source = {"source": "resume"} if turns.has_ended else {}
    return replace(turns, is_start_derived=True), [derive_record(event, "session_start", source, subagent=None)]


def _await_start(turns: TurnState, first: Event, event: Event) -> tuple[TurnState, list[Record]]:
    """The start arrives, or is derived after the grace time."""
    if event.type == "session_start":
        return replace(turns, pending_start=None), []
    if event.type not in SESSION_ENDS and (elapsed_ms(first.time, event.time) or 0) < _START_GRACE_MS:
        return turns, []
    turns = replace(turns, pending_start=None, is_start_derived=True)
    return turns, [derive_record(first, "session_start", {}, subagent=None)]


def close_turns(turns: TurnState, end: Event) -> tuple[TurnState, list[Record]]:
    """What is missing before a session's end: a start that its agent has not reported, the stop of its last turn."""
    records: list[Record] = []
    if turns.pending_start is not None:
        turns, records = _await_start(turns, turns.pending_start, end)
    records += _derive_stop(turns, end)
    return replace(turns, last_response=None), records


def _derive_stop(turns: TurnState, event: Event) -> list[Record]:
    """The stop of a turn that the agent did not report."""
    closes = event.type in SESSION_ENDS or (event.type == "before_prompt" and event.subagent is None)
    if not closes or turns.last_response is None:
        return []
    return [derive_record(turns.last_response, "agent_stop", {"response": turns.last_response.data["response"]})]


def _strip_event(event: Event) -> Event:
    """Only what a derived record takes over."""
    data = {name: event.data[name] for name in _INHERITED_DATA if event.data.get(name) is not None}
    return replace(event, native=None, tool=None, prompt=None, data=data)


IDLE_TIMEOUT_MS = 30 * 60 * 1000


def derive_end(
    turns: TurnState, spending: Spending, *, now: str, is_process_gone: bool | None, has_open_call: bool
) -> Record | None:
    """The implicit end of a session, or None; `is_process_gone` is None where the process is unknown.

    `has_open_call`: while the process lives, that is no rest, however long it takes. Mid-turn it is an abort. The
    record stays the same until something happens in the session.
    """
    last = turns.last
    if last is None or not turns.has_begun or turns.has_ended:
        return None
    idle_ms = elapsed_ms(last.received or last.time, now) or 0  # by our own clock, where it has come to us
    if is_process_gone:
        event_type, reason = ("session_abort", "aborted") if turns.is_working else ("session_end", "exit")
    elif idle_ms >= IDLE_TIMEOUT_MS and not (has_open_call and is_process_gone is False):
        event_type, reason = "session_end", "idle_timeout"
    else:
        return None
    data = {"reason": reason} | session_totals(turns, last.time)
    return derive_record(last, event_type, data, usage=total_usage(spending), subagent=None)


def session_totals(turns: TurnState, end: str) -> Object:
    """Number of actions and duration of a session."""
    duration_ms = None if turns.first is None else elapsed_ms(turns.first, end)
    return {"total_actions": turns.actions} | ({} if duration_ms is None else {"duration_ms": duration_ms})
