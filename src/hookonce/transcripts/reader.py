"""A reader of session files: how an agent writes a line, and where the files of its sub-agents lie."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from hookonce.transcripts.reading import ReaderMemory, TranscriptBatch, SubagentSpawn
from hookonce.transcripts.telling import LineParser, TranscriptAccumulator


class TranscriptReader(Struct, frozen=True, kw_only=True):
    """Transcript reader of one agent.

    `parse_line` adds one JSON line to an accumulator. `find_subagent_files` finds the session files of the
    sub-agents of a session file, given its spawns; `read_spawn` reads what a neighbouring file says of a sub-
    agent's file.
    """

    agent: str
    parse_line: LineParser
    find_subagent_files: Callable[[Path, Sequence[SubagentSpawn]], list[Path]]
    read_spawn: Callable[[Path], SubagentSpawn | None] | None = None


def parse_chunk(reader: TranscriptReader, memory: ReaderMemory, data: bytes) -> tuple[ReaderMemory, TranscriptBatch, int]:
    """Parse a chunk; returns the memory, the batch and the number of bytes used: an incomplete last line is not."""
    accumulator = TranscriptAccumulator(memory)
    used_bytes = data.rfind(b"\n") + 1
    for line in data[:used_bytes].split(b"\n"):
        accumulator.add_line(reader.parse_line, line)
    return *accumulator.build_batch(), used_bytes


def flush_memory(memory: ReaderMemory) -> tuple[ReaderMemory, TranscriptBatch]:
    """Emit what is still open when a session is over."""
    accumulator = TranscriptAccumulator(memory)
    accumulator.flush()
    return accumulator.build_batch()
