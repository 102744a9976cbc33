"""Transcript parser of Codex: `sessions/YEAR/MONTH/DAY/rollout-TIME-THREAD.jsonl`; sub-agents are threads.

Each answer has a usage record since about 0.160; before there are only running totals, some of them twice. A forked
thread may begin with lines of another one. A finished command, patch or MCP call is an item with its exit code and
duration, written before hooks hear of it; what the model is told of it comes after them. Seen with 0.166.0.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from hookonce.agents._decode.claude_vocabulary import name_table
from hookonce.agents.transcripts.accumulator import TranscriptAccumulator, TranscriptReader
from hookonce.agents.transcripts.types import Compaction, ModelCall, SubagentSpawn, ToolOutcome
from hookonce.agents.transcripts.values import as_count, as_dicts, as_exit_code, as_identifier, as_time, parse_usage
from hookonce.base.jsontext import as_dict
from hookonce.model import Object, Subagent

_OUTPUT_TYPES = ("function_call_output", "custom_tool_call_output")
_ITEM_TOOLS = {"CommandExecution": "Bash", "FileChange": "apply_patch", "McpToolCall": None}  # as hooks are told them
_ITEM_RESULTS = {"completed": True, "failed": False}
# What the model is told of a call, in the words of Codex, before anything that the tool has written.
_REFUSAL_PATTERN = re.compile(r"\A(?:Command|Tool call|Patch|apply_patch) blocked by PreToolUse hook: ")
_USER_REFUSAL_PATTERN = re.compile(r"\A(?:exec command |patch )?rejected by user")
_FAILURE_PATTERN = re.compile(r"\A(?:apply_patch verification failed|patch rejected|failed to )")
_EXIT_PATTERN = re.compile(
    r"\A(?:Chunk ID: \w+\n)?(?:Exit code: (-?\d{1,10})\n)?Wall time: ([\d.]{1,20}) seconds\n"
    r"(?:Process exited with code (-?\d{1,10})\n)?"
)
_MS_PER_S, _NS_PER_MS = 1000, 1_000_000
_USAGE_KEYS = name_table(
    "input_tokens output_tokens cache_read_tokens=cached_input_tokens cache_write_tokens=cache_write_input_tokens "
    "reasoning_tokens=reasoning_output_tokens total_tokens"
)


def _parse_line(accumulator: TranscriptAccumulator, document: Object) -> None:
    payload, time, kind = as_dict(document.get("payload")), as_time(document.get("timestamp")), document.get("type")
    if kind == "session_meta":
        _parse_session_meta(accumulator, payload)
    elif kind == "turn_context":
        accumulator.memory.model = as_identifier(payload.get("model")) or accumulator.memory.model
        accumulator.memory.turn = as_identifier(payload.get("turn_id")) or accumulator.memory.turn
        accumulator.note_model_input(time)
    elif kind == "token_usage_record":
        _parse_usage_record(accumulator, payload, time)
    elif kind == "compacted":
        _parse_compaction(accumulator, payload, time)
    elif kind == "response_item" and payload.get("type") in _OUTPUT_TYPES and as_identifier(payload.get("call_id")):
        accumulator.note_model_input(time)
        _parse_output(accumulator, payload, time)
    elif kind == "event_msg":
        _parse_event(accumulator, payload, time)


def _parse_session_meta(accumulator: TranscriptAccumulator, payload: Object) -> None:
    """The first such line is the file's own; others are copied from the thread that it was forked from."""
    memory = accumulator.memory
    if memory.session is not None:
        return
    thread = as_identifier(payload.get("id"))
    memory.session = as_identifier(payload.get("session_id")) or thread
    if payload.get("thread_source") == "subagent" or "subagent" in as_dict(payload.get("source")):
        memory.subagent = Subagent(
            id=thread,
            type=as_identifier(payload.get("agent_role")),
            parent=as_identifier(payload.get("parent_thread_id")),
        )


def _thread_id(accumulator: TranscriptAccumulator) -> str | None:
    subagent = accumulator.memory.subagent
    return subagent.id if subagent else accumulator.memory.session


def _parse_usage_record(accumulator: TranscriptAccumulator, payload: Object, time: str | None) -> None:
    response_id = as_identifier(payload.get("response_id"))
    usage = parse_usage(as_dict(payload.get("usage")), _USAGE_KEYS)
    accumulator.memory.one_by_one = True
    if response_id is not None and as_identifier(payload.get("thread_id")) == _thread_id(accumulator):
        turn = as_identifier(payload.get("turn_id")) or accumulator.memory.turn
        base = accumulator.common_fields(turn=turn, model=accumulator.memory.model)
        accumulator.add_model_call(ModelCall(id=response_id, time=time, usage=usage, **base))


def _parse_event(accumulator: TranscriptAccumulator, payload: Object, time: str | None) -> None:
    kind = payload.get("type")
    if kind == "token_count":
        _parse_token_count(accumulator, as_dict(payload.get("info")), time)
    elif kind == "item_completed":
        _parse_item_completed(accumulator, as_dict(payload.get("item")), time)
    elif kind == "task_complete" and payload.get("error"):
        turn = as_identifier(payload.get("turn_id")) or accumulator.memory.turn
        base = accumulator.common_fields(turn=turn, model=accumulator.memory.model)
        accumulator.add_model_call(ModelCall(id=f"{turn}/error", time=time, failed=True, **base))


