"""Transcript cursors: how far each session file was read, written in one transaction with what was read."""

import os
from hashlib import sha256
from pathlib import Path
from sqlite3 import Connection

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import decode, encode

from hookonce.agents.transcripts.types import TranscriptCursor
from hookonce.secrets.detect import mask_secrets

_UPSERT = """INSERT INTO transcript_cursors (path, agent, session, cursor, read_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET session = excluded.session, cursor = excluded.cursor, read_at = excluded.read_at"""
_SELECT_SINCE = "SELECT path, agent, session FROM transcript_cursors WHERE read_at >= ? ORDER BY read_at DESC LIMIT ?"


class TranscriptFile(Struct, frozen=True):
    """A transcript file that was read, and its session."""

    path: Path
    agent: str
    session: str | None


def load_cursor(connection: Connection, path: Path) -> TranscriptCursor | None:
    """The cursor of a file; None if there is none or it cannot be decoded (the file is read again)."""
    row = connection.execute("SELECT cursor FROM transcript_cursors WHERE path = ?", (_path_key(path),)).fetchone()
    try:
        return None if row is None else decode(row[0], type=TranscriptCursor)
    except (DecodeError, ValidationError):
        return None


def save_cursor(connection: Connection, transcript: TranscriptFile, cursor: TranscriptCursor, read_at: str) -> None:
    """Save a cursor, in the caller's transaction."""
    values = (_path_key(transcript.path), transcript.agent, transcript.session, encode(cursor), read_at)
    connection.execute(_UPSERT, values)


def list_transcripts(connection: Connection, since_time: str, limit: int) -> list[TranscriptFile]:
    """Files that were read since a time, newest first; files whose path was hashed are left out."""
    rows = connection.execute(_SELECT_SINCE, (since_time, limit)).fetchall()
    return [TranscriptFile(Path(path), agent, session) for path, agent, session in rows if path.startswith(os.sep)]


def _path_key(path: Path) -> str:
    """The path, or its hash if it holds a secret or is not valid UTF-8."""
    name = os.fsencode(path).decode(errors="backslashreplace")
    return name if name == str(path) and not mask_secrets(name)[1] else f"sha256:{sha256(name.encode()).hexdigest()}"
