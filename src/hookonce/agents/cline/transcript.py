"""Transcript parser of Cline: `sessions/SESSION/SESSION.messages.json`, sub-agents in `agent_*.messages.json` there.

Each is one document that is rewritten with every message; an answer has its model and its tokens. Hooks are not told
where they lie, and hear how each call ended. Seen with 3.0.65.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from hookonce.agents._decode.claude_vocabulary import name_table
from hookonce.agents.transcripts.accumulator import TranscriptAccumulator, TranscriptReader
from hookonce.agents.transcripts.types import ModelCall, SubagentSpawn
from hookonce.agents.transcripts.values import as_dicts, as_identifier, as_ms_time, parse_usage
from hookonce.base.jsontext import as_dict
from hookonce.model import Object, Subagent

_SUFFIX = ".messages.json"
_USAGE_KEYS = name_table(
    "input_tokens=inputTokens output_tokens=outputTokens cache_read_tokens=cacheReadTokens "
    "cache_write_tokens=cacheWriteTokens"
)


def _parse_document(accumulator: TranscriptAccumulator, document: Object) -> None:
    memory, session = accumulator.memory, as_identifier(document.get("sessionId"))
    memory.session = session or memory.session
    agent = as_identifier(document.get("agent"))
    memory.subagent = Subagent(id=session, type=agent) if document.get("taskType") is not None else None
    for message in as_dicts(document.get("messages")):
        time, message_id = as_ms_time(message.get("ts")), as_identifier(message.get("id"))
        if message.get("role") == "user":
            accumulator.note_model_input(time)
        usage = parse_usage(as_dict(message.get("metrics")), _USAGE_KEYS)
        if message.get("role") == "assistant" and message_id is not None and usage is not None:
            model = as_identifier(as_dict(message.get("modelInfo")).get("id"))
            base = accumulator.common_fields(model=model)
            accumulator.add_model_call(ModelCall(id=message_id, time=time, usage=usage, **base))


def _find_subagent_files(path: Path, _spawns: Sequence[SubagentSpawn]) -> list[Path]:
    is_session = path.name == path.parent.name + _SUFFIX
    return sorted(path.parent.glob(f"agent_*{_SUFFIX}")) if is_session else []


def _locate(home: Path, session: str, environment: Mapping[str, str]) -> Path:
    """Each variable names a folder that another one, or the home, has otherwise."""
    names = ("CLINE_DIR", "CLINE_DATA_DIR", "CLINE_SESSION_DATA_DIR")
    own, data, sessions = (environment.get(name, "").strip() for name in names)
    folder = Path(sessions or Path(data or Path(own or home / ".cline", "data"), "sessions"))
    return folder / session / f"{session}{_SUFFIX}"


READER = TranscriptReader(
    session_folder="sessions",
    parse_line=_parse_document,
    find_subagent_files=_find_subagent_files,
    locate=_locate,
)
