"""Erasing: what a record said is overwritten with its hash, wherever a file of the store may still hold it."""

import sqlite3
from sqlite3 import Connection

from msgspec import Struct

from hookonce.store import chain, kernel_log, keys
from hookonce.store.retention import at_once
from hookonce.store.soundness import BESIDE, erased_mark
from hookonce.store.told import TOKENS
from hookonce.store.writer import Writer

_CLEARED = ("session", "subagent", "model", "project", "path")
# Summaries that name a project, and under what else they count tokens.
_NAMING = {"places": "day, agent, model, over", "told": "agent, session, teller, day, model, over"}


class Erased(Struct, frozen=True):
    """How many records were erased, and what kept their old bytes from being cleaned away; None if they are gone."""

    records: int
    left: str | None = None


def of_session(connection: Connection, session: str, agent: str | None = None) -> list[str]:
    """The ids of a session's records that are not erased yet; of one agent's if that is named."""
    meant = "session = ? AND agent = coalesce(?, agent) AND erased = 0"
    found = connection.execute(f"SELECT id FROM events WHERE {meant} ORDER BY seq", (session, agent))  # noqa: S608
    return [row[0] for row in found]


def erase(writer: Writer, names: list[str]) -> Erased:
    """Erase records: the chain holds, and what is left of them is when, what kind, which agent and tool."""
    connection = writer.connection
    connection.execute("PRAGMA secure_delete = ON")
    try:
        done = at_once(connection, lambda: sum(_one(connection, name) for name in names))
        kernel_log.forget(names)
        return Erased(done, _cleaned(connection))
    finally:
        connection.execute("PRAGMA secure_delete = OFF")


def _one(connection: Connection, name: str) -> int:
    wanted = f"SELECT {', '.join(BESIDE)}, body, hash FROM events WHERE id = ? AND erased = 0"  # noqa: S608  our words
    row = connection.execute(wanted, (name,)).fetchone()
    if row is None:
        return 0
    *beside, body, known = row
    told = dict(zip(BESIDE, beside, strict=True))
    left = [None if column in _CLEARED else value for column, value in told.items()]
    cleared = ", ".join(f"{column} = NULL" for column in _CLEARED)
    connection.execute(
        f"UPDATE events SET body = ?, erased = 1, {cleared}, mac = ? WHERE id = ?",  # noqa: S608  as above
        (chain.digest(body), erased_mark(keys.marking(), known, left), name),
    )
    _forget(connection, told)
    return 1


def _forget(connection: Connection, told: dict[str, str | None]) -> None:
    """Summaries name a session and a project as long as a record does."""
    session, project = told["session"], told["project"]
    same = "SELECT 1 FROM events WHERE agent = ? AND session = ? LIMIT 1"
    if session is not None and connection.execute(same, (told["agent"], session)).fetchone() is None:
        for name in ("sessions", "told", "transcripts"):  # whose paths name it too
            connection.execute(f"DELETE FROM {name} WHERE agent = ? AND session = ?", (told["agent"], session))  # noqa: S608
    if project and connection.execute("SELECT 1 FROM events WHERE project = ? LIMIT 1", (project,)).fetchone() is None:
        _nowhere(connection, project)


def _nowhere(connection: Connection, project: str) -> None:
    """What was counted for a project is counted for none."""
    names = ", ".join(TOKENS)
    sums = ", ".join(f"{name} = {name} + excluded.{name}" for name in TOKENS)
    for table, same in _NAMING.items():
        moved = f"SELECT '', {same}, {names} FROM {table} WHERE project = ?"  # noqa: S608  our own words
        into = f"INSERT INTO {table} (project, {same}, {names}) {moved} ON CONFLICT DO UPDATE SET {sums}"
        connection.execute(into, (project,))
        connection.execute(f"DELETE FROM {table} WHERE project = ?", (project,))  # noqa: S608  as above
    connection.execute("UPDATE sessions SET project = NULL WHERE project = ?", (project,))


def _cleaned(connection: Connection) -> str | None:
    """Write the database anew and empty its log: a page may have held more than one copy; why that did not work."""
    try:
        connection.execute("VACUUM")
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.Error as problem:
        return str(problem)
    return "somebody is reading the database" if busy else None
