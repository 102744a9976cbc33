"""Session files of our own runs, and how the tests read them."""

import json
from pathlib import Path

from hookonce import transcripts
from hookonce.transcripts.follow import follow
from hookonce.transcripts.reader import close, read
from hookonce.transcripts.reading import Memory, Reading

GOLDEN = Path(__file__).parents[1] / "golden" / "transcripts"
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
    memory, reading, used = read(reader, Memory(), data)
    assert used == len(data)
    return reading + close(memory)[1]


def session(file):
    """All that a session tells, its sub-agents among them."""
    reader, found, left = reader_of(file), Reading(), [file]
    while left:
        cursor, reading = follow(reader, left[0])
        reading += close(cursor.memory)[1]
        left = left[1:] + reader.nested(left[0], reading.spawns)
        found += reading
    return found


def lines(*documents):
    return b"".join(json.dumps(one).encode() + b"\n" for one in documents)
