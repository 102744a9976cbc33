"""Accumulator of transcript lines: fed by an agent's line parser, it deduplicates, completes and batches items."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from msgspec import DecodeError, Struct
from msgspec.json import decode
from msgspec.structs import replace

from hookonce.agents.transcripts.types import (
    Compaction,
    ModelCall,
    ReaderMemory,
    SubagentSpawn,
    ToolOutcome,
    TranscriptBatch,
)
from hookonce.base.jsontext import load
from hookonce.model import Json, Object

LineParser = Callable[["TranscriptAccumulator", Object], None]

_MAX_RECENT_IDS = 512  # ids; repetitions stand near one another, and whoever keeps the values knows all ids
_MAX_SPAWNS = 256  # sub-agents whose files are still looked for
_MAX_OUTCOMES = 32  # of calls whose end an agent may not have reported yet


class TranscriptAccumulator:
    """Accumulator of one batch, starting from a reader's memory."""

    def __init__(self, memory: ReaderMemory) -> None:
        self.memory = deepcopy(memory)
        self._recent_ids = dict.fromkeys(memory.seen)
        self._calls, self._compactions, self._unreadable = list[ModelCall](), list[Compaction](), 0
        self._outcomes = dict[str, ToolOutcome]()

    def add_line(self, parse_line: LineParser, raw: bytes) -> None:
        """Parse one line; an unreadable one is counted."""
        if not raw.strip():
            return
        document = _parse_document(raw)
        if type(document) is dict:
            parse_line(self, document)
        else:
            self._unreadable += 1

    def add_document(self, parse_line: LineParser, text: str, **fields: Json) -> None:
        """Parse one row of a database, with these fields."""
        document = _parse_document(text.encode())
        if type(document) is dict:
            parse_line(self, document | fields)
        else:
            self._unreadable += 1

    def common_fields(self, **overrides: Any) -> dict[str, Any]:
        """Fields that all items share: session, turn and sub-agent, with overrides."""
        return {name: getattr(self.memory, name) for name in ("session", "turn", "subagent")} | overrides

    def note_model_input(self, time: str | None) -> None:
        """Note the time of input that the model will answer."""
        self.memory.asked = time or self.memory.asked

    def add_model_call(self, call: ModelCall, *, is_complete: bool = True, has_ask_time: bool = True) -> None:
        """Add a model call; an incomplete one is held until it is complete or another one begins.

        `has_ask_time` if its line stands between what it answers and what follows from it.
        """
        pending = self.memory.held
        if pending is not None and pending.id != call.id:
            self._emit_model_call(pending)
        source = pending if pending is not None and pending.id == call.id else self.memory
        call = replace(call, asked=source.asked if has_ask_time else None, retries=source.retries)
        if is_complete:
            self._emit_model_call(call)
        elif not self._is_duplicate("call", call.id):
            self.memory.held = call

    def _emit_model_call(self, call: ModelCall) -> None:
        self.memory.held = None
        if self._remember_id("call", call.id):
            self.memory.retries = None
            self._calls.append(call)

    def add_compaction(self, compaction: Compaction) -> None:
        """Add a compaction."""
        if self._remember_id("compaction", compaction.id):
            self._compactions.append(compaction)

    def add_outcome(self, outcome: ToolOutcome) -> None:
        """Add what a call came to; if an earlier line has told it, that counts: later ones may quote the tool."""
        outcomes, earlier = self.memory.outcomes, self.memory.outcomes.pop(outcome.id, None)
        if earlier is not None:
            later = {"is_done": earlier.is_done or outcome.is_done, "time": outcome.time or earlier.time}
            tool = earlier.tool or outcome.tool
            outcome = replace(earlier if earlier.is_known else outcome, tool=tool, **later)
        outcomes[outcome.id] = self._outcomes[outcome.id] = outcome
        if len(outcomes) > _MAX_OUTCOMES:
            del outcomes[next(iter(outcomes))]

    def add_spawn(self, spawn: SubagentSpawn) -> None:
        """Add a sub-agent."""
        if self._remember_id("spawn", spawn.id):
            self.memory.spawned = [*self.memory.spawned, spawn][-_MAX_SPAWNS:]

    def flush(self) -> None:
        """Emit what is held as it is, because nothing follows."""
        if self.memory.held is not None:
            self._emit_model_call(self.memory.held)
        if self.memory.compacting is not None:
            self.add_compaction(self.memory.compacting)
            self.memory.compacting = None

    def build_batch(self) -> tuple[ReaderMemory, TranscriptBatch]:
        """The new memory, and the batch."""
        self.memory.seen = list(self._recent_ids)[-_MAX_RECENT_IDS:]
        batch = TranscriptBatch(
            calls=tuple(self._calls),
            compactions=tuple(self._compactions),
            outcomes=tuple(outcome for outcome in self._outcomes.values() if outcome.is_known),
            unreadable=self._unreadable,
        )
        return self.memory, batch

    def _is_duplicate(self, kind: str, item_id: str) -> bool:
        return f"{kind} {item_id}" in self._recent_ids

    def _remember_id(self, kind: str, item_id: str) -> bool:
        """Whether the id is new; only the latest ids are remembered, however much is read at once."""
        if self._is_duplicate(kind, item_id):
            return False
        self._recent_ids[f"{kind} {item_id}"] = None
        if len(self._recent_ids) > _MAX_RECENT_IDS:
            del self._recent_ids[next(iter(self._recent_ids))]
        return True


def _parse_document(raw: bytes) -> Json:
    try:
        return decode(raw)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return load(raw.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None


class TranscriptReader(Struct, frozen=True, kw_only=True):
    """Transcript reader of one agent."""

    session_folder: str  # in some folder of that name all its session files lie
    parse_line: LineParser
    # The files of a session's sub-agents, by its own and its spawns.
    find_subagent_files: Callable[[Path, Sequence[SubagentSpawn]], list[Path]] = lambda _path, _spawns: []
    read_spawn: Callable[[Path], SubagentSpawn | None] | None = None  # what a file beside that of a sub-agent says
    # The file of a session, where no payload names it: by the home, the session and the agent's environment.
    locate: Callable[[Path, str, Mapping[str, str]], Path | None] | None = None
    # Rows of a SQLite database, whose path ends with the session: id, time and document, by session, time and limit.
    query: str | None = None


def parse_chunk(
    reader: TranscriptReader, memory: ReaderMemory, data: bytes
) -> tuple[ReaderMemory, TranscriptBatch, int]:
    """Parse a chunk; returns the memory, the batch and the number of bytes used: an incomplete last line is not."""
    accumulator = TranscriptAccumulator(memory)
    used_bytes = data.rfind(b"\n") + 1
    for line in data[:used_bytes].split(b"\n"):
        accumulator.add_line(reader.parse_line, line)
    return *accumulator.build_batch(), used_bytes


def flush_memory(memory: ReaderMemory) -> tuple[ReaderMemory, TranscriptBatch]:
    """Emit what is still held when a session is over."""
    accumulator = TranscriptAccumulator(memory)
    accumulator.flush()
    return accumulator.build_batch()
