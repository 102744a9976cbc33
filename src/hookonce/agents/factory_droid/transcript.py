"""Transcript parser of Factory Droid: `sessions/FOLDER/SESSION.jsonl`, and beside it `SESSION.settings.json`.

The former tells which calls failed or were refused, of which hooks hear nothing; the latter has all tokens so far as
running totals, so that a model call is what was added since the last look. Sub-agents have sessions of their own. Seen
with 0.178.0.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from hookonce.agents._decode.claude_vocabulary import name_table
from hookonce.agents.transcripts.accumulator import TranscriptAccumulator, TranscriptReader
from hookonce.agents.transcripts.types import ModelCall, SubagentSpawn, ToolOutcome
from hookonce.agents.transcripts.values import as_count, as_dicts, as_identifier, as_time
from hookonce.base.jsontext import as_dict
from hookonce.model import Json, Object, Usage

_SETTINGS_NAME = ".settings"
_REFUSAL_CODE = 2  # with which a hook ends that refuses a call
_EXIT_PATTERN = re.compile(r"\n\[Process exited with code (-?\d{1,10})\]\Z")
_COUNT_KEYS = name_table(
    "input_tokens=inputTokens output_tokens=outputTokens cache_read_tokens=cacheReadTokens "
    "cache_write_tokens=cacheCreationTokens reasoning_tokens=thinkingTokens"
)


def _parse_line(accumulator: TranscriptAccumulator, document: Object) -> None:
    if "tokenUsage" in document:
        _parse_totals(accumulator, document)
        return
    message, time = as_dict(document.get("message")), as_time(document.get("timestamp"))
    if document.get("type") == "session_start":
        accumulator.memory.session = as_identifier(document.get("id")) or accumulator.memory.session
    call, tool = as_identifier(message.get("hookToolCallId")), as_identifier(message.get("hookMatcher"))
    if message.get("hookEventName") == "PreToolUse" and call is not None:
        is_refused = any(result.get("exitCode") == _REFUSAL_CODE for result in as_dicts(message.get("hookResults")))
        outcome = ToolOutcome(id=call, tool=tool, is_done=False, **accumulator.common_fields())
        accumulator.add_outcome(replace(outcome, refused_by="hook") if is_refused else outcome)
    for block in as_dicts(message.get("content")):
        call_id = as_identifier(block.get("tool_use_id")) if block.get("type") == "tool_result" else None
        if call_id is not None and block.get("is_error") is True:
            _parse_failure(accumulator, call_id, time, block.get("content"))


def _parse_failure(accumulator: TranscriptAccumulator, call: str, time: str | None, content: Json) -> None:
    text = content if type(content) is str else ""
    match = _EXIT_PATTERN.search(text)
    exit_code = int(match[1]) if match else None
    base = accumulator.common_fields()
    accumulator.add_outcome(ToolOutcome(id=call, time=time, ok=False, exit_code=exit_code, **base))


def _parse_totals(accumulator: TranscriptAccumulator, document: Object) -> None:
    """Totals are of the whole session; those of the cache are counted apart from the input."""
    counters, memory = as_dict(document.get("tokenUsage")), accumulator.memory
    counts = {ours: as_count(counters.get(theirs)) or 0 for ours, theirs in _COUNT_KEYS.items()}
    increase = {name: max(count - memory.totals.get(name, 0), 0) for name, count in counts.items()}
    memory.totals = counts
    input_tokens = sum(increase[name] for name in ("input_tokens", "cache_read_tokens", "cache_write_tokens"))
    if not input_tokens and not increase["output_tokens"]:
        return
    totals = {"input_tokens": input_tokens, "total_tokens": input_tokens + increase["output_tokens"]}
    memory.session = as_identifier((memory.file or "").removesuffix(_SETTINGS_NAME))
    call_id = f"{memory.session}/{sum(counts.values())}"
    base = accumulator.common_fields(model=as_identifier(document.get("model")))
    call = ModelCall(id=call_id, usage=Usage(**increase | totals), **base)
    accumulator.add_model_call(call, has_ask_time=False)


def _find_settings(path: Path, _spawns: Sequence[SubagentSpawn]) -> list[Path]:
    settings = path.with_name(f"{path.stem}{_SETTINGS_NAME}.json")
    return [settings] if path.suffix == ".jsonl" and settings.exists() else []


READER = TranscriptReader(session_folder="sessions", parse_line=_parse_line, find_subagent_files=_find_settings)
