"""A reader of session files: how an agent writes a line, and where the files of its sub-agents lie."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from hookonce.transcripts.reading import Memory, Reading, Spawn
from hookonce.transcripts.telling import Line, Telling


class Reader(Struct, frozen=True, kw_only=True):
    """One agent's session files.

    `line` tells what a line says. `nested` finds the files of the sub-agents of a session file, of which these were
    spawned; `origin` what is known of such a file from beside it.
    """

    agent: str
    line: Line
    nested: Callable[[Path, Sequence[Spawn]], list[Path]]
    origin: Callable[[Path], Spawn | None] | None = None


def read(reader: Reader, memory: Memory, data: bytes) -> tuple[Memory, Reading, int]:
    """What these bytes tell, and how many were used: half a last line is left for the next time."""
    telling = Telling(memory)
    used = data.rfind(b"\n") + 1
    for raw in data[:used].split(b"\n"):
        telling.read(reader.line, raw)
    return *telling.told(), used


def close(memory: Memory) -> tuple[Memory, Reading]:
    """What remains to be told when a session is over."""
    telling = Telling(memory)
    telling.close()
    return telling.told()
