"""The condition of the record at a glance: whether its end is where it was left. Whoever wants all looked at audits."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from sqlite3 import Connection

from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.store import chain, database, head, keys, reader
from hookonce.store.soundness import SELECT_ROWS, find_row_fault
from hookonce.store.writer import read_chain_head

_NEXT_STEP = "; hookonce audit verify looks at all of it"


def find_record_troubles() -> list[str]:
    """Faults at the end of the record; an empty list where there is no database."""
    if not database.database_file().exists():
        return []
    try:
        noted_head = head.read_head() if keys.has_mac_key() else None  # before the database is read: it may go on meanwhile
        cuts = head.load_cuts() if keys.has_mac_key() else []
        with closing(reader.open_reader()) as connection:
            return [f"{trouble}{_NEXT_STEP}" for trouble in _check_record_end(connection, noted_head, bool(cuts))]
    except (sqlite3.Error, OSError, ValueError, HookonceError) as problem:
        return [f"the record cannot be looked at: {problem}{_NEXT_STEP}"]


def find_write_obstacle() -> str | None:
    """Why the data folder cannot be written; None if it can."""
    folder = paths.data_dir()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        return f"{folder} is no folder"
    return None if os.access(folder, os.W_OK | os.X_OK) else f"nothing can be written to {folder}"


def _check_record_end(connection: Connection, noted_head: head.ChainHead | None, was_cut: bool) -> Iterator[str]:  # noqa: FBT001
    connection.execute("BEGIN")
    chain_head = read_chain_head(connection)
    if noted_head is not None and not head.contains_head(connection, noted_head):
        yield f"the record ends before row {noted_head.seq}, up to which it was written"
    elif was_cut:
        yield "the end of the record was cut off, and it has gone on since"
    if chain_head.seq and not head.contains_head(connection, chain_head):
        yield f"the last row is not the one that was written last (row {chain_head.seq})"
    last_rows = connection.execute(f"{SELECT_ROWS} ORDER BY seq DESC LIMIT 2").fetchall()
    if last_rows and last_rows[0][0] > chain_head.seq:
        yield f"rows were put in after row {chain_head.seq}, the last one"
    elif last_rows:
        previous_hash = last_rows[1][-2] if len(last_rows) > 1 and last_rows[1][0] == last_rows[0][0] - 1 else None
        previous_hash = chain.GENESIS_HASH if last_rows[0][0] == 1 else previous_hash
        if (row_fault := find_row_fault(last_rows[0], previous_hash, keys.load_mac_key() if keys.has_mac_key() else None)) is not None:
            yield f"row {last_rows[0][0]}: {row_fault}"
