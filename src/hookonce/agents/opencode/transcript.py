"""Transcript parser of OpenCode: the rows of a session in `opencode.db`, messages and the tool calls among their parts.

An answer has its model and its tokens once it is complete. Hooks hear of tool calls that succeeded: how another one
ended is told by its part. Sub-agents have sessions of their own. Seen with 1.18.33.
"""

from collections.abc import Mapping
from pathlib import Path

from hookonce.agents._decode.claude_vocabulary import name_table
from hookonce.agents.transcripts.accumulator import TranscriptAccumulator, TranscriptReader
from hookonce.agents.transcripts.types import ModelCall, ToolOutcome
from hookonce.agents.transcripts.values import as_count, as_exit_code, as_identifier, as_ms_time, parse_usage
from hookonce.base.jsontext import as_dict
from hookonce.model import Object

_QUERY = """SELECT id, time_updated, data FROM message WHERE session_id = ?1 AND time_updated >= ?2
    UNION ALL SELECT id, time_updated, data FROM part WHERE session_id = ?1 AND time_updated >= ?2
    AND json_extract(data, '$.type') = 'tool' ORDER BY time_updated, id LIMIT ?3"""
# What comes out of the cache, or goes there, is counted apart from the input; reasoning apart from the output.
_USAGE_KEYS = name_table(
    "input_tokens=input+cache.read+cache.write output_tokens=output+reasoning cache_read_tokens=cache.read "
    "cache_write_tokens=cache.write reasoning_tokens=reasoning"
)
_RESULTS = {"completed": True, "error": False}


def _parse_row(accumulator: TranscriptAccumulator, document: Object) -> None:
    accumulator.memory.session = accumulator.memory.file
    span, row_id = as_dict(document.get("time")), as_identifier(document.get("id"))
    if document.get("role") == "user":
        accumulator.note_model_input(as_ms_time(span.get("created")))
        accumulator.memory.turn = row_id
    elif document.get("role") == "assistant" and row_id is not None and span.get("completed") is not None:
        usage = parse_usage(as_dict(document.get("tokens")), _USAGE_KEYS, ("input", "output"))
        model = as_identifier(document.get("modelID"))
        base = accumulator.common_fields(model=model, turn=as_identifier(document.get("parentID")))
        stop_reason, time = as_identifier(document.get("finish")), as_ms_time(span.get("completed"))
        accumulator.add_model_call(ModelCall(id=row_id, time=time, usage=usage, stop_reason=stop_reason, **base))
    elif document.get("type") == "tool":
        _parse_tool(accumulator, document)


def _parse_tool(accumulator: TranscriptAccumulator, part: Object) -> None:
    state, call_id = as_dict(part.get("state")), as_identifier(part.get("callID"))
    span, status = as_dict(state.get("time")), str(state.get("status"))
    if call_id is None or status not in _RESULTS:
        return
    exit_code = as_exit_code(as_dict(state.get("metadata")).get("exit"))
    start, end = as_count(span.get("start")), as_count(span.get("end"))
    outcome = ToolOutcome(
        id=call_id,
        time=as_ms_time(end),
        tool=as_identifier(part.get("tool")),
        ok=_RESULTS[status] and not exit_code,
        exit_code=exit_code,
        duration_ms=None if start is None or end is None else max(end - start, 0),
        **accumulator.common_fields(),
    )
    accumulator.add_outcome(outcome)


def _locate(home: Path, session: str, environment: Mapping[str, str]) -> Path | None:
    """The session in its database; None for one that is in memory alone."""
    folder = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share", "opencode")
    name = environment.get("OPENCODE_DB") or "opencode.db"
    return None if name == ":memory:" else folder / name / session


READER = TranscriptReader(
    session_folder="opencode",
    parse_line=_parse_row,
    locate=_locate,
    query=_QUERY,
)
