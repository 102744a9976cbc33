"""Transcript parser of Gemini CLI: `tmp/PROJECT/chats/session-TIME-ID.jsonl`, sub-agents in `chats/SESSION/ID.jsonl`.

A message is written again whenever something is added to it. Older versions keep one document, which is rewritten each
time. Compactions are not written, nor answers that it cut off as a loop. Seen with 0.61.0.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from hookonce.agents._decode.claude_vocabulary import name_table
from hookonce.agents.transcripts.accumulator import TranscriptAccumulator, TranscriptReader
from hookonce.agents.transcripts.types import ModelCall, SubagentSpawn, ToolOutcome
from hookonce.agents.transcripts.values import as_dicts, as_identifier, as_time, parse_usage
from hookonce.base.jsontext import as_dict
from hookonce.model import Object, Subagent

# Tokens that tools added to the prompt, and thoughts, are counted apart from input and output.
_USAGE_KEYS = name_table(
    "input_tokens=input+tool output_tokens=output+thoughts cache_read_tokens=cached reasoning_tokens=thoughts "
    "total_tokens=total"
)
_FINAL_STATUSES = ("success", "error", "cancelled")
_REFUSAL_PREFIX = "Tool execution blocked: "  # what the model is told of a call that a hook has refused


def _parse_line(accumulator: TranscriptAccumulator, document: Object) -> None:
    if (session := as_identifier(document.get("sessionId"))) is not None:
        accumulator.memory.session = session
        accumulator.memory.subagent = Subagent(id=session) if document.get("kind") == "subagent" else None
    messages = document.get("messages") or as_dict(document.get("$set")).get("messages")
    for message in as_dicts(messages) or [document]:
        _parse_message(accumulator, message)


def _parse_message(accumulator: TranscriptAccumulator, message: Object) -> None:
    message_id = as_identifier(message.get("id"))
    if message_id is None:
        return
    time = as_time(message.get("timestamp"))
    if message.get("type") == "user":
        accumulator.note_model_input(time)
        if not any("functionResponse" in item for item in as_dicts(message.get("content"))):
            accumulator.memory.turn = message_id
    elif message.get("type") == "gemini":
        usage = parse_usage(as_dict(message.get("tokens")), _USAGE_KEYS, ("input", "output"))
        if usage is not None:
            base = accumulator.common_fields(model=as_identifier(message.get("model")))
            accumulator.add_model_call(ModelCall(id=message_id, time=time, usage=usage, **base))
        for item in as_dicts(message.get("toolCalls")):
            _parse_tool_call(accumulator, item)


def _parse_tool_call(accumulator: TranscriptAccumulator, call: Object) -> None:
    call_id, name, agent = (as_identifier(call.get(key)) for key in ("id", "name", "agentId"))
    if call_id and name and agent and call.get("status") in _FINAL_STATUSES:
        kind = as_identifier(as_dict(call.get("args")).get("agent_name"))
        accumulator.add_spawn(SubagentSpawn(id=agent, type=kind, call=call_id, **accumulator.common_fields()))
    if call_id and name and call.get("status") in ("error", "cancelled"):
        _parse_refusal(accumulator, call, ToolOutcome(id=call_id, tool=name, **accumulator.common_fields()))


def _parse_refusal(accumulator: TranscriptAccumulator, call: Object, outcome: ToolOutcome) -> None:
    responses = (
        as_dict(as_dict(item.get("functionResponse")).get("response")) for item in as_dicts(call.get("result"))
    )
    is_blocked = any(str(response.get("error") or "").startswith(_REFUSAL_PREFIX) for response in responses)
    if is_blocked or call.get("status") == "cancelled":
        time, refused_by = as_time(call.get("timestamp")), "hook" if is_blocked else "user"
        accumulator.add_outcome(replace(outcome, time=time, refused_by=refused_by))


def _find_subagent_files(path: Path, spawns: Sequence[SubagentSpawn]) -> list[Path]:
    """The files of sub-agents lie in a folder named after the session's id, which is in the spawns."""
    sessions = [spawn.session for spawn in spawns if spawn.session and "/" not in spawn.session]
    folders = {session: path.parent / session for session in sessions}
    return sorted(file for folder in folders.values() for file in folder.glob("*.jsonl"))


READER = TranscriptReader(session_folder="chats", parse_line=_parse_line, find_subagent_files=_find_subagent_files)
