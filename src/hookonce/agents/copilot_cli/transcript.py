"""Transcript parser of Copilot CLI: `session-state/SESSION/events.jsonl`, with the events of its sub-agents.

Each answer has a usage record. Hooks are told no ids of calls, and where the file is only at the end of a turn: it lies
in a folder named after the session. Seen with 1.0.102.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from hookonce.agents._decode.claude_vocabulary import name_table
from hookonce.agents.transcripts.accumulator import TranscriptAccumulator, TranscriptReader
from hookonce.agents.transcripts.types import ModelCall, SubagentSpawn, ToolOutcome
from hookonce.agents.transcripts.values import as_identifier, as_time, parse_usage
from hookonce.base.jsontext import as_dict
from hookonce.model import Object, Subagent

_USAGE_KEYS = name_table(
    "input_tokens=inputTokens output_tokens=outputTokens cache_read_tokens=cacheReadTokens "
    "cache_write_tokens=cacheWriteTokens reasoning_tokens=reasoningTokens"
)
_HOOK_REFUSAL = re.compile("Denied by preToolUse hook: ")
_INPUT_EVENTS = ("user.message", "tool.execution_complete")


def _parse_line(accumulator: TranscriptAccumulator, document: Object) -> None:
    data, time, kind = as_dict(document.get("data")), as_time(document.get("timestamp")), document.get("type")
    memory, event_id = accumulator.memory, as_identifier(document.get("id"))
    agent = as_identifier(document.get("agentId"))
    subagent = None if agent is None else Subagent(id=agent, type=_type_of(accumulator, agent))
    if kind == "session.start":
        memory.session = as_identifier(data.get("sessionId")) or memory.session
    elif kind == "subagent.started" and agent is not None:
        call, name = as_identifier(data.get("toolCallId")), as_identifier(data.get("agentName"))
        accumulator.add_spawn(SubagentSpawn(id=agent, type=name, call=call, **accumulator.common_fields()))
    elif kind == "session.usage_record" and event_id is not None:
        usage = as_dict(data.get("usage"))
        base = accumulator.common_fields(model=as_identifier(usage.get("model")), subagent=subagent)
        accumulator.add_model_call(ModelCall(id=event_id, time=time, usage=parse_usage(usage, _USAGE_KEYS), **base))
    if kind in _INPUT_EVENTS:
        accumulator.note_model_input(time)
    call_id = as_identifier(data.get("toolCallId"))
    if kind in ("tool.execution_start", "tool.execution_complete") and call_id is not None:
        outcome = ToolOutcome(id=call_id, time=time, **accumulator.common_fields(subagent=subagent))
        accumulator.add_outcome(_complete_outcome(outcome, data, is_end=kind == "tool.execution_complete"))
    if kind == "user.message" and agent is None:
        memory.turn = as_identifier(data.get("interactionId")) or memory.turn


def _complete_outcome(outcome: ToolOutcome, data: Object, *, is_end: bool) -> ToolOutcome:
    """Its name when it begins, and who has refused it when it ends; hooks hear how every other call ended."""
    if not is_end:
        return replace(outcome, tool=as_identifier(data.get("toolName")), is_done=False)
    error = as_dict(data.get("error"))
    if error.get("code") != "denied":
        return outcome
    return replace(outcome, refused_by="hook" if _HOOK_REFUSAL.match(str(error.get("message"))) else "user")


def _type_of(accumulator: TranscriptAccumulator, agent: str) -> str | None:
    return next((spawn.type for spawn in accumulator.memory.spawned if spawn.id == agent), None)


def _locate(home: Path, session: str, environment: Mapping[str, str]) -> Path:
    folder = Path(environment.get("COPILOT_HOME") or home / ".copilot")
    return folder / "session-state" / session / "events.jsonl"


READER = TranscriptReader(
    session_folder="session-state",
    parse_line=_parse_line,
    locate=_locate,
)
