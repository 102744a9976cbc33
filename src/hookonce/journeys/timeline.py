"""show: one session from its first record to its last, each call in one line with what became of it."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from hookonce.canon.events import EVENTS
from hookonce.derive.calls import is_refused, who
from hookonce.derive.files import File
from hookonce.derive.session import Call, Child, Summary, summary
from hookonce.journeys.told import subject
from hookonce.model import Record, Usage

_DEEPEST = 8


class Step(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line: when, how deep within sub-agents, what, and what became of it."""

    id: str
    time: str
    type: str
    depth: int = 0
    subagent: str | None = None
    tool: str | None = None
    what: str = ""
    call: Call | None = None
    decision: str | None = None
    reason: str | None = None


class Timeline(Struct, frozen=True, kw_only=True):
    """A session as it is shown."""

    agent: str
    session: str | None
    project: str | None
    first: str | None
    last: str | None
    ended: str | None
    turns: int
    calls: int
    failed: int
    refused: int
    usage: Usage | None
    models: list[str]
    files: dict[str, File]
    subagents: dict[str, Child]
    steps: list[Step]


def timeline(records: Iterable[Record]) -> Timeline:
    """The line of a session's records, which come in their order."""
    known = list(records)
    short = summary(known)
    session = short.session
    return Timeline(
        agent=session.agent,
        session=session.session,
        project=session.cwd,
        first=session.started,
        last=session.last,
        ended=session.end.reason or session.end.type if session.end is not None else None,
        turns=session.turns,
        calls=session.calls,
        failed=session.failed,
        refused=sum(call.refused for call in _calls(short).values()),
        usage=session.usage,
        models=list(session.models),
        files=session.files,
        subagents=session.children,
        steps=list(_steps(known, short)),
    )


def _steps(records: list[Record], short: Summary) -> Iterator[Step]:
    """What ends a call stands where the call began, and nowhere else."""
    begun = _calls(short)
    ends = {call.end for call in begun.values()}
    for record in records:
        if record.event.id not in ends:
            yield _step(record, begun.get(record.event.id), short.session.children)


def _calls(short: Summary) -> dict[str, Call]:
    """Calls by the event that began them; of a refused one that ran all the same, how it ended counts."""
    return {call.id: call for call in short.calls}


def _step(record: Record, call: Call | None, children: dict[str, Child]) -> Step:
    event, decision = record.event, record.decision
    name = who(event)
    return Step(
        id=event.id,
        time=event.time,
        type=event.type,
        depth=_depth(name, children),
        subagent=name,
        tool=event.tool.name if event.tool is not None else None,
        what=subject(record),
        call=call,
        decision="deny" if is_refused(record) else decision.outcome if decision is not None else None,
        reason=decision.reason if decision is not None else None,
    )


def _depth(name: str | None, children: dict[str, Child]) -> int:
    depth = 0
    while name is not None and depth < _DEEPEST:
        depth += 1
        child = children.get(name)
        name = child.parent if child is not None and child.parent in children else None
    return depth


def phrase(step: Step) -> str:
    """What happened, in words."""
    known = EVENTS.get(step.type)
    return known.meaning if known is not None else step.type.removeprefix("vendor.")
