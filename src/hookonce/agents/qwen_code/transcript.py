"""Transcript parser of Qwen Code: `projects/FOLDER/chats/SESSION.jsonl`, sub-agents below `subagents/SESSION`.

Each answer has its usage, in the names of Gemini, on one line; lines of a sub-agent do not name its model. A call has
the model's id there, which hooks are told beside the agent's own, and its result when all hooks were asked. Durations
that stand there have the time of hooks in them. Seen with 0.24.4.
"""

import re
from pathlib import Path

from hookonce.agents._decode.claude_vocabulary import name_table
from hookonce.agents.transcripts.accumulator import TranscriptAccumulator, TranscriptReader
from hookonce.agents.transcripts.types import ModelCall, Refuser, SubagentSpawn, ToolOutcome
from hookonce.agents.transcripts.values import (
    as_dicts,
    as_exit_code,
    as_identifier,
    as_time,
    parse_usage,
    read_metadata,
)
from hookonce.base.jsontext import as_dict
from hookonce.model import Object, Subagent

# Thoughts are counted apart from the answer; what came out of the cache is part of the input.
_USAGE_KEYS = name_table(
    "input_tokens=promptTokenCount output_tokens=candidatesTokenCount+thoughtsTokenCount "
    "cache_read_tokens=cachedContentTokenCount reasoning_tokens=thoughtsTokenCount total_tokens=totalTokenCount"
)
_REQUIRED_COUNTS = ("promptTokenCount", "candidatesTokenCount")
_RESULTS = {"success": True, "error": False, "cancelled": False}
_SHELL_TOOL = "run_shell_command"
# What the model is told of a call that the user's own settings forbid.
_RULE_PATTERN = re.compile(r'(?:This )?"[^"]{1,200}" (?:invocation )?was denied by permission rules')


def _parse_line(accumulator: TranscriptAccumulator, document: Object) -> None:
    memory, time, kind = accumulator.memory, as_time(document.get("timestamp")), document.get("type")
    memory.session = as_identifier(document.get("sessionId")) or memory.session
    if document.get("isSidechain") is True:
        agent, name = (as_identifier(document.get(key)) for key in ("agentId", "agentName"))
        memory.subagent = Subagent(id=agent, type=name)
    if kind in ("user", "tool_result"):
        accumulator.note_model_input(time)
        memory.turn = as_identifier(document.get("uuid")) if document.get("provenance") == "real_user" else memory.turn
    if kind == "tool_result":
        _parse_result(accumulator, document, time)
    usage = parse_usage(as_dict(document.get("usageMetadata")), _USAGE_KEYS, _REQUIRED_COUNTS)
    call_id = as_identifier(document.get("uuid"))
    if kind == "assistant" and usage is not None and call_id is not None:
        memory.model = as_identifier(document.get("model")) or memory.model
        base = accumulator.common_fields(model=memory.model)
        parent_call = memory.parent_call if memory.subagent is not None else None
        accumulator.add_model_call(ModelCall(id=call_id, time=time, usage=usage, parent_call=parent_call, **base))


def _parse_result(accumulator: TranscriptAccumulator, document: Object, time: str | None) -> None:
    """What a call came to; of a command that gave no exit code nobody knows whether it succeeded."""
    result = as_dict(document.get("toolCallResult"))
    call, status = as_identifier(result.get("callId")), str(result.get("status"))
    if call is None or status not in _RESULTS:
        return
    parts = as_dicts(as_dict(document.get("message")).get("parts"))
    response = next((item for part in parts if (item := as_dict(part.get("functionResponse")))), {})
    tool = as_identifier(response.get("name"))
    exit_code = as_exit_code(as_dict(result.get("resultDisplay")).get("exitCode"))
    refused_by = _find_refuser(result, str(as_dict(response.get("response")).get("error")))
    ok = _RESULTS[status] and not exit_code
    is_unknown = refused_by is not None or (ok and tool == _SHELL_TOOL and exit_code is None)
    outcome = ToolOutcome(
        id=call,
        time=time,
        tool=tool,
        ok=None if is_unknown else ok,
        exit_code=exit_code,
        refused_by=refused_by,
        **accumulator.common_fields(),
    )
    accumulator.add_outcome(outcome)


def _find_refuser(result: Object, error: str) -> Refuser | None:
    """Who has refused a call; one that has begun was cancelled, not refused."""
    if result.get("executionStatus") != "not_started":
        return None
    if result.get("status") == "cancelled":
        return "user"
    if result.get("errorType") != "execution_denied":
        return None
    return "agent" if _RULE_PATTERN.match(error) else "hook"


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
