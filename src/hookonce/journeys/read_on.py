"""read on: session file after its cursor ─ lines ─ events ─ store, together with the new cursor."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hookonce import times
from hookonce.journeys.record import Recorder
from hookonce.journeys.transcribe import TranscriptOwner, transcript_entries
from hookonce.store import cursors
from hookonce.store.cursors import TranscriptFile
from hookonce.transcripts.follow import MAX_CHUNK_BYTES, follow_file
from hookonce.transcripts.reader import TranscriptReader, flush_memory
from hookonce.transcripts.reading import TranscriptCursor, TranscriptBatch

CHUNK_BYTES = 1 << 18  # bytes at once: who calls meanwhile waits for as long as it takes to read them


class TranscriptChunk(Struct, frozen=True, kw_only=True):
    """Result of one read of a file; there is more of it if the place in the file has changed."""

    path: Path
    previous: TranscriptCursor | None
    cursor: TranscriptCursor
    reading: TranscriptBatch
    has_more: bool


def read_chunk(recorder: Recorder, reader: TranscriptReader, path: Path, *, is_last: bool = False) -> TranscriptChunk:
    """Read the next chunk of a file; with `is_last`, after the end, also what the reader held back."""
    previous = cursors.load_cursor(recorder.writer.connection, path)
    cursor, reading = _follow_file(reader, path, previous)
    has_more = previous is None or (cursor.offset, cursor.mark) != (previous.offset, previous.mark)
    if is_last and not has_more:
        memory, held_back = flush_memory(cursor.memory)
        cursor, reading = replace(cursor, memory=memory), reading + held_back
    return TranscriptChunk(path=path, previous=previous, cursor=cursor, reading=reading, has_more=has_more)


def _follow_file(reader: TranscriptReader, path: Path, previous: TranscriptCursor | None) -> tuple[TranscriptCursor, TranscriptBatch]:
    """A JSON document is read as a whole; the limit doubles until a long line fits."""
    limit = CHUNK_BYTES
    while path.suffix != ".json" and limit < MAX_CHUNK_BYTES:
        cursor, reading = follow_file(reader, path, previous, limit)
        if not cursor.in_long_line or (previous is not None and previous.in_long_line):
            return cursor, reading
        limit *= 2  # no more than the line needs: what stands below it can wait
    return follow_file(reader, path, previous, MAX_CHUNK_BYTES)


def store_chunk(recorder: Recorder, chunk: TranscriptChunk, owner: TranscriptOwner) -> int:
    """Store a chunk's events and its cursor, both or neither; how many events are new."""
    if chunk.cursor == chunk.previous:
        return 0
    cursor_place = TranscriptFile(chunk.path, owner.agent, owner.session)
    return recorder.append(
        transcript_entries(chunk.reading, owner),
        lambda connection: cursors.save_cursor(connection, cursor_place, chunk.cursor, times.now()),
    )
