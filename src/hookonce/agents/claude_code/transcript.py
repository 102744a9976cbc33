"""Transcript parser of Claude Code: `projects/FOLDER/SESSION.jsonl`, sub-agents in `SESSION/subagents/agent-ID.jsonl`.

A model's answer is spread over several lines, all with its id and usage. A forked session begins with a copy of the old
lines. Calls that make a summary are only in the running totals. Seen with 2.1.325.
"""

from pathlib import Path

from hookonce.agents.transcripts.accumulator import TranscriptAccumulator, TranscriptReader
from hookonce.agents.transcripts.types import Compaction, ModelCall, SubagentSpawn, ToolCall, UsageTotal
from hookonce.agents.transcripts.values import as_count, as_dicts, as_identifier, as_time, sum_counts
from hookonce.base.files import read_regular_file
from hookonce.base.jsontext import as_dict, load
from hookonce.model import Object, Subagent, Usage

_SYNTHETIC_MODEL = "<synthetic>"  # the model of lines that no model wrote
_DURATION_KEYS = ("durationMs", "totalDurationMs")
# fresh input, read from a cache, written to it, output, reasoning: of an answer, and of the running totals
_USAGE_KEYS = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
    "thinking_tokens",
)
_TOTAL_KEYS = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens", "thinkingTokens")


def _parse_line(accumulator: TranscriptAccumulator, document: Object) -> None:
    accumulator.memory.session = as_identifier(document.get("sessionId")) or accumulator.memory.session
    kind, subtype = document.get("type"), document.get("subtype")
    if kind == "assistant":
        _parse_assistant(accumulator, document)
    elif kind == "user":
        _parse_user(accumulator, document)
    elif kind == "system" and subtype == "compact_boundary":
        _parse_compaction(accumulator, document)
    elif kind == "system" and subtype == "api_error":
        accumulator.memory.retries = as_count(document.get("retryAttempt"))
    elif kind == "cost-state":
        _parse_totals(accumulator, document)


def _parse_assistant(accumulator: TranscriptAccumulator, document: Object) -> None:
    message, subagent = as_dict(document.get("message")), _subagent_of(document)
    message_id, time = as_identifier(message.get("id")), as_time(document.get("timestamp"))
    if message_id is None:
        return
    base = accumulator.common_fields(subagent=subagent)
    if document.get("isApiErrorMessage") is True:
        accumulator.add_model_call(ModelCall(id=message_id, time=time, failed=True, **base))
    elif message.get("model") != _SYNTHETIC_MODEL:
        usage = as_dict(message.get("usage"))
        counters = usage | {"thinking_tokens": as_dict(usage.get("output_tokens_details")).get("thinking_tokens")}
        call = ModelCall(
            id=message_id,
            time=time,
            model=as_identifier(message.get("model")),
            usage=_build_usage(counters, _USAGE_KEYS),
            hour_write_tokens=as_count(as_dict(usage.get("cache_creation")).get("ephemeral_1h_input_tokens")) or 0,
            stop_reason=as_identifier(message.get("stop_reason")),
            parent_call=accumulator.memory.parent_call if subagent else None,
            **base,
        )
        accumulator.add_model_call(call, is_complete=call.stop_reason is not None)
    for block in as_dicts(message.get("content")):
        tool_id, name = as_identifier(block.get("id")), as_identifier(block.get("name"))
        if block.get("type") == "tool_use" and tool_id and name:
            accumulator.open_tool_call(ToolCall(id=tool_id, name=name, model_call=message_id, started=time, **base))


def _subagent_of(document: Object) -> Subagent | None:
    """The sub-agent of a line; older versions have them in the session's own file, and name none."""
    if document.get("isSidechain") is not True:
        return None
    return Subagent(id=as_identifier(document.get("agentId")), type=as_identifier(document.get("attributionAgent")))


def _build_usage(counters: Object, keys: tuple[str, ...]) -> Usage | None:
    """Usage with all input summed: fresh, cache reads and cache writes are counted apart."""
    fresh, cache_reads, cache_writes, output, thoughts = (as_count(counters.get(key)) for key in keys)
    total_input = sum_counts(fresh, cache_reads, cache_writes)
    if total_input is None and output is None:
        return None
    return Usage(
        input_tokens=total_input,
        output_tokens=output,
        cache_read_tokens=cache_reads,
        cache_write_tokens=cache_writes,
        reasoning_tokens=thoughts,
        total_tokens=sum_counts(total_input, output),
    )


def _parse_user(accumulator: TranscriptAccumulator, document: Object) -> None:
    if document.get("isSidechain") is not True:
        accumulator.memory.turn = as_identifier(document.get("promptId")) or accumulator.memory.turn
    result, time = as_dict(document.get("toolUseResult")), as_time(document.get("timestamp"))
    accumulator.note_model_input(time)
    duration_ms = next((n for key in _DURATION_KEYS if (n := as_count(result.get(key))) is not None), None)
    for block in as_dicts(as_dict(document.get("message")).get("content")):
        call = as_identifier(block.get("tool_use_id"))
        if block.get("type") != "tool_result" or call is None:
            continue
        if (agent := as_identifier(result.get("agentId"))) is not None:
            kind = as_identifier(result.get("agentType"))
            accumulator.add_spawn(SubagentSpawn(id=agent, session=accumulator.memory.session, type=kind, call=call))
        accumulator.close_tool_call(call, time, ok=block.get("is_error") is not True, duration_ms=duration_ms)


def _parse_compaction(accumulator: TranscriptAccumulator, document: Object) -> None:
    metadata, compaction_id = as_dict(document.get("compactMetadata")), as_identifier(document.get("uuid"))
    if compaction_id is not None:
        compaction = Compaction(
            id=compaction_id,
            time=as_time(document.get("timestamp")),
            trigger=as_identifier(metadata.get("trigger")),
            tokens_before=as_count(metadata.get("preTokens")),
            tokens_after=as_count(metadata.get("postTokens")),
            **accumulator.common_fields(subagent=_subagent_of(document)),
        )
        accumulator.add_compaction(compaction)


def _parse_totals(accumulator: TranscriptAccumulator, document: Object) -> None:
    """Running totals by model; a fork continues those of its origin."""
    session = accumulator.memory.session
    for name, counters in as_dict(document.get("modelUsage")).items():
        model, usage = as_identifier(name), _build_usage(as_dict(counters), _TOTAL_KEYS)
        if session is not None and model is not None and usage is not None:
            accumulator.add_total(UsageTotal(id=f"{session}/{model}", session=session, model=model, usage=usage))


def _read_spawn(path: Path) -> SubagentSpawn | None:
    """The `.meta.json` beside a sub-agent's file names the call that started it."""
    subagent_id = as_identifier(path.stem.removeprefix("agent-"))
    if subagent_id is None or not path.name.startswith("agent-"):
        return None
    try:
        metadata = as_dict(load(read_regular_file(path.with_suffix(".meta.json")).decode()))
    except (OSError, ValueError, RecursionError):
        return None
    kind, call = as_identifier(metadata.get("agentType")), as_identifier(metadata.get("toolUseId"))
    return SubagentSpawn(id=subagent_id, type=kind, call=call)


READER = TranscriptReader(
    session_folder="projects",
    parse_line=_parse_line,
    find_subagent_files=lambda path, _spawns: sorted((path.with_suffix("") / "subagents").glob("**/agent-*.jsonl")),
    read_spawn=_read_spawn,
)
