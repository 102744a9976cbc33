"""Transcript events: reads a session's transcript file from its cursor and stores model calls and compactions.

Hooks tell prompts, tools, sub-agents and ends. Only transcripts tell each answer of the model with its tokens, and
its failures; of a compaction they tell the sizes; of a tool call what it came to, where hooks did not hear it. They
complete calls and add none: an outcome of a call that no hook has told of is left out. An event has the same id
however often its line is read, and in whichever file: a session that was forked begins with copies of old lines
under a new name. Events and the new cursor are stored in one transaction.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hookonce.agents.transcripts.accumulator import TranscriptReader, flush_memory
from hookonce.agents.transcripts.follower import MAX_CHUNK_BYTES, follow_file
from hookonce.agents.transcripts.types import (
    Compaction,
    ModelCall,
    SubagentSpawn,
    ToolOutcome,
    TranscriptBatch,
    TranscriptCursor,
)
from hookonce.base import ids, times
from hookonce.base.times import elapsed_ms
from hookonce.model import SCHEMA, Actor, Decision, Event, Object, Origin, Record, Result, Subagent, Tool
from hookonce.sessions import transcript_cursors
from hookonce.sessions.derive.calls import OpenCall, OpenCalls, find_call, update_calls
from hookonce.sessions.recorder import Recorder
from hookonce.sessions.stored_records import redact_record
from hookonce.sessions.transcript_cursors import TranscriptFile
from hookonce.store.entry import build_entry
from hookonce.vocabulary.events import SYSTEM_EVENTS
from hookonce.vocabulary.usage_sources import TRANSCRIPT

_SYSTEM_ACTOR, _AI_ACTOR = Actor(type="system"), Actor(type="ai_agent")


class TranscriptOwner(Struct, frozen=True, kw_only=True):
    """Owner of a transcript, by the agent's hooks; `spawns` are the sub-agents of its session by their ids."""

    agent: str
    session: str | None = None
    version: str | None = None
    cwd: str | None = None
    spawns: Mapping[str, SubagentSpawn] = {}
    pending_calls: frozenset[str] = frozenset()  # calls whose end was reported and is not stored yet
    pending_since: str | None = None  # the time of the first event of the session that is not stored yet


def transcript_events(reading: TranscriptBatch, owner: TranscriptOwner) -> list[Event]:
    """Events of a reading: model calls, their failures, and compactions, by time."""
    events = [_model_call_event(item, owner) for item in reading.calls]
    events += [_compaction_event(item, owner) for item in reading.compactions]
    return sorted(events, key=lambda event: times.to_seconds(event.time) or 0)


def _model_call_event(call: ModelCall, owner: TranscriptOwner) -> Event:
    spawn = owner.spawns.get(call.subagent.id or "") if call.subagent is not None else None
    data = {
        "model_call_id": call.id,
        "finish_reason": call.stop_reason,
        "latency_ms": elapsed_ms(call.asked, call.time) if call.asked and call.time else None,
        "retry_count": call.retries,
        "hour_write_tokens": call.hour_write_tokens or None,
        "parent_call_id": call.parent_call or (spawn.call if spawn is not None else None),
        "child_session": call.session if call.session != owner.session and call.subagent is not None else None,
    }
    event = _build_event("model_failed" if call.failed else "after_model", call, data, owner)
    return replace(event, model=call.model, usage=call.usage)


def _compaction_event(compaction: Compaction, owner: TranscriptOwner) -> Event:
    counts = {"tokens_before": compaction.tokens_before, "tokens_after": compaction.tokens_after}
    return _build_event("after_compact", compaction, {"trigger": compaction.trigger, **counts}, owner)


_REFUSERS = {"hook": "another hook", "user": "user"}  # `by` of a refusal that was not ours


def outcome_records(outcomes: Iterable[ToolOutcome], calls: OpenCalls, owner: TranscriptOwner) -> list[Record]:
    """Records of what calls came to, in their order, as far as they are known and nothing stored says it."""
    records = []
    for outcome in sorted(outcomes, key=lambda outcome: times.to_seconds(outcome.time or "") or 0):
        is_pending = outcome.id in owner.pending_calls
        call = None if is_pending else find_call(calls, outcome.id, outcome.tool, outcome.time)
        if call is not None and call.call_id is None and not _is_complete_by(owner, outcome.time):
            continue  # another call of that tool may be meant
        has_run = outcome.ok is True or outcome.exit_code is not None
        is_told = call is None or not outcome.is_done or (call.is_refused and not has_run)
        if call is not None and not is_told and outcome.is_known:
            records.append(_outcome_record(outcome, call, owner))
            calls, _ = update_calls(calls, records[-1])
    return records


def _is_complete_by(owner: TranscriptOwner, time: str | None) -> bool:
    """Whether all that hooks reported of a session until then is stored."""
    pending_s, end_s = (times.to_seconds(moment or "") for moment in (owner.pending_since, time))
    return pending_s is None or (end_s is not None and end_s < pending_s)


def _outcome_record(outcome: ToolOutcome, call: OpenCall, owner: TranscriptOwner) -> Record:
    event_type = "after_tool_execute"
    if outcome.refused_by is not None:
        event_type = "permission_denied"
    elif outcome.ok is False and outcome.exit_code is None:
        event_type = "tool_use_failure"
    data: Object = {"guessed": ["caused_by"] if call.call_id is None else None}
    if event_type == "after_tool_execute":
        data["files"] = list(call.files) or None
    event = _build_event(event_type, outcome, data, owner)
    result = None if outcome.refused_by is not None else outcome_result(outcome)
    tool = Tool(name=call.tool, native=call.native or call.tool, call_id=call.call_id, result=result)
    by = None if outcome.refused_by is None else _REFUSERS.get(outcome.refused_by, owner.agent)
    decision = None if by is None else Decision(outcome="deny", by=by)
    return Record(event=replace(event, tool=tool, caused_by=call.id), decision=decision)


