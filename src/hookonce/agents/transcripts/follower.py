"""Follower of session files: resolves a path that is safe to read, reads what was appended since a cursor.

A file that was replaced (device, inode or the bytes before the cursor differ) is read from its start.
"""

import os
import sqlite3
import stat
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace

from hookonce.agents.transcripts import load
from hookonce.agents.transcripts.accumulator import TranscriptAccumulator, TranscriptReader, parse_chunk
from hookonce.agents.transcripts.types import ReaderMemory, TranscriptBatch, TranscriptCursor
from hookonce.base.runtime_location import MAX_PATH_CHARS
from hookonce.errors import HookonceError

_DATABASE_SUFFIX = ".db"
_SESSION_SUFFIXES = frozenset({".jsonl", ".json", _DATABASE_SUFFIX})
_BATCH_ROWS, _DATABASE_TIMEOUT_S = 500, 0.05


def resolve_session_file(agent: str, path_text: str, home: Path) -> Path:
    """A session file of this user where the agent keeps them; OSError if there is none, HookonceError for any other."""
    if not path_text.startswith(os.sep) or "\0" in path_text or len(path_text) > MAX_PATH_CHARS:
        raise HookonceError(f"no session file of {agent}: its path says nothing")
    path = Path(os.path.realpath(path_text))
    if path.parent.suffix == _DATABASE_SUFFIX:  # a session in a database
        return resolve_session_file(agent, str(path.parent), home) / path.name
    file_stat = path.stat()
    if not stat.S_ISREG(file_stat.st_mode) or file_stat.st_uid != os.getuid():
        raise HookonceError(f"no session file of {agent}: {path} is not a file of this user")
    reader = load(agent)
    in_session_folder = reader is not None and reader.session_folder in path.parts
    if not (path.is_relative_to(os.path.realpath(home)) or in_session_folder) or path.suffix not in _SESSION_SUFFIXES:
        raise HookonceError(f"no session file of {agent}: {path} does not lie where it keeps them")
    return path


CursorAndBatch = tuple[TranscriptCursor, TranscriptBatch]
MAX_CHUNK_BYTES = 16 << 20  # bytes at once; a line that is longer is left out
_MARK_BYTES = 256  # bytes before the place that was reached


def follow_file(
    reader: TranscriptReader, path: Path, cursor: TranscriptCursor | None = None, max_bytes: int = MAX_CHUNK_BYTES
) -> CursorAndBatch:
    """Read the batch after the cursor, up to `max_bytes`: call again until the cursor stays where it is."""
    if reader.query is not None:
        return _read_database(reader, path, cursor)
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(handle, "rb", buffering=0):  # noqa: PTH123  opened by its handle
        file_stat = os.fstat(handle)
        if not stat.S_ISREG(file_stat.st_mode):
            raise HookonceError(f"{path} is not a file that a session can be read from")
        if path.suffix == ".json":
            cursor = cursor or _initial_cursor(reader, path, file_stat)
            return _read_document(reader, cursor, os.pread(handle, max_bytes + 1, 0), max_bytes)
        if cursor is None or not _is_same_file(cursor, file_stat, handle):
            cursor = _initial_cursor(reader, path, file_stat)
        return _read_chunk(reader, cursor, handle, max_bytes)


def _read_database(reader: TranscriptReader, path: Path, cursor: TranscriptCursor | None) -> CursorAndBatch:
    """Rows of a session that have changed since the cursor's time; those of that very time are known by their ids."""
    cursor = cursor or _initial_cursor(reader, path, path.parent.stat())
    accumulator = TranscriptAccumulator(cursor.memory)
    uri = f"{path.parent.as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=_DATABASE_TIMEOUT_S)) as connection:
            rows = _select_rows(connection, reader.query or "", path.name, cursor.offset)
    except sqlite3.Error as problem:
        raise HookonceError(f"{path.parent} cannot be read: {problem}") from None
    for row_id, _, text in rows:
        accumulator.add_document(reader.parse_line, text, id=row_id)
    memory, batch = accumulator.build_batch()
    offset = max([cursor.offset, *(row[1] for row in rows)])
    mark = sha256(repr([row[:2] for row in rows if row[1] == offset]).encode()).hexdigest()[:16]
    return replace(cursor, offset=offset, mark=mark, memory=memory), batch


def _select_rows(connection: sqlite3.Connection, query: str, session: str, since: int) -> list[tuple[str, int, str]]:
    """The next rows; more of them where all are of one time, as after an import: else nobody would get beyond it."""
    rows, limit = list[tuple[str, int, str]](), 0
    while len(rows) == limit and all(row[1] <= since for row in rows[-1:]):
        limit = limit * 2 or _BATCH_ROWS
        rows = connection.execute(query, (session, since, limit)).fetchall()
    return rows


def _is_same_file(cursor: TranscriptCursor, file_stat: os.stat_result, handle: int) -> bool:
    """Whether it is still that file: inodes are reused, so the bytes before the offset must match as well."""
    if (file_stat.st_dev, file_stat.st_ino) != (cursor.device, cursor.inode) or file_stat.st_size < cursor.offset:
        return False
    return _digest_before(handle, cursor.offset) == cursor.mark


def _digest_before(handle: int, offset: int) -> str:
    start = max(0, offset - _MARK_BYTES)
    return sha256(os.pread(handle, offset - start, start)).hexdigest()[:16]


def _initial_cursor(reader: TranscriptReader, path: Path, file_stat: os.stat_result) -> TranscriptCursor:
    accumulator = TranscriptAccumulator(ReaderMemory(file=path.stem))
    spawn = reader.read_spawn(path) if reader.read_spawn else None
    if spawn is not None:
        accumulator.add_spawn(spawn)
        accumulator.memory.parent_call = spawn.call
    memory, _ = accumulator.build_batch()
    mark, device, inode = sha256(b"").hexdigest()[:16], file_stat.st_dev, file_stat.st_ino
    return TranscriptCursor(device=device, inode=inode, offset=0, mark=mark, memory=memory)


def _read_chunk(reader: TranscriptReader, cursor: TranscriptCursor, handle: int, max_bytes: int) -> CursorAndBatch:
    data = os.pread(handle, max_bytes, cursor.offset)
    skipped_bytes = 0
    if cursor.in_long_line:
        skipped_bytes = data.find(b"\n") + 1 or len(data)
    memory, batch, used_bytes = parse_chunk(reader, cursor.memory, data[skipped_bytes:])
    used_bytes += skipped_bytes
    in_long_line = cursor.in_long_line and b"\n" not in data
    if not used_bytes and len(data) == max_bytes:
        used_bytes, in_long_line, batch = len(data), True, batch + TranscriptBatch(unreadable=1)
    offset = cursor.offset + used_bytes
    mark = _digest_before(handle, offset)
    return replace(cursor, offset=offset, mark=mark, memory=memory, in_long_line=in_long_line), batch


def _read_document(reader: TranscriptReader, cursor: TranscriptCursor, data: bytes, limit: int) -> CursorAndBatch:
    """A JSON document that is rewritten each time: all of it is parsed again, and known ids are skipped."""
    mark = sha256(data).hexdigest()[:16]
    if mark == cursor.mark:
        return cursor, TranscriptBatch()
    accumulator = TranscriptAccumulator(cursor.memory)
    accumulator.add_line(reader.parse_line, data if len(data) <= limit else b"too long")
    memory, batch = accumulator.build_batch()
    if batch.unreadable and len(data) <= limit:
        return cursor, TranscriptBatch()  # it is being written: the next time
    return replace(cursor, offset=len(data), mark=mark, memory=memory), batch
