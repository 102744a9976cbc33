"""Transcript files of a session and its sub-agents, and the reader that stores them chunk by chunk."""

import os
import sqlite3
from collections import deque
from contextlib import suppress
from pathlib import Path
from time import monotonic

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import decode

from hookonce.agents.transcripts.accumulator import TranscriptReader
from hookonce.agents.transcripts.follower import resolve_session_file
from hookonce.agents.transcripts.types import SubagentSpawn, ToolOutcome
from hookonce.base import paths
from hookonce.errors import HookonceError
from hookonce.model import Event, Json, Object
from hookonce.secrets import log
from hookonce.sessions.derive.calls import SESSION_ENDS
from hookonce.sessions.recorder import Recorder
from hookonce.sessions.transcript_events import TranscriptChunk, TranscriptOwner, peek_outcomes, read_chunk, store_chunk
from hookonce.vocabulary.events import CALLER_CWD

_PATH_KEYS = ("transcript_path", "agent_transcript_path")
_MAX_FILES = 512  # of one session
_MAX_PAYLOADS, _MAX_PAYLOAD_BYTES = 64, 1 << 16  # whose own words are remembered, and bytes of them


class SessionTranscripts:
    """Transcript files of one session: their paths, when they are read next, and how often after the session's end."""

    def __init__(self, agent: str, session: str, reader: TranscriptReader) -> None:
        self.agent, self.session, self.reader = agent, session, reader
        self.version: str | None = None
        self.cwd: str | None = None
        self.due_at: float | None = None
        self.last_event_at = monotonic()
        self.remaining_reads: list[float] | None = None  # delays of the reads that follow the session's end, in seconds
        self.pending_calls: frozenset[str] = frozenset()  # whose end was reported and is not stored yet
        self.pending_since: str | None = None  # the time of its first event that is not stored yet
        self.paths: dict[str, bool] = {}  # as they were told, and whether they are read
        self._spawns: dict[str, SubagentSpawn] = {}

    @property
    def owner(self) -> TranscriptOwner:
        """Owner of the files, for the events that are made of them."""
        return TranscriptOwner(
            agent=self.agent,
            session=self.session,
            version=self.version,
            cwd=self.cwd,
            spawns=self._spawns,
            pending_calls=self.pending_calls,
            pending_since=self.pending_since,
        )

    @property
    def files(self) -> list[str]:
        """Paths that are read."""
        return [path for path, is_read in self.paths.items() if is_read]

    @property
    def is_over(self) -> bool:
        """Whether the session has ended."""
        return self.remaining_reads is not None

    def add_event(self, event: Event, read_delays: list[float]) -> None:
        """Take an event of the session; after an end the files are read once more after each of these delays."""
        self.last_event_at = monotonic()
        self.update_context(event)
        self.remaining_reads = list(read_delays) if event.type in SESSION_ENDS else None

    def update_context(self, event: Event) -> None:
        """Take agent version and working directory from an event."""
        self.version = event.agent_version or self.version
        self.cwd = self.cwd or event.cwd or event.data.get(CALLER_CWD)

    def add_path(self, path: str) -> bool:
        """Add a path; whether it is new."""
        is_new = path not in self.paths and len(self.paths) < _MAX_FILES
        if is_new:
            self.paths[path] = True
        return is_new

    def add_subagents(self, path: Path, spawns: list[SubagentSpawn]) -> list[str]:
        """Add sub-agents; the paths of their transcripts that are new."""
        self._spawns |= {item.id: item for item in spawns}
        return [str(item) for item in self.reader.find_subagent_files(path, spawns) if self.add_path(str(item))]


class _TranscriptFields(Struct):
    transcript_path: Json = None
    agent_transcript_path: Json = None


