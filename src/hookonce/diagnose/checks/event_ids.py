"""Ids of the events of a stream: which line had an id first, in a temporary database, so that memory stays flat."""

import sqlite3
from hashlib import blake2b

from hookonce import formats
from hookonce.base.jsontext import dump
from hookonce.model import Object

_CACHE_KIBIBYTES = 2048


class StreamIdIndex:
    """The ids that a stream has had so far, each with the line of its first event."""

    def __init__(self) -> None:
        """Begin a stream; the database is made for its first event."""
        self._database: sqlite3.Connection | None = None

    def find_earlier(self, kind: str, document: Object, line: int) -> int | None:
        """The line of an earlier event with the same id; None for a new id, and for a document that has none."""
        event_id = formats.document_id(formats.load(kind), document) if kind in formats.FORMATS else None
        if not event_id:
            return None
        scope = document.get("source") if kind == "cloudevents" else None  # of CloudEvents each source has its own
        digest = blake2b(dump([kind, scope, event_id]), digest_size=16).digest()
        database = self._open()
        row = database.execute("SELECT line FROM ids WHERE digest = ?", (digest,)).fetchone()
        if row is not None:
            return int(row[0])
        database.execute("INSERT INTO ids VALUES (?, ?)", (digest, line))
        return None

    def close(self) -> None:
        """Forget all of them."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            self._database = sqlite3.connect("", isolation_level=None)  # a file that nobody else sees
            self._database.execute(f"PRAGMA cache_size = -{_CACHE_KIBIBYTES}")
            self._database.execute("PRAGMA journal_mode = OFF")
            self._database.execute("CREATE TABLE ids (digest BLOB PRIMARY KEY, line INTEGER) WITHOUT ROWID")
            self._database.execute("BEGIN")
        return self._database
