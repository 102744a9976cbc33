"""State of a session, and the records derived from each record: the entry point of derivation.

The state is a value: it can be encoded, and rebuilt from the session's records in order.

Plan events come from the tools with which agents enter and leave planning or write to-do lists; no agent has a
hook for them. The text of a plan is never repeated, only its number of steps.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce.model import Event, Object, Record
from hookonce.sessions.derive import calls, context_window, policy, retry, token_usage, turns
from hookonce.sessions.derive.calls import SESSION_ENDS, ActiveSubagents, OpenCalls, assign_subagent, is_refused
from hookonce.sessions.derive.context_window import ContextWindow
from hookonce.sessions.derive.derived_record import derive_record
from hookonce.sessions.derive.retry import RetryState
from hookonce.sessions.derive.token_usage import Spending, token_count, total_usage
from hookonce.sessions.derive.turns import AgentPredicate, TurnState, session_totals
from hookonce.vocabulary.events import is_derived, is_redundant
from hookonce.vocabulary.usage_sources import is_from_transcript

PLAN_START_TOOLS = frozenset({"EnterPlanMode", "enter_plan_mode"})
PLAN_END_TOOLS = frozenset({"ExitPlanMode", "exit_plan_mode", "ExitSpecMode"})
TODO_TOOLS = frozenset({"TodoWrite", "todo_write", "write_todos", "update_plan"})
_STEP_FIELDS = ("todos", "plan")  # the argument with the steps


def derive_plan_events(record: Record) -> list[Record]:
    """Plan events of a finished call; a refused or failed one has changed no plan."""
    event, tool = record.event, record.event.tool
    if tool is None or event.type != "after_tool_execute" or (tool.result is not None and tool.result.ok is False):
        return []
    action: Object = {"action_name": tool.native}
    if tool.native in PLAN_START_TOOLS:
        return [derive_record(event, "plan_start", {"plan_type": "plan"} | action)]
    if tool.native in PLAN_END_TOOLS:
        return [derive_record(event, "plan_end", action)]
    if tool.native not in TODO_TOOLS:
        return []
    steps: Any = next((tool.input[name] for name in _STEP_FIELDS if name in tool.input), None)
    data = {"step_count": len(steps) if type(steps) is list else None}
    return [derive_record(event, "agent_decision", data | action)]


class SessionState(Struct, frozen=True, kw_only=True):
    """State of one session of one agent."""

    calls: OpenCalls = OpenCalls()
    retry: RetryState = RetryState()
    turns: TurnState = TurnState()
    context: ContextWindow = ContextWindow()
    spending: Spending = Spending()
    active_subagents: ActiveSubagents = ()
    model: str | None = None  # the main agent's last one
    transcript_path: str | None = None


def derive_events(
    state: SessionState, record: Record, limit: int | None = None, *, reports_start: AgentPredicate
) -> tuple[SessionState, list[Record]]:
    """The state after a record, and the derived records; `limit` is the size at which its agent compacts, if known."""
    event = record.event
    is_end = is_derived(event) and event.type in SESSION_ENDS  # which no other record reports
    if is_redundant(event) and not is_end:
        return state, []
    new_spending = state.spending if is_end else token_usage.update_spending(state.spending, event)
    open_calls, change = calls.update_calls(state.calls, record)
    new_turns, turn_records = turns.update_turns(state.turns, record, reports_start)
    tokens = token_count(total_usage(new_spending))
    new_retry, retry_records = retry.update_retry(state.retry, record, state.calls, change, tokens)
    new_context, context_records = context_window.update_context(state.context, record, limit)
    new_state = SessionState(
        calls=open_calls,
        retry=new_retry,
        turns=new_turns,
        context=new_context,
        spending=new_spending,
        active_subagents=_update_subagents(state, record),
        model=(event.model if event.subagent is None else None) or state.model,
        transcript_path=_find_transcript(event) or state.transcript_path,
    )
    policy_records = policy.derive_policy_events(state.calls, record, change)
    return new_state, turn_records + policy_records + retry_records + context_records + derive_plan_events(record)


def derive_before_end(state: SessionState, end: Event) -> tuple[SessionState, list[Record]]:
    """The records that belong before a session's end and are not there, and the state with them; else none."""
    if end.type not in SESSION_ENDS or is_from_transcript(end):
        return state, []
    new_turns, records = turns.close_turns(state.turns, end)
    return replace(state, turns=new_turns), records


def _find_transcript(event: Event) -> str | None:
    path = event.data.get("transcript_path") if event.subagent is None else None
    return path if type(path) is str else None


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
    """A start without a source, or after we have derived one, is a repeat: some agents report one at each turn."""
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
    data = session_totals(state.turns, event.time) | event.data | repeat_mark
    return add_session_facts(state, replace(event, usage=usage, data=data))


def add_session_facts(state: SessionState, end: Event) -> Event:
    """A session's end with its last model and its transcript, where another event has told them."""
    path = {} if state.transcript_path is None else {"transcript_path": state.transcript_path}
    return replace(end, model=end.model or state.model, data=path | end.data)


def _complete_tool_end(state: SessionState, event: Event) -> Event:
    """The end of a call that a session file has told before says nothing new."""
    call_id = event.tool.call_id if event.tool is not None else None
    if call_id is not None and not is_from_transcript(event) and call_id in state.calls.file_ends:
        return replace(event, data=event.data | {"repeat": True})
    return assign_subagent(state.active_subagents, event)[0]


def _complete_compaction(state: SessionState, event: Event) -> Event:
    is_read = is_from_transcript(event)
    complete = context_window.complete_transcript_compaction if is_read else context_window.complete_compaction
    return complete(state.context, event)


_COMPLETERS: dict[str, Callable[[SessionState, Event], Event]] = {
    "session_start": _complete_start,
    "before_prompt": _complete_prompt,
    "session_end": _complete_end,
    "before_compact": _complete_compaction,
    "after_compact": _complete_compaction,
    "after_tool_execute": _complete_tool_end,
    "tool_use_failure": _complete_tool_end,
}


def rebuild_state(records: Iterable[Record], reports_start: AgentPredicate) -> SessionState:
    """The state after all records of a session."""
    state = SessionState()
    for record in records:
        state, _ = derive_events(state, record, reports_start=reports_start)
    return state
