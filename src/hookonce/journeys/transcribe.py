"""transcribe: what a session file tells ─ events as hooks would have told them ─ redact.

Hooks tell prompts, tools, sub-agents and ends. Only transcripts tell each answer of the model with its tokens, and its
failures; of a compaction they tell the sizes. An event has the same id however often its line is read, and in whichever
file: a session that was forked begins with copies of old lines under a new name.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from hookonce import ids, times
from hookonce.canon.events import BY_SYSTEM
from hookonce.canon.tellers import TRANSCRIPT
from hookonce.guard.loops import elapsed
from hookonce.journeys.stored import stored
from hookonce.model import SCHEMA, Actor, Event, Object, Origin, Record, Subagent, Usage
from hookonce.store.entry import Entry, entry
from hookonce.transcripts.reading import Compaction, ModelCall, Reading, Spawn

_SYSTEM, _AI = Actor(type="system"), Actor(type="ai_agent")


class Whose(Struct, frozen=True, kw_only=True):
    """Whose file it is, as the agent's hooks have told; `spawns` are the sub-agents of its session by their ids."""

    agent: str
    session: str | None = None
    version: str | None = None
    cwd: str | None = None
    spawns: Mapping[str, Spawn] = {}


def transcribe(reading: Reading, whose: Whose) -> list[Entry]:
    """What is kept of a reading, in the order of the file."""
    return [entry(stored(Record(event=event))) for event in events(reading, whose)]


def events(reading: Reading, whose: Whose) -> Iterator[Event]:
    """Answers and failures of the model, and compactions, by their time."""
    told = [_called(one, whose) for one in reading.calls] + [_shrunk(one, whose) for one in reading.compactions]
    yield from sorted(told, key=lambda event: times.seconds(event.time) or 0)


def _called(call: ModelCall, whose: Whose) -> Event:
    spawn = whose.spawns.get(call.subagent.id or "") if call.subagent is not None else None
    data = {
        "model_call_id": call.id,
        "finish_reason": call.stop_reason,
        "latency_ms": elapsed(call.asked, call.time) if call.asked and call.time else None,
        "retry_count": call.retries,
        "hour_write_tokens": call.hour_write_tokens or None,
        "parent_call_id": call.parent_call or (spawn.call if spawn is not None else None),
        "child_session": call.session if call.session != whose.session and call.subagent is not None else None,
    }
    kind = "model_failed" if call.failed else "after_model"
    return _event(kind, call, data, whose, model=call.model, usage=call.usage)


def _shrunk(one: Compaction, whose: Whose) -> Event:
    counts = {"tokens_before": one.tokens_before, "tokens_after": one.tokens_after}
    return _event("after_compact", one, {"trigger": one.trigger, **counts}, whose)


def _event(
    kind: str,
    told: ModelCall | Compaction,
    data: Object,
    whose: Whose,
    *,
    model: str | None = None,
    usage: Usage | None = None,
) -> Event:
    now = times.now()
    return Event(
        id=ids.derive(TRANSCRIPT, whose.agent, kind, told.id, told.time or ""),
        schema=SCHEMA,
        type=kind,
        agent=whose.agent,
        agent_version=whose.version,
        session=whose.session or told.session,
        turn=told.turn,
        subagent=_subagent(told, whose),
        time=told.time or now,
        time_source="agent" if told.time else "received",
        received=now,
        cwd=whose.cwd,
        model=model,
        usage=usage,
        actor=_SYSTEM if kind in BY_SYSTEM else _AI,
        data={name: value for name, value in data.items() if value is not None},
        origin=Origin(via=[TRANSCRIPT]),
    )


def _subagent(told: ModelCall | Compaction, whose: Whose) -> Subagent | None:
    """A sub-agent with what its parent's file says of it; one whose parent is the session itself has none."""
    known = told.subagent
    if known is None:
        return None
    spawn = whose.spawns.get(known.id or "")
    kind = known.type or (spawn.type if spawn is not None else None)
    above = spawn.subagent.id if spawn is not None and spawn.subagent is not None else None
    parent = known.parent if known.parent not in {whose.session, told.session} else None
    return replace(known, type=kind, parent=parent or above)