def _parse_token_count(accumulator: TranscriptAccumulator, info: Object, time: str | None) -> None:
    """Context size, which completes a pending compaction, and the running total, which changes with each call."""
    memory, last = accumulator.memory, as_dict(info.get("last_token_usage"))
    context = as_count(last.get("total_tokens"))
    if context is None:
        return
    if memory.compacting is not None:
        accumulator.add_compaction(replace(memory.compacting, tokens_after=context))
        memory.compacting = None
    memory.context = context
    total_tokens = as_count(as_dict(info.get("total_token_usage")).get("total_tokens"))
    is_call = total_tokens is not None and total_tokens != memory.counted and bool(last.get("input_tokens"))
    memory.counted = total_tokens
    if is_call and not memory.one_by_one:
        call_id, base = f"{_thread_id(accumulator)}/{total_tokens}", accumulator.common_fields(model=memory.model)
        accumulator.add_model_call(
            ModelCall(id=call_id, time=time, usage=parse_usage(last, _USAGE_KEYS), **base), has_ask_time=False
        )


def _parse_compaction(accumulator: TranscriptAccumulator, payload: Object, time: str | None) -> None:
    """Held until the next token count gives the remaining context; one that is still held has no such count."""
    memory = accumulator.memory
    if memory.compacting is not None:
        accumulator.add_compaction(memory.compacting)
    compaction_id = as_identifier(payload.get("window_id")) or f"{_thread_id(accumulator)}/{time}"
    base = accumulator.common_fields(tokens_before=memory.context)
    memory.compacting = Compaction(id=compaction_id, time=time, **base)


def _parse_output(accumulator: TranscriptAccumulator, payload: Object, time: str | None) -> None:
    """What the model is told of a call; its item, if there is one, has said more."""
    text, call = payload.get("output"), str(payload["call_id"])
    text = text if type(text) is str else ""
    outcome = ToolOutcome(id=call, time=time, **accumulator.common_fields())
    if _REFUSAL_PATTERN.match(text) or _USER_REFUSAL_PATTERN.match(text):
        outcome = replace(outcome, refused_by="hook" if _REFUSAL_PATTERN.match(text) else "user")
    elif _FAILURE_PATTERN.match(text):
        outcome = replace(outcome, ok=False)
    elif (match := _EXIT_PATTERN.match(text)) is not None and (digits := match[1] or match[3]):
        exit_code, duration_ms = int(digits), round(float(match[2]) * _MS_PER_S)
        outcome = replace(outcome, ok=exit_code == 0, exit_code=exit_code, duration_ms=duration_ms)
    accumulator.add_outcome(outcome)


def _parse_item_result(accumulator: TranscriptAccumulator, item: Object, time: str | None) -> None:
    """A finished command, patch or MCP call; hooks are asked about it after this line."""
    call, status, duration = as_identifier(item.get("id")), item.get("status"), as_dict(item.get("duration"))
    if call is None or status not in {*_ITEM_RESULTS, "declined"}:
        return
    seconds, nanoseconds = as_count(duration.get("secs")), as_count(duration.get("nanos"))
    duration_ms = None if seconds is None else round(seconds * _MS_PER_S + (nanoseconds or 0) / _NS_PER_MS, 3)
    outcome = ToolOutcome(
        id=call,
        time=time,
        tool=_ITEM_TOOLS[str(item["type"])],
        ok=_ITEM_RESULTS.get(str(status)),
        exit_code=as_exit_code(item.get("exit_code")),
        duration_ms=duration_ms,
        refused_by="user" if status == "declined" else None,
        is_done=False,
        **accumulator.common_fields(),
    )
    accumulator.add_outcome(outcome)


def _parse_item_completed(accumulator: TranscriptAccumulator, item: Object, time: str | None) -> None:
    """A prompt, a call that has ended, or one that started sub-agents."""
    if item.get("type") == "UserMessage":
        accumulator.note_model_input(time)
    elif item.get("type") in _ITEM_TOOLS:
        _parse_item_result(accumulator, item, time)
    call = as_identifier(item.get("id"))
    if call is not None and item.get("tool") == "spawn_agent":
        for receiver in as_dicts(item.get("receiver_agents")):
            if (thread := as_identifier(receiver.get("thread_id"))) is not None:
                role = as_identifier(receiver.get("agent_role"))
                accumulator.add_spawn(SubagentSpawn(id=thread, type=role, call=call, **accumulator.common_fields()))


def _find_subagent_files(path: Path, spawns: Sequence[SubagentSpawn]) -> list[Path]:
    """A thread's file lies under the day on which it began, which need not be that of its parent."""
    names = {spawn.id for spawn in spawns if spawn.id.replace("-", "").isalnum()}
    sessions = path.parents[3] if len(path.parents) > 3 else path.parent  # noqa: PLR2004  YEAR/MONTH/DAY
    return sorted(file for name in names for file in sessions.glob(f"*/*/*/rollout-*-{name}.jsonl"))


READER = TranscriptReader(session_folder="sessions", parse_line=_parse_line, find_subagent_files=_find_subagent_files)
