"""A session in short: its turns and calls one by one as they end, everything else as sums.

The state holds what is open and what is counted, so that it stays small however long a session lasts.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from hookonce.agents import ENDS
from hookonce.derive import calls, spending
from hookonce.derive.calls import OVER, Calls, Change, Ended, Opened, who
from hookonce.derive.files import File, touched
from hookonce.derive.further import is_echo, is_further
from hookonce.derive.spending import Spending, total
from hookonce.derive.turns import BEGINNINGS, SPEAKS, WORK
from hookonce.guard.loops import elapsed
from hookonce.model import Event, Record, Usage

_ALARMS = frozenset({"retry_loop_detected", "retry_loop_aborted", "policy_violation", "policy_override"})


class Turn(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """From a prompt to the answer; without `response` the turn broke off."""

    prompt: str | None = None
    response: str | None = None
    started: str
    ended: str | None = None
    duration_ms: int | None = None
    calls: int = 0


class Call(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tool call; without `end` nobody has told what became of it."""

    id: str
    end: str | None = None
    tool: str
    subagent: str | None = None
    started: str
    duration_ms: int | float | None = None
    ok: bool | None = None
    refused: bool = False
    guessed: bool = False


class Child(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sub-agent; without `parent` it is the main agent's."""

    type: str | None = None
    parent: str | None = None
    session: str | None = None
    started: str
    ended: str | None = None
    calls: int = 0


class End(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """When and how a session ended, and whether its agent has said so itself."""

    time: str
    type: str
    reason: str | None = None
    derived: bool = False


class Session(Struct, frozen=True, kw_only=True):
    """One session of one agent, as far as its records tell."""

    agent: str = ""
    session: str | None = None
    parent: str | None = None
    cwd: str | None = None
    started: str | None = None
    last: str | None = None
    end: End | None = None
    turn: Turn | None = None
    turns: int = 0
    calls: int = 0
    failed: int = 0
    open: Calls = Calls()
    children: dict[str, Child] = {}
    files: dict[str, File] = {}
    models: dict[str, int] = {}
    decisions: dict[str, int] = {}
    alarms: dict[str, int] = {}
    spending: Spending = Spending()

    @property
    def usage(self) -> Usage | None:
        """What it has used, as far as anybody has told."""
        return total(self.spending)


class Summary(Struct, frozen=True, kw_only=True):
    """A session with all its turns and calls."""

    session: Session
    turns: list[Turn]
    calls: list[Call]


def step(session: Session, record: Record) -> tuple[Session, list[Turn | Call]]:
    """The session after a record, and what has ended with it; of a refused call that ran after all, once more."""
    event = record.event
    if event.type in _ALARMS:
        session = replace(session, alarms=_counted(session.alarms, event.type))
    if is_echo(event) and not (is_further(event) and event.type in OVER):
        return session, []
    open_calls, change = calls.step(session.open, record)
    over = _finished(event, change)
    session = _called(replace(_seen(session, record), open=open_calls), event, change, over)
    session, turns = _turned(session, record)
    return session, [*over, *turns]


def summary(records: Iterable[Record]) -> Summary:
    """All records of a session, folded; what is open is listed as it stands."""
    session, over = Session(), list[Turn | Call]()
    for record in records:
        session, more = step(session, record)
        over += more
    waiting = [_lost(call) for items in session.open.open.values() for call in items]
    turns = [one for one in over if isinstance(one, Turn)] + ([session.turn] if session.turn else [])
    done = {one.id: one for one in [*over, *waiting] if isinstance(one, Call)}
    return Summary(session=session, turns=turns, calls=sorted(done.values(), key=lambda call: (call.started, call.id)))


def _seen(session: Session, record: Record) -> Session:
    """What any record tells of its session."""
    event, decision = record.event, record.decision
    outcome = None if decision is None or is_further(event) else decision.outcome
    return replace(
        session,
        agent=session.agent or event.agent,
        session=session.session or event.session,
        parent=session.parent or event.parent_session,
        cwd=session.cwd or event.cwd,
        started=session.started or event.time,
        last=event.time,
        end=_end(session, event),
        children=_children(session, event),
        files=touched(session.files, event),
        models=_models(session.models, event),
        decisions=_counted(session.decisions, outcome),
        spending=session.spending if is_further(event) else spending.step(session.spending, event),
    )


def _end(session: Session, event: Event) -> End | None:
    """Whoever works again has not ended; what the agent says itself counts more than what we have guessed."""
    if event.type not in OVER:
        return None if event.type in BEGINNINGS or event.type == "session_start" else session.end
    if session.end is not None and (is_further(event) or not session.end.derived):
        return session.end
    reason = event.data.get("reason")
    return End(
        time=event.time, type=event.type, reason=reason if type(reason) is str else None, derived=is_further(event)
    )


def _children(session: Session, event: Event) -> dict[str, Child]:
    name = who(event)
    if name is None or event.subagent is None:
        return session.children
    known = session.children.get(name) or Child(started=event.time)
    own = event.data.get("child_session")
    child = replace(
        known,
        type=known.type or event.subagent.type,
        parent=known.parent or event.subagent.parent,
        session=known.session or (own if type(own) is str else None),
        ended=event.time if event.type == "subagent_stop" else None,
        calls=known.calls + (event.type == calls.BEGINS),
    )
    return session.children | {name: child}


def _called(session: Session, event: Event, change: Change, over: list[Call]) -> Session:
    failed = session.failed + sum(call.ok is False and not call.refused for call in over)
    if change.opened is None and not _is_orphan(event, change):
        return replace(session, failed=failed)
    turn = session.turn or Turn(started=event.time)
    if event.subagent is None or session.turn is not None:
        session = replace(session, turn=replace(turn, calls=turn.calls + 1))
    return replace(session, calls=session.calls + 1, failed=failed)


def _finished(event: Event, change: Change) -> list[Call]:
    found = [_lost(call) for call in change.lost]
    if change.opened is not None and change.opened.refused:
        found.append(_lost(change.opened))
    if change.ended is not None:
        found.append(_call(change.ended, event))
    elif _is_orphan(event, change):
        found.append(_call(Ended(call=calls.opened(Record(event=event))), event))
    return found


def _is_orphan(event: Event, change: Change) -> bool:
    """Whether an outcome is all that was ever told of its call."""
    return event.type in ENDS and event.tool is not None and change.ended is None


def _lost(call: Opened) -> Call:
    return Call(id=call.id, tool=call.tool, subagent=call.who, started=call.time, refused=call.refused, guessed=False)


def _call(ended: Ended, event: Event) -> Call:
    call, result = ended.call, event.tool.result if event.tool is not None else None
    told = None if result is None else result.duration_ms
    return Call(
        id=call.id,
        end=event.id,
        tool=call.tool,
        subagent=call.who,
        started=call.time,
        duration_ms=elapsed(call.time, event.time) if told is None else told,
        ok=None if result is None else result.ok,
        refused=call.refused,
        guessed=ended.guessed,
    )


def _turned(session: Session, record: Record) -> tuple[Session, list[Turn | Call]]:
    event, turn = record.event, session.turn
    if event.subagent is not None:
        return session, []
    if event.type == "before_prompt":
        begun = replace(session, turn=Turn(prompt=event.id, started=event.time), turns=session.turns + 1)
        return begun, [] if turn is None else [turn]
    if turn is None:
        return session, []
    if event.type in OVER or event.type == "interrupt":
        return replace(session, turn=None), [turn if turn.response else _closed(turn, event, None)]
    if event.type == "agent_stop" and (record.decision is None or record.decision.outcome != "deny"):
        return replace(session, turn=None), [_closed(turn, event, event.id)]
    return replace(session, turn=_spoken(turn, event)), []


def _spoken(turn: Turn, event: Event) -> Turn:
    """Last words are the answer of a turn that nobody ends, unless more work follows them."""
    if event.type in SPEAKS and event.data.get("response") is not None:
        return _closed(turn, event, event.id)
    return replace(turn, response=None, ended=None, duration_ms=None) if event.type in WORK - SPEAKS else turn


def _closed(turn: Turn, event: Event, response: str | None) -> Turn:
    return replace(turn, ended=event.time, duration_ms=elapsed(turn.started, event.time), response=response)


def _models(models: dict[str, int], event: Event) -> dict[str, int]:
    """Models that were named, and how many answers of each were seen."""
    if event.model is None:
        return models
    return models | {event.model: models.get(event.model, 0) + (event.type == "after_model")}


def _counted(table: dict[str, int], name: str | None) -> dict[str, int]:
    return table if name is None else table | {name: table.get(name, 0) + 1}
