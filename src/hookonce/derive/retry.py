"""Retry.*: what is tried again, what goes round, and who has stopped it."""

from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from hookonce.canon.tools import ACTIONS
from hookonce.derive.calls import OVER, Calls, Change, Opened, who
from hookonce.derive.further import further
from hookonce.guard.likeness import mark
from hookonce.guard.loops import WINDOW, Act, Loop, elapsed, find
from hookonce.model import Event, Object, Record

_DENIED = -1  # the outcome of a call that was refused
_AGAIN = 2  # a loop is told of once more when it has doubled


class Known(Struct, frozen=True, kw_only=True):
    """A call that is over, and by which record it had begun."""

    id: str
    act: Act


class Told(Struct, frozen=True, kw_only=True):
    """A loop as it is now, and how long it was when it was told of."""

    loop: Loop
    count: int


class Retry(Struct, frozen=True, kw_only=True):
    """The last calls of a session, and the loops that were told of, by sub-agent."""

    done: tuple[Known, ...] = ()
    loops: dict[str, Told] = {}


def step(retry: Retry, record: Record, calls: Calls, change: Change, spent: int | None) -> tuple[Retry, list[Record]]:
    """What follows from a record; `calls` are those that were open before it, `spent` the tokens by now."""
    event = record.event
    if event.type in OVER or event.type == "interrupt":
        every = enumerate(told.loop for _, told in sorted(retry.loops.items()))
        return Retry(), [_aborted(event, loop, index) for index, loop in every]
    if event.type == "before_prompt":
        return _prompted(retry, event), []
    if change.opened is not None:
        return _opened(retry, event, calls, change.opened, spent)
    if change.ended is not None and event.tool is not None and event.tool.result is not None:
        return _ended(retry, event, change.ended.call, spent)
    return retry, []


def _prompted(retry: Retry, event: Event) -> Retry:
    """A new prompt is a new beginning for whoever is given it."""
    by = who(event)
    left = tuple(known for known in retry.done if known.act.who != by)
    return Retry(done=left, loops=_others(retry, by))


def _opened(retry: Retry, event: Event, calls: Calls, call: Opened, spent: int | None) -> tuple[Retry, list[Record]]:
    found = _again(retry, event, call, spent)
    waiting = [one for items in calls.open.values() for one in items if _same(one, call)]
    if waiting:  # begun anew before anybody told what the last one came to
        retry, more = _settled(retry, event, _known(waiting[-1], waiting[-1].time, spent))
        found += more
    if not call.refused:
        return retry, found
    told = retry.loops.get(call.who or "")
    if told is not None and _goes_on(retry, told.loop, call):
        left = tuple(known for known in retry.done if known.act.who != call.who)
        return Retry(done=left, loops=_others(retry, call.who)), [*found, _aborted(event, told.loop)]
    denied = _known(call, event.time, spent, outcome=_DENIED, ok=False)
    retry, more = _settled(retry, event, denied)
    return retry, found + more


def _ended(retry: Retry, event: Event, call: Opened, spent: int | None) -> tuple[Retry, list[Record]]:
    result = event.tool.result if event.tool is not None else None
    failed = result is not None and (result.ok is False or (result.exit_code or 0) != 0)
    known = _known(call, event.time, spent, outcome=mark(event), ok=not failed)
    return _settled(retry, event, known)


def _settled(retry: Retry, event: Event, known: Known) -> tuple[Retry, list[Record]]:
    """One more call is over; a loop is told of when it is one, and whenever it has doubled."""
    done = (*(one for one in retry.done if one.id != known.id), known)[-WINDOW:]
    by, others = known.act.who or "", _others(retry, known.act.who)
    before, loop = retry.loops.get(by), find([one.act for one in done])
    if loop is None:
        return Retry(done=done, loops=others), []
    if before is not None and loop.iteration_count < _AGAIN * before.count:
        return Retry(done=done, loops=others | {by: replace(before, loop=loop)}), []
    told = Told(loop=loop, count=loop.iteration_count)
    return Retry(done=done, loops=others | {by: told}), [further(event, "retry_loop_detected", _data(loop))]


def _again(retry: Retry, event: Event, call: Opened, spent: int | None) -> list[Record]:
    """The call that failed last, made once more."""
    mine = [known for known in reversed(retry.done) if known.act.who == call.who]
    tries = [*takewhile(lambda known: _failed_alike(known.act, call), mine)]
    if not tries:
        return []
    first = tries[-1].act
    used = None if spent is None or first.spent is None else max(spent - first.spent, 0)
    data = {
        "iteration_count": len(tries) + 1,
        "action_name": action(call.tool),
        "tokens_consumed": used,
        "elapsed_ms": elapsed(first.time, event.time),
    }
    return [further(event, "retry_triggered", data, caused_by=tries[0].id)]


def action(tool: str) -> str:
    """What Agent Hooks calls the action of a tool."""
    return "mcp:" + tool.partition("/")[2] if tool.startswith("mcp:") else ACTIONS.get(tool, tool)


def _known(call: Opened, time: str, spent: int | None, *, outcome: int | None = None, ok: bool | None = None) -> Known:
    act = Act(who=call.who, action=call.tool, given=call.given, outcome=outcome, ok=ok, time=time, spent=spent)
    return Known(id=call.id, act=act)


def _goes_on(retry: Retry, loop: Loop, call: Opened) -> bool:
    """Whether a call would be the next of its loop, if that is not one of refusals anyway."""
    mine = [known.act for known in retry.done if known.act.who == call.who][-loop.period :]
    return any((act.action, act.given) == (call.tool, call.given) and act.outcome != _DENIED for act in mine)


def _failed_alike(act: Act, call: Opened) -> bool:
    return (act.action, act.given, act.ok) == (call.tool, call.given, False)


def _others(retry: Retry, by: str | None) -> dict[str, Told]:
    return {name: told for name, told in retry.loops.items() if name != (by or "")}


def _same(one: Opened, other: Opened) -> bool:
    return (one.who, one.tool, one.given) == (other.who, other.tool, other.given)


def _aborted(event: Event, loop: Loop, index: int = 0) -> Record:
    return further(event, "retry_loop_aborted", _data(loop), index=index)


def _data(loop: Loop) -> Object:
    return {
        "iteration_count": loop.iteration_count,
        "action_name": action(loop.action_name),
        "tokens_consumed": loop.tokens_consumed,
        "elapsed_ms": loop.elapsed_ms,
    }
