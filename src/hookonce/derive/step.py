"""One record further: what follows from it, and what its session remembers of it.

The state is a value. It can be written down, and made again of the session's records in their order.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from hookonce.canon.tellers import is_from_transcript
from hookonce.derive import calls, context, plans, policy, retry, spending, turns
from hookonce.derive.calls import SESSION_ENDS, OpenCalls, is_refused
from hookonce.derive.context import ContextWindow
from hookonce.derive.ending import session_totals
from hookonce.derive.further import is_redundant
from hookonce.derive.inside import ActiveSubagents, assign_subagent
from hookonce.derive.retry import RetryState
from hookonce.derive.spending import Spending, token_count, total_usage
from hookonce.derive.turns import TurnState
from hookonce.model import Event, Record


class SessionState(Struct, frozen=True, kw_only=True):
    """State of one session of one agent."""

    calls: OpenCalls = OpenCalls()
    retry: RetryState = RetryState()
    turns: TurnState = TurnState()
    context: ContextWindow = ContextWindow()
    spending: Spending = Spending()
    active_subagents: ActiveSubagents = ()


def derive_events(state: SessionState, record: Record, limit: int | None = None) -> tuple[SessionState, list[Record]]:
    """The state after a record, and the derived records; those need not be passed in again."""
    event = record.event
    if is_redundant(event) and not turns.is_derived_end(event):
        return state, []
    new_spending = spending.update_spending(state.spending, event) if not turns.is_derived_end(event) else state.spending
    open_calls, change = calls.update_calls(state.calls, record)
    new_turns, turn_records = turns.update_turns(state.turns, record)
    new_retry, retry_records = retry.update_retry(state.retry, record, state.calls, change, token_count(total_usage(new_spending)))
    new_context, context_records = context.update_context(state.context, record, limit)
    new_state = SessionState(
        calls=open_calls,
        retry=new_retry,
        turns=new_turns,
        context=new_context,
        spending=new_spending,
        active_subagents=_update_subagents(state, record),
    )
    plan_records = plans.derive_plan_events(record)
    return new_state, [*turn_records, *policy.derive_policy_events(state.calls, record, change), *retry_records, *context_records, *plan_records]


def _update_subagents(state: SessionState, record: Record) -> ActiveSubagents:
    if record.event.type in SESSION_ENDS:
        return ()
    return state.active_subagents if is_refused(record) else assign_subagent(state.active_subagents, record.event)[1]


def complete_event(state: SessionState, event: Event) -> Event:
    """The event with fields that only its session knows: `is_followup` of a prompt, totals of an end."""
    if is_redundant(event):
        return event
    completer = _COMPLETERS.get(event.type)
    return assign_subagent(state.active_subagents, event)[0] if completer is None else completer(state, event)


def _complete_start(state: SessionState, event: Event) -> Event:
    """A repeated start without a source is marked as a repeat: some agents report one at each turn.

    So is one that arrives after we have derived it.
    """
    turns, source = state.turns, event.data.get("source")
    is_late = turns.is_start_derived and source in ("startup", "resume")
    is_repeat = turns.has_begun and not turns.has_ended and (source is None or is_late) and turns.pending_start is None
    return replace(event, data=event.data | {"repeat": True}) if is_repeat else event


def _complete_prompt(state: SessionState, event: Event) -> Event:
    if event.subagent is not None:
        return event
    return replace(event, data={"is_followup": state.turns.prompts > 0} | event.data)


def _complete_end(state: SessionState, event: Event) -> Event:
    """A second end says nothing new."""
    usage = event.usage or total_usage(state.spending)
    repeat_mark = {"repeat": True} if state.turns.has_ended else {}
    return replace(event, usage=usage, data=session_totals(state.turns, event.time) | event.data | repeat_mark)


def _complete_compaction(state: SessionState, event: Event) -> Event:
    complete = context.complete_transcript_compaction if is_from_transcript(event) else context.complete_compaction
    return complete(state.context, event)


_COMPLETERS: dict[str, Callable[[SessionState, Event], Event]] = {
    "session_start": _complete_start,
    "before_prompt": _complete_prompt,
    "session_end": _complete_end,
    "before_compact": _complete_compaction,
    "after_compact": _complete_compaction,
}


def rebuild_state(records: Iterable[Record]) -> SessionState:
    """The state after all records of a session."""
    state = SessionState()
    for record in records:
        state, _ = derive_events(state, record)
    return state
