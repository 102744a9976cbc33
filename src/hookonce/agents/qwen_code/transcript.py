"""Transcript parser of Qwen Code: `projects/FOLDER/chats/SESSION.jsonl`, sub-agents below `subagents/SESSION`.

Each answer has its usage, in the names of Gemini, on one line; lines of a sub-agent do not name its model. Calls have
other ids there than hooks are told, and hooks hear how each one ended: nothing is read of them. Seen with 0.24.4.
"""

from pathlib import Path

from hookonce.agents._decode.claude_vocabulary import name_table
from hookonce.agents.transcripts.accumulator import TranscriptAccumulator, TranscriptReader
from hookonce.agents.transcripts.types import ModelCall, SubagentSpawn
from hookonce.agents.transcripts.values import as_identifier, as_time, parse_usage, read_metadata
from hookonce.base.jsontext import as_dict
from hookonce.model import Object, Subagent

# Thoughts are counted apart from the answer; what came out of the cache is part of the input.
_USAGE_KEYS = name_table(
    "input_tokens=promptTokenCount output_tokens=candidatesTokenCount+thoughtsTokenCount "
    "cache_read_tokens=cachedContentTokenCount reasoning_tokens=thoughtsTokenCount total_tokens=totalTokenCount"
)
_REQUIRED_COUNTS = ("promptTokenCount", "candidatesTokenCount")


def _parse_line(accumulator: TranscriptAccumulator, document: Object) -> None:
    memory, time, kind = accumulator.memory, as_time(document.get("timestamp")), document.get("type")
    memory.session = as_identifier(document.get("sessionId")) or memory.session
    if document.get("isSidechain") is True:
        agent, name = (as_identifier(document.get(key)) for key in ("agentId", "agentName"))
        memory.subagent = Subagent(id=agent, type=name)
    if kind in ("user", "tool_result"):
        accumulator.note_model_input(time)
        memory.turn = as_identifier(document.get("uuid")) if document.get("provenance") == "real_user" else memory.turn
    usage = parse_usage(as_dict(document.get("usageMetadata")), _USAGE_KEYS, _REQUIRED_COUNTS)
    call_id = as_identifier(document.get("uuid"))
    if kind == "assistant" and usage is not None and call_id is not None:
        memory.model = as_identifier(document.get("model")) or memory.model
        base = accumulator.common_fields(model=memory.model)
        parent_call = memory.parent_call if memory.subagent is not None else None
        accumulator.add_model_call(ModelCall(id=call_id, time=time, usage=usage, parent_call=parent_call, **base))


def _read_spawn(path: Path) -> SubagentSpawn | None:
    metadata = read_metadata(path) or {}
    subagent_id, kind, call = (as_identifier(metadata.get(key)) for key in ("agentId", "agentType", "toolUseId"))
    return None if subagent_id is None else SubagentSpawn(id=subagent_id, type=kind, call=call)


READER = TranscriptReader(
    session_folder="projects",
    parse_line=_parse_line,
    find_subagent_files=lambda path, _spawns: sorted((path.parents[1] / "subagents" / path.stem).glob("agent-*.jsonl")),
    read_spawn=_read_spawn,
)
