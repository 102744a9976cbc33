"""How far session files were read. A cursor is written in one step with the rows that it led to, or not at all."""

import os
from hashlib import sha256
from pathlib import Path
from sqlite3 import Connection

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import decode, encode

from hookonce.guard.secrets import masked
from hookonce.transcripts.reading import Cursor

_WRITE = """INSERT INTO transcripts (path, agent, session, cursor, at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET session = excluded.session, cursor = excluded.cursor, at = excluded.at"""
_SINCE = "SELECT path, agent, session FROM transcripts WHERE at >= ? ORDER BY at DESC LIMIT ?"


class Place(Struct, frozen=True):
    """A session file that was read, and whose it is."""

    path: Path
    agent: str
    session: str | None


def read(connection: Connection, path: Path) -> Cursor | None:
    """The place that was reached in a file; one that cannot be read is none, and the file is read again."""
    row = connection.execute("SELECT cursor FROM transcripts WHERE path = ?", (_key(path),)).fetchone()
    try:
        return None if row is None else decode(row[0], type=Cursor)
    except (DecodeError, ValidationError):
        return None


def write(connection: Connection, place: Place, cursor: Cursor, at: str) -> None:
    """Note the place that was reached; whoever writes rows does so in the same transaction."""
    connection.execute(_WRITE, (_key(place.path), place.agent, place.session, encode(cursor), at))


def since(connection: Connection, at: str, most: int) -> list[Place]:
    """The files that were read since then; of one that may not be named, only who calls next knows where it is."""
    found = connection.execute(_SINCE, (at, most)).fetchall()
    return [Place(Path(path), agent, session) for path, agent, session in found if path.startswith(os.sep)]


def _key(path: Path) -> str:
    """The file's name; no secret is kept in it either, nor what is no text."""
    name = os.fsencode(path).decode(errors="backslashreplace")
    return name if name == str(path) and not masked(name)[1] else f"sha256:{sha256(name.encode()).hexdigest()}"
