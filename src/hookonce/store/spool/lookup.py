"""Record lookup by event id: its spool file, journals of other processes, then the store; nothing else is read."""

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hookonce.errors import HookonceError
from hookonce.model import Stored
from hookonce.store.entry import try_decode_record
from hookonce.store.spool import files

if TYPE_CHECKING:
    from sqlite3 import Connection

_HEAD_BYTES = 160  # in which the first record of a spool file names its event
_SELECT_ROW = "SELECT body, erased FROM events WHERE id = ?"


class KnownEvent(Struct, frozen=True):
    """An event that is recorded, with its record unless that was erased."""

    record: Stored | None = None


class SpoolIndex:
    """Index of the spool files that hold records of several events, which daemons write."""

    def __init__(self) -> None:
        self._is_journal: dict[str, bool] = {}

    def find_record(self, event_id: str, own_journal: Path | None = None) -> Stored | None:
        """The last record of an event in the spool; `own_journal` is left out, for its writer knows it."""
        folder, own_name = files.spool_dir(), None if own_journal is None else own_journal.name
        try:
            names = [name for name in os.listdir(folder) if name.endswith(".jsonl") and name != own_name]  # noqa: PTH208
        except OSError:
            return None
        if f"{event_id}.jsonl" in names and (record := files.load_last_record(event_id)) is not None:
            return record
        cache = self._is_journal
        self._is_journal = {name: cache[name] if name in cache else _is_journal(folder / name) for name in names}
        journals = (folder / name for name in names if self._is_journal[name])
        records = (files.find_in_journal(journal, event_id) for journal in journals)
        return next((record for record in records if record is not None), None)


def _is_journal(path: Path) -> bool:
    """Whether a spool file is no file of one event, which has that event's id as its name."""
    try:
        with path.open("rb", buffering=0) as file:
            return path.stem.encode() not in file.read(_HEAD_BYTES)
    except OSError:
        return False


def find_row(connection: "Connection", event_id: str) -> KnownEvent | None:
    """What the store knows of an event."""
    row = connection.execute(_SELECT_ROW, (event_id,)).fetchone()
    # a damaged row is there all the same
    return None if row is None else KnownEvent(None if row[1] else try_decode_record(row[0]))


def find_event(event_id: str) -> KnownEvent | None:
    """What is recorded of an event, by a process that has no connection to the store yet.

    A record moves from the spool to the store, so it is looked for in that order.
    """
    if (record := SpoolIndex().find_record(event_id)) is not None:
        return KnownEvent(record)
    import sqlite3  # a call of an agent does without

    from hookonce.store import database

    if not database.database_file().exists():
        return None
    try:
        with closing(database.open_reader()) as connection:
            return find_row(connection, event_id)
    except (sqlite3.Error, OSError, HookonceError):  # then only what is still in the runtime directory is known
        return None
