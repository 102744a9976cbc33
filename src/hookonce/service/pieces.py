"""Pieces of session files: one is read and kept at a time; what cannot be read is counted, and ends nobody."""

import sqlite3
from collections import deque

from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.journeys.read_on import TranscriptChunk, store_chunk, read_chunk
from hookonce.journeys.record import Recorder
from hookonce.model import Object
from hookonce.service.thread import SessionTranscripts
from hookonce.store import log
from hookonce.transcripts.permitted import resolve_session_file

_MAX_READS = 256  # at files, when they are read at once


class TranscriptChunkReader:
    """Reads transcripts chunk by chunk into the store; unreadable files are counted and end nothing."""

    def __init__(self) -> None:
        """All counters are zero."""
        self.event_count = self.unreadable_lines = self.refused_files = self.broken_files = 0
        self.problem: str | None = None

    def read_chunk(self, recorder: Recorder, session: SessionTranscripts, path: str, *, is_last: bool = False) -> tuple[list[str], int]:
        """Read and store one chunk: the paths to read next (the same file, or those of sub-agents), and its bytes.

        Errors of the store are raised.
        """
        result = self._load_chunk(recorder, session, path, is_last=is_last)
        if result is None:
            return [], 0
        chunk, next_paths = result
        self.unreadable_lines += chunk.reading.unreadable
        self.event_count += store_chunk(recorder, chunk, session.owner)
        size = chunk.cursor.offset - (chunk.previous.offset if chunk.previous is not None else 0)
        return [path] if chunk.has_more else next_paths, abs(size)

    def _load_chunk(self, recorder: Recorder, session: SessionTranscripts, named_path: str, *, is_last: bool) -> tuple[TranscriptChunk, list[str]] | None:
        try:
            path = resolve_session_file(session.agent, named_path, paths.home())
            chunk = read_chunk(recorder, session.reader, path, is_last=is_last)
            return chunk, session.add_subagents(path, chunk.cursor.memory.spawned)
        except FileNotFoundError:
            return None  # it will be written, or never
        except sqlite3.Error:
            raise
        except (OSError, HookonceError) as problem:
            self.refused_files += 1
            self.problem = str(problem)
        except Exception as problem:  # noqa: BLE001  it is somebody else's file, and anything may stand there
            self.broken_files += 1
            self.problem = f"{session.agent}: {named_path} cannot be understood: {type(problem).__name__}"
            log.write(f"transcripts: {self.problem}\n{log.format_trace(problem)}")
        session.drop_path(named_path)
        return None

    def read_all(self, recorder: Recorder, session: SessionTranscripts, max_bytes: int, *, is_last: bool = False) -> int:
        """Read all files of a session, up to about so many bytes; how many bytes may still be read."""
        queue, reads = deque(session.files), _MAX_READS
        while queue and reads and max_bytes > 0:
            next_paths, size = self.read_chunk(recorder, session, queue.popleft(), is_last=is_last)
            queue.extendleft(next_paths)
            reads, max_bytes = reads - 1, max_bytes - size
        return max_bytes

    def status(self) -> Object:
        """The transcripts' part of the status report."""
        return {
            "events": self.event_count,
            "unreadable_lines": self.unreadable_lines,
            "refused_files": self.refused_files,
            "broken_files": self.broken_files,
            "problem": self.problem,
        }
