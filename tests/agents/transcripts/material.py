"""Session files of our own runs, and how the tests read them."""

import json
from pathlib import Path

from hookonce.agents import transcripts
from hookonce.agents.transcripts.accumulator import flush_memory, parse_chunk
from hookonce.agents.transcripts.follower import follow_file
from hookonce.agents.transcripts.types import ReaderMemory, TranscriptBatch

GOLDEN = Path(__file__).parents[2] / "golden" / "transcripts"
FILES = sorted(GOLDEN.glob("**/*.jsonl"))


def agent_of(file):
    return file.relative_to(GOLDEN).parts[0]


def reader_of(file):
    return transcripts.load(agent_of(file))


def golden(agent, scenario):
    """The session's own file of a scenario; sub-agents come after it."""
    told = json.loads((GOLDEN / agent / "provenance.json").read_text(encoding="utf-8"))
    return next(GOLDEN / agent / one["file"] for one in told["files"] if one["scenario"] == scenario)


def at_once(reader, data):
    """All that a file tells, when it is complete."""
    memory, reading, used = parse_chunk(reader, ReaderMemory(), data)
    assert used == len(data)
    return reading + flush_memory(memory)[1]


def session(file):
    """All that a session tells, its sub-agents among them."""
    return session_and_spawns(file)[0]


def session_and_spawns(file):
    """The same, and the sub-agents that its files name."""
    reader, found, spawns, left = reader_of(file), TranscriptBatch(), [], [file]
    while left:
        cursor, reading = follow_file(reader, left[0])
        memory, rest = flush_memory(cursor.memory)
        left = left[1:] + reader.find_subagent_files(left[0], memory.spawned)
        found, spawns = found + reading + rest, spawns + memory.spawned
    return found, spawns


def lines(*documents):
    return b"".join(json.dumps(one).encode() + b"\n" for one in documents)
