"""Erasure of records: a body becomes its hash in every file; the chain, time, type, agent and tool stay."""

import sqlite3
from sqlite3 import Connection

from msgspec import Struct

from hookonce.store import kernel_log
from hookonce.store.integrity import chain, keys
from hookonce.store.integrity.chain import INDEX_COLUMNS, erased_row_mac
from hookonce.store.integrity.write_guard import guarded_transaction
from hookonce.store.usage.tokens import TOKEN_COLUMNS
from hookonce.store.writer import Writer

_ERASED_COLUMNS = ("session", "subagent", "model", "project", "path")
# Summaries that name a project, and under what else they count tokens.
_PROJECT_TABLES = {
    "usage_by_project": "day, agent, model, input_tier",
    "quarter_usage": "day, quarter, agent, model, input_tier",
    "token_usage": "agent, session, source, day, quarter, model, input_tier",
}


class ErasureResult(Struct, frozen=True):
    """How many records were erased, and why their old pages could not be cleaned (None if they were)."""

    record_count: int
    cleanup_problem: str | None = None


def list_session_events(connection: Connection, session: str, agent: str | None = None) -> list[str]:
    """Ids of a session's records that are not erased yet; of one agent if named."""
    condition = "session = ? AND agent = coalesce(?, agent) AND erased = 0"
    rows = connection.execute(f"SELECT id FROM events WHERE {condition} ORDER BY seq", (session, agent))  # noqa: S608
    return [row[0] for row in rows]


def erase_records(writer: Writer, event_ids: list[str]) -> ErasureResult:
    """Erase records by id, vacuum the database and truncate its WAL."""
    connection = writer.connection
    connection.execute("PRAGMA secure_delete = ON")
    try:
        with guarded_transaction(connection):
            record_count = sum(_erase_record(connection, event_id) for event_id in event_ids)
        kernel_log.remove_events(event_ids)
        return ErasureResult(record_count, _vacuum(connection))
    finally:
        connection.execute("PRAGMA secure_delete = OFF")


def _erase_record(connection: Connection, event_id: str) -> int:
    statement = f"SELECT {', '.join(INDEX_COLUMNS)}, body, hash FROM events WHERE id = ? AND erased = 0"  # noqa: S608  our words
    row = connection.execute(statement, (event_id,)).fetchone()
    if row is None:
        return 0
    *column_values, body, row_hash = row
    columns = dict(zip(INDEX_COLUMNS, column_values, strict=True))
    remaining_values = [None if column in _ERASED_COLUMNS else value for column, value in columns.items()]
    assignments = ", ".join(f"{column} = NULL" for column in _ERASED_COLUMNS)
    connection.execute(
        f"UPDATE events SET body = ?, erased = 1, {assignments}, mac = ? WHERE id = ?",  # noqa: S608  as above
        (chain.digest_body(body), erased_row_mac(keys.load_mac_key(), row_hash, remaining_values), event_id),
    )
    _remove_from_summaries(connection, columns)
    return 1


def _remove_from_summaries(connection: Connection, columns: dict[str, str | None]) -> None:
    """Summaries name a session and a project only as long as a record does."""
    session, project = columns["session"], columns["project"]
    statement = "SELECT 1 FROM events WHERE agent = ? AND session = ? LIMIT 1"
    if session is not None and connection.execute(statement, (columns["agent"], session)).fetchone() is None:
        for table in ("sessions", "token_usage", "transcript_cursors"):  # whose paths name it too
            connection.execute(f"DELETE FROM {table} WHERE agent = ? AND session = ?", (columns["agent"], session))  # noqa: S608
    if project and connection.execute("SELECT 1 FROM events WHERE project = ? LIMIT 1", (project,)).fetchone() is None:
        _clear_project(connection, project)


def _clear_project(connection: Connection, project: str) -> None:
    """Move the usage of a project to no project."""
    token_columns = ", ".join(TOKEN_COLUMNS)
    sums = ", ".join(f"{name} = {name} + excluded.{name}" for name in TOKEN_COLUMNS)
    for table, key_columns in _PROJECT_TABLES.items():
        select = f"SELECT '', {key_columns}, {token_columns} FROM {table} WHERE project = ?"  # noqa: S608  our own words
        insert = f"INSERT INTO {table} (project, {key_columns}, {token_columns}) {select}"
        connection.execute(f"{insert} ON CONFLICT DO UPDATE SET {sums}", (project,))
        connection.execute(f"DELETE FROM {table} WHERE project = ?", (project,))  # noqa: S608  as above
    connection.execute("UPDATE sessions SET project = NULL WHERE project = ?", (project,))


def _vacuum(connection: Connection) -> str | None:
    """A page may have held several copies; returns why cleaning failed."""
    try:
        connection.execute("VACUUM")
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.Error as problem:
        return str(problem)
    return "somebody is reading the database" if busy else None
