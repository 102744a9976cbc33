"""Codex: `sessions/YEAR/MONTH/DAY/rollout-TIME-THREAD.jsonl`, sub-agents as threads with files of their own.

Each answer has a record of its usage since about 0.160; before there are only running totals after each answer, some
of them twice. A thread that was forked may begin with lines of another one. Seen with 0.166.0.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from hookonce.model import Object, Subagent, Usage
from hookonce.transcripts.reader import Reader
from hookonce.transcripts.reading import Compaction, ModelCall, Spawn, ToolCall
from hookonce.transcripts.telling import Telling
from hookonce.transcripts.values import count, moment, obj, objects, word

_ASKED = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_ANSWERED = frozenset({"function_call_output", "custom_tool_call_output"})
_RESULTS = {"completed": True, "failed": False, "declined": False}
_COUNTERS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cached_input_tokens",
    "cache_write_tokens": "cache_write_input_tokens",
    "reasoning_tokens": "reasoning_output_tokens",
    "total_tokens": "total_tokens",
}


def _line(telling: Telling, document: Object) -> None:
    told, at, kind = obj(document.get("payload")), moment(document.get("timestamp")), document.get("type")
    if kind == "session_meta":
        _began(telling, told)
    elif kind == "turn_context":
        telling.memory.model = word(told.get("model")) or telling.memory.model
        telling.memory.turn = word(told.get("turn_id")) or telling.memory.turn
        telling.given(at)
    elif kind == "token_usage_record":
        _recorded(telling, told, at)
    elif kind == "compacted":
        _compacted(telling, told, at)
    elif kind == "response_item":
        _item(telling, told, at)
    elif kind == "event_msg":
        _event(telling, told, at)


def _began(telling: Telling, told: Object) -> None:
    """The first such line is the file's own; others are copied from the thread that it was forked from."""
    memory = telling.memory
    if memory.session is not None:
        return
    thread = word(told.get("id"))
    memory.session = word(told.get("session_id")) or thread
    if told.get("thread_source") == "subagent" or "subagent" in obj(told.get("source")):
        memory.subagent = Subagent(
            id=thread, type=word(told.get("agent_role")), parent=word(told.get("parent_thread_id"))
        )


def _thread(telling: Telling) -> str | None:
    whose = telling.memory.subagent
    return whose.id if whose else telling.memory.session


def _recorded(telling: Telling, told: Object, at: str | None) -> None:
    known, usage = word(told.get("response_id")), _usage(obj(told.get("usage")))
    telling.memory.one_by_one = True
    if known is not None and word(told.get("thread_id")) == _thread(telling):
        turn = word(told.get("turn_id")) or telling.memory.turn
        model = telling.memory.model
        telling.call(ModelCall(id=known, time=at, model=model, usage=usage, **telling.base(turn=turn)))


def _usage(told: Object) -> Usage | None:
    counts = {ours: count(told.get(theirs)) for ours, theirs in _COUNTERS.items()}
    return Usage(**counts) if counts["input_tokens"] is not None or counts["output_tokens"] is not None else None


def _event(telling: Telling, told: Object, at: str | None) -> None:
    kind = told.get("type")
    if kind == "token_count":
        _counted(telling, obj(told.get("info")), at)
    elif kind == "item_completed":
        _completed(telling, told, at)
    elif kind == "task_complete" and told.get("error"):
        turn = word(told.get("turn_id")) or telling.memory.turn
        base = telling.base(turn=turn)
        telling.call(ModelCall(id=f"{turn}/error", time=at, model=telling.memory.model, failed=True, **base))


def _counted(telling: Telling, info: Object, at: str | None) -> None:
    """How much there is now: the context, which a compaction waits for, and all so far, which changes by a call."""
    memory, last = telling.memory, obj(info.get("last_token_usage"))
    context = count(last.get("total_tokens"))
    if context is None:
        return
    if memory.compacting is not None:
        telling.compaction(replace(memory.compacting, tokens_after=context))
        memory.compacting = None
    memory.context = context
    so_far, usage = count(obj(info.get("total_token_usage")).get("total_tokens")), _usage(last)
    is_call = so_far is not None and so_far != memory.counted and bool(last.get("input_tokens"))
    memory.counted = so_far
    if is_call and not memory.one_by_one:
        known = f"{_thread(telling)}/{so_far}"
        telling.call(ModelCall(id=known, time=at, model=memory.model, usage=usage, **telling.base()), timed=False)


def _compacted(telling: Telling, told: Object, at: str | None) -> None:
    """It is told when the next count says what is left; one that is still waiting has no such count."""
    memory = telling.memory
    if memory.compacting is not None:
        telling.compaction(memory.compacting)
    known = word(told.get("window_id")) or f"{_thread(telling)}/{at}"
    memory.compacting = Compaction(id=known, time=at, tokens_before=memory.context, **telling.base())


def _item(telling: Telling, told: Object, at: str | None) -> None:
    call, name = word(told.get("call_id")), word(told.get("name")) or word(told.get("type"))
    if call is None or name is None:
        return
    if told.get("type") in _ASKED:
        space = word(told.get("namespace"))
        named = f"{space}__{name}" if space and space.startswith("mcp__") else name
        telling.begin(ToolCall(id=call, name=named, started=at, **telling.base()))
    elif told.get("type") in _ANSWERED:
        telling.given(at)
        telling.end(call, at, ok=None)


def _completed(telling: Telling, told: Object, at: str | None) -> None:
    """What became of a tool call, which the line with its answer does not say; or a prompt."""
    item = obj(told.get("item"))
    if item.get("type") == "UserMessage":
        telling.given(at)
    call, began, done = word(item.get("id")), count(told.get("started_at_ms")), count(told.get("completed_at_ms"))
    if call is None:
        return
    took = done - began if began is not None and done is not None and done >= began else None
    telling.note(call, ok=_RESULTS.get(str(item.get("status"))), duration_ms=took)
    if item.get("tool") == "spawn_agent":
        for one in objects(item.get("receiver_agents")):
            if (thread := word(one.get("thread_id"))) is not None:
                role = word(one.get("agent_role"))
                telling.spawn(Spawn(id=thread, type=role, call=call, **telling.base()))


def _nested(path: Path, spawns: Sequence[Spawn]) -> list[Path]:
    """A thread's file lies under the day on which it began, which need not be that of its parent."""
    names = {one.id for one in spawns if one.id.replace("-", "").isalnum()}
    sessions = path.parents[3] if len(path.parents) > 3 else path.parent  # noqa: PLR2004  YEAR/MONTH/DAY
    return sorted(found for name in names for found in sessions.glob(f"*/*/*/rollout-*-{name}.jsonl"))


READER = Reader(agent="codex", line=_line, nested=_nested)
