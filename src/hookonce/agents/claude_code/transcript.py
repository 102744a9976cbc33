"""Transcript parser of Claude Code: `projects/FOLDER/SESSION.jsonl`, sub-agents in `SESSION/subagents/agent-ID.jsonl`.

A model's answer is spread over several lines, all with its id and usage. A forked session begins with a copy of the old
lines. Calls that make a summary are not written. Hooks hear of every call that has run; of one that was refused
only the model is told. Seen with 2.1.325.
"""

import re
from pathlib import Path

from hookonce.agents._decode.claude_vocabulary import name_table
from hookonce.agents.transcripts.accumulator import TranscriptAccumulator, TranscriptReader
from hookonce.agents.transcripts.types import Compaction, ModelCall, Refuser, SubagentSpawn, ToolOutcome
from hookonce.agents.transcripts.values import as_count, as_dicts, as_identifier, as_time, parse_usage, read_metadata
from hookonce.base.jsontext import as_dict
from hookonce.model import Json, Object, Subagent

_SYNTHETIC_MODEL = "<synthetic>"  # the model of lines that no model wrote
# What the model is told of a call that did not run, in the words of Claude Code.
_REFUSAL_PATTERNS: dict[Refuser, re.Pattern[str]] = {
    "hook": re.compile(r"PreToolUse:\S{1,200} hook error: "),
    "user": re.compile(r"The user doesn't want to (?:proceed with|take) this (?:tool use|action)"),
    "agent": re.compile(r"Permission to use .{1,200}? has been denied|Claude requested permissions to use "),
}
# Fresh input, cache reads and cache writes are counted apart.
_USAGE_KEYS = name_table(
    "input_tokens=input_tokens+cache_read_input_tokens+cache_creation_input_tokens output_tokens "
    "cache_read_tokens=cache_read_input_tokens cache_write_tokens=cache_creation_input_tokens "
    "reasoning_tokens=output_tokens_details.thinking_tokens"
)


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
        call = ModelCall(
            id=message_id,
            time=time,
            model=as_identifier(message.get("model")),
            usage=parse_usage(usage, _USAGE_KEYS),
            hour_write_tokens=as_count(as_dict(usage.get("cache_creation")).get("ephemeral_1h_input_tokens")) or 0,
            stop_reason=as_identifier(message.get("stop_reason")),
            parent_call=accumulator.memory.parent_call if subagent else None,
            **base,
        )
        accumulator.add_model_call(call, is_complete=call.stop_reason is not None)


def _subagent_of(document: Object) -> Subagent | None:
    """The sub-agent of a line; older versions have them in the session's own file, and name none."""
    if document.get("isSidechain") is not True:
        return None
    return Subagent(id=as_identifier(document.get("agentId")), type=as_identifier(document.get("attributionAgent")))


def _parse_user(accumulator: TranscriptAccumulator, document: Object) -> None:
    if document.get("isSidechain") is not True:
        accumulator.memory.turn = as_identifier(document.get("promptId")) or accumulator.memory.turn
    accumulator.note_model_input(as_time(document.get("timestamp")))
    result = as_dict(document.get("toolUseResult"))
    agent, kind = as_identifier(result.get("agentId")), as_identifier(result.get("agentType"))
    for block in as_dicts(as_dict(document.get("message")).get("content")):
        call = as_identifier(block.get("tool_use_id")) if block.get("type") == "tool_result" else None
        if agent is not None and call is not None:
            accumulator.add_spawn(SubagentSpawn(id=agent, session=accumulator.memory.session, type=kind, call=call))
        if call is not None and block.get("is_error") is True:
            _parse_refusal(accumulator, document, call, block.get("content"))


def _parse_refusal(accumulator: TranscriptAccumulator, document: Object, call: str, content: Json) -> None:
    parts = as_dicts(content)
    text = content if type(content) is str else parts[0].get("text") if parts else None
    if type(text) is not str:
        return
    refused_by = next((by for by, pattern in _REFUSAL_PATTERNS.items() if pattern.match(text)), None)
    if refused_by is not None:
        base = accumulator.common_fields(subagent=_subagent_of(document))
        time = as_time(document.get("timestamp"))
        accumulator.add_outcome(ToolOutcome(id=call, time=time, refused_by=refused_by, **base))


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


def _read_spawn(path: Path) -> SubagentSpawn | None:
    subagent_id, metadata = as_identifier(path.stem.removeprefix("agent-")), read_metadata(path)
    if subagent_id is None or metadata is None:
        return None
    kind, call = as_identifier(metadata.get("agentType")), as_identifier(metadata.get("toolUseId"))
    return SubagentSpawn(id=subagent_id, type=kind, call=call)


READER = TranscriptReader(
    session_folder="projects",
    parse_line=_parse_line,
    find_subagent_files=lambda path, _spawns: sorted((path.with_suffix("") / "subagents").glob("**/agent-*.jsonl")),
    read_spawn=_read_spawn,
)