class TranscriptPaths:
    """Transcript paths that events name; raw payloads are remembered, because redaction may hide a part of a path."""

    def __init__(self) -> None:
        self._payloads: deque[tuple[bytes, bytes]] = deque(maxlen=_MAX_PAYLOADS)
        self._environments: deque[tuple[bytes, bytes]] = deque(maxlen=_MAX_PAYLOADS)

    def remember(self, call_id: bytes, payload: bytes, environment: bytes = b"") -> None:
        """Remember the raw payload of a call, and its environment: entries that end in a null byte."""
        if len(payload) <= _MAX_PAYLOAD_BYTES:
            self._payloads.append((call_id, payload))
        if len(environment) <= _MAX_PAYLOAD_BYTES:
            self._environments.append((call_id, environment))

    def environment_of(self, event: Event) -> dict[str, str]:
        """The environment of the call that an event came from; empty where it is not known any more."""
        raw = next((field for call_id, field in self._environments if call_id == event.id.encode()), b"")
        entries = (entry.partition("=") for entry in os.fsdecode(raw).split("\0"))
        return {name: value for name, sign, value in entries if name and sign}

    def paths_of(self, event: Event) -> list[str]:
        """Transcript paths of an event; one that does not exist may have been redacted, so the raw payload is asked."""
        transcript_paths = [path for key in _PATH_KEYS if type(path := event.data.get(key)) is str and path]
        if all(map(os.path.exists, transcript_paths)):
            return transcript_paths
        raw = next((payload for call_id, payload in self._payloads if call_id == event.id.encode()), b"{}")
        try:
            fields = decode(raw, type=_TranscriptFields)
        except (DecodeError, ValidationError, UnicodeDecodeError):
            return transcript_paths
        return [path for key in _PATH_KEYS if type(path := getattr(fields, key)) is str and path] or transcript_paths


_MAX_READS = 256  # at files, when they are read at once


class TranscriptChunkReader:
    """Reads transcripts chunk by chunk into the store; unreadable files are counted and end nothing."""

    def __init__(self) -> None:
        self.event_count = self.unreadable_lines = self.refused_files = self.broken_files = 0
        self.problem: str | None = None

    def read_chunk(
        self, recorder: Recorder, session: SessionTranscripts, path: str, *, is_last: bool = False
    ) -> tuple[list[str], int]:
        """Read and store a chunk: the paths to read next (the same file, or sub-agents'), and its bytes."""
        result = self._load_chunk(recorder, session, path, is_last=is_last)
        if result is None:
            return [], 0
        chunk, next_paths = result
        self.unreadable_lines += chunk.reading.unreadable
        self.event_count += store_chunk(recorder, chunk, session.owner)
        size = chunk.cursor.offset - (chunk.previous.offset if chunk.previous is not None else 0)
        return [path] if chunk.has_more else next_paths, abs(size)

    def _load_chunk(
        self, recorder: Recorder, session: SessionTranscripts, named_path: str, *, is_last: bool
    ) -> tuple[TranscriptChunk, list[str]] | None:
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
        session.paths[named_path] = False
        return None

    def read_all(
        self, recorder: Recorder, session: SessionTranscripts, max_bytes: int, *, is_last: bool = False
    ) -> int:
        """Read all files of a session, up to about so many bytes; how many bytes may still be read."""
        queue, reads = deque(session.files), _MAX_READS
        while queue and reads and max_bytes > 0:
            next_paths, size = self.read_chunk(recorder, session, queue.popleft(), is_last=is_last)
            queue.extendleft(next_paths)
            reads, max_bytes = reads - 1, max_bytes - size
        return max_bytes

    def peek_outcomes(self, recorder: Recorder, session: SessionTranscripts) -> dict[str, ToolOutcome]:
        """What calls of a session came to by its files as they are now; a file that cannot be read tells nothing."""
        outcomes: dict[str, ToolOutcome] = {}
        for named_path in session.files:
            with suppress(OSError, HookonceError):  # `read_chunk` counts it
                path = resolve_session_file(session.agent, named_path, paths.home())
                outcomes |= peek_outcomes(recorder, session.reader, path)
        return outcomes

    def status(self) -> Object:
        """The transcripts' part of the status report."""
        return {
            "events": self.event_count,
            "unreadable_lines": self.unreadable_lines,
            "refused_files": self.refused_files,
            "broken_files": self.broken_files,
            "problem": self.problem,
        }
