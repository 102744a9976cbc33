"""One record further: what follows from it, and what its session remembers of it.

The state is a value. It can be written down, and made again of the session's records in their order.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from hookonce.canon.tellers import from_transcript
from hookonce.derive import calls, context, plans, policy, retry, spending, turns
from hookonce.derive.calls import OVER, Calls, is_refused
from hookonce.derive.context import Context
from hookonce.derive.ending import totals
from hookonce.derive.further import is_echo
from hookonce.derive.inside import Working, inside
from hookonce.derive.retry import Retry
from hookonce.derive.spending import Spending, tokens, total
from hookonce.derive.turns import Turns
from hookonce.model import Event, Record


class State(Struct, frozen=True, kw_only=True):
    """What is remembered of one session of one agent."""

    calls: Calls = Calls()
    retry: Retry = Retry()
    turns: Turns = Turns()
    context: Context = Context()
    spending: Spending = Spending()
    working: Working = ()


def step(state: State, record: Record, limit: int | None = None) -> tuple[State, list[Record]]:
    """The state after a record, and the records that follow from it; those need not be given back to us."""
    event = record.event
    if is_echo(event) and not turns.is_known(event):
        return state, []
    spent = spending.step(state.spending, event) if not turns.is_known(event) else state.spending
    open_calls, change = calls.step(state.calls, record)
    turn, unsaid = turns.step(state.turns, record)
    tried, again = retry.step(state.retry, record, state.calls, change, tokens(total(spent)))
    filled, filling = context.step(state.context, record, limit)
    after = State(
        calls=open_calls,
        retry=tried,
        turns=turn,
        context=filled,
        spending=spent,
        working=_working(state, record),
    )
    planned = plans.step(record)
    return after, [*unsaid, *policy.step(state.calls, record, change), *again, *filling, *planned]


def _working(state: State, record: Record) -> Working:
    if record.event.type in OVER:
        return ()
    return state.working if is_refused(record) else inside(state.working, record.event)[1]


def completed(state: State, event: Event) -> Event:
    """The event with what only its session knows, before it is kept: that a prompt follows up, what an end sums up."""
    if is_echo(event):
        return event
    make = _COMPLETED.get(event.type)
    return inside(state.working, event)[0] if make is None else make(state, event)


def _start(state: State, event: Event) -> Event:
    """A session that begins again without a reason has not begun: some agents say so at each turn.

    Nor has one whose beginning comes in after we have told it ourselves.
    """
    turns, source = state.turns, event.data.get("source")
    is_late = turns.implied and source in ("startup", "resume")
    again = turns.begun and not turns.ended and (source is None or is_late) and turns.unsaid is None
    return replace(event, data=event.data | {"repeat": True}) if again else event


def _prompt(state: State, event: Event) -> Event:
    if event.subagent is not None:
        return event
    return replace(event, data={"is_followup": state.turns.prompts > 0} | event.data)


def _end(state: State, event: Event) -> Event:
    """An end with what the session came to; a second one says nothing new, whoever has told the first."""
    usage = event.usage or total(state.spending)
    again = {"repeat": True} if state.turns.ended else {}
    return replace(event, usage=usage, data=totals(state.turns, event.time) | event.data | again)


def _compaction(state: State, event: Event) -> Event:
    complete = context.read if from_transcript(event) else context.completed
    return complete(state.context, event)


_COMPLETED: dict[str, Callable[[State, Event], Event]] = {
    "session_start": _start,
    "before_prompt": _prompt,
    "session_end": _end,
    "before_compact": _compaction,
    "after_compact": _compaction,
}


def remembered(records: Iterable[Record]) -> State:
    """The state after all records of a session."""
    state = State()
    for record in records:
        state, _ = step(state, record)
    return state