def outcome_result(outcome: ToolOutcome, result: Result | None = None) -> Result:
    """The result of a call by its session file, with what is known of it otherwise."""
    result = result or Result()
    duration_ms = result.duration_ms if outcome.duration_ms is None else outcome.duration_ms
    return replace(result, ok=outcome.ok, exit_code=outcome.exit_code, duration_ms=duration_ms)


TranscriptItem = ModelCall | Compaction | ToolOutcome


def _build_event(event_type: str, source: TranscriptItem, data: Object, owner: TranscriptOwner) -> Event:
    now = times.now()
    return Event(
        id=ids.derive_id(TRANSCRIPT, owner.agent, event_type, source.id, source.time or ""),
        schema=SCHEMA,
        type=event_type,
        agent=owner.agent,
        agent_version=owner.version,
        session=owner.session or source.session,
        turn=source.turn,
        subagent=_resolve_subagent(source, owner),
        time=source.time or now,
        time_source="agent" if source.time else "received",
        received=now,
        cwd=owner.cwd,
        actor=_SYSTEM_ACTOR if event_type in SYSTEM_EVENTS else _AI_ACTOR,
        data={name: value for name, value in data.items() if value is not None},
        origin=Origin(via=[TRANSCRIPT]),
    )


def _resolve_subagent(source: TranscriptItem, owner: TranscriptOwner) -> Subagent | None:
    """A sub-agent with what its parent's file says of it; one whose parent is the session itself has none."""
    subagent = source.subagent
    if subagent is None:
        return None
    parent = subagent.parent if subagent.parent not in {owner.session, source.session} else None
    spawn = owner.spawns.get(subagent.id or "")
    if spawn is None:
        return replace(subagent, parent=parent)
    spawn_parent = spawn.subagent.id if spawn.subagent is not None else None
    return replace(subagent, type=subagent.type or spawn.type, parent=parent or spawn_parent)


CHUNK_BYTES = 1 << 18  # bytes at once: who calls meanwhile waits for as long as it takes to read them
_MAX_PEEK_BYTES = 1 << 20  # bytes that are read before the end of a call is stored; most sessions write less meanwhile


class TranscriptChunk(Struct, frozen=True, kw_only=True):
    """Result of one read of a file; there is more of it if the place in the file has changed."""

    path: Path
    previous: TranscriptCursor | None
    cursor: TranscriptCursor
    reading: TranscriptBatch
    has_more: bool


def read_chunk(recorder: Recorder, reader: TranscriptReader, path: Path, *, is_last: bool = False) -> TranscriptChunk:
    """Read the next chunk of a file; with `is_last`, after the end, also what the reader held back."""
    previous = transcript_cursors.load_cursor(recorder.writer.connection, path)
    cursor, reading = _follow_file(reader, path, previous)
    has_more = previous is None or (cursor.offset, cursor.mark) != (previous.offset, previous.mark)
    if is_last and not has_more:
        memory, held_back = flush_memory(cursor.memory)
        cursor, reading = replace(cursor, memory=memory), reading + held_back
    return TranscriptChunk(path=path, previous=previous, cursor=cursor, reading=reading, has_more=has_more)


def _follow_file(
    reader: TranscriptReader, path: Path, previous: TranscriptCursor | None
) -> tuple[TranscriptCursor, TranscriptBatch]:
    """A JSON document is read as a whole; the limit doubles until a long line fits."""
    limit = CHUNK_BYTES
    while path.suffix != ".json" and limit < MAX_CHUNK_BYTES:
        cursor, reading = follow_file(reader, path, previous, limit)
        if not cursor.in_long_line or (previous is not None and previous.in_long_line):
            return cursor, reading
        limit *= 2  # no more than the line needs: what stands below it can wait
    return follow_file(reader, path, previous, MAX_CHUNK_BYTES)


def store_chunk(recorder: Recorder, chunk: TranscriptChunk, owner: TranscriptOwner) -> int:
    """Store a chunk's events and its cursor, both or neither; how many events are new."""
    file = TranscriptFile(chunk.path, owner.agent, owner.session)
    save = partial(transcript_cursors.save_cursor, transcript=file, cursor=chunk.cursor, read_at=times.now())
    records = [Record(event=event) for event in transcript_events(chunk.reading, owner)]
    outcomes = {item.id: item for item in (*chunk.reading.outcomes, *chunk.cursor.memory.outcomes.values())}
    records += outcome_records(outcomes.values(), recorder.open_calls(owner.agent, owner.session), owner)
    if chunk.cursor == chunk.previous and not records:
        return 0
    return recorder.append([build_entry(redact_record(record)) for record in records], save)


def peek_outcomes(recorder: Recorder, reader: TranscriptReader, path: Path) -> dict[str, ToolOutcome]:
    """What calls came to by a file as it is now, without taking note of how far it was read.

    Nothing of a file of which much has still to be read: that is told when it was, chunk by chunk.
    """
    cursor = transcript_cursors.load_cursor(recorder.writer.connection, path)
    if reader.query is None:
        read_bytes = cursor.offset if cursor is not None and path.suffix != ".json" else 0
        if path.stat().st_size - read_bytes > _MAX_PEEK_BYTES:
            return {}
    cursor, reading = follow_file(reader, path, cursor)
    return {item.id: item for item in (*reading.outcomes, *cursor.memory.outcomes.values())}
