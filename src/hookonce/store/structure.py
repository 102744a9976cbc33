"""Audit of the store: hash chain, MACs, checkpoints, tombstones, head file and database schema.

Every row is checked; whatever was changed, removed, inserted or cut off is a `Flaw`.
"""

import sqlite3
from collections.abc import Iterator
from sqlite3 import Connection

from hookonce.store import schema

_MAX_INTEGRITY_ERRORS = 20
_SELECT_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'"


def find_structure_faults(connection: Connection) -> Iterator[str]:
    """Differences from the expected schema, and errors of SQLite's own integrity check."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if not 0 < version <= schema.VERSION:
        yield f"the database says that it is of version {version}; known are 1 to {schema.VERSION}"
        return
    expected_objects, actual_objects = load_expected_schema(version), {row[1]: row for row in connection.execute(_SELECT_SCHEMA)}
    for name in sorted(expected_objects.keys() | actual_objects.keys()):
        if expected_objects.get(name) != actual_objects.get(name):
            difference = "is gone" if name not in actual_objects else "is not ours" if name not in expected_objects else "was built anew"
            kind = (actual_objects.get(name) or expected_objects[name])[0]
            yield f"the {kind} {name} of the database {difference}"
    for (message,) in connection.execute(f"PRAGMA integrity_check({_MAX_INTEGRITY_ERRORS})").fetchall():
        if message != "ok":
            yield f"the database is damaged: {' '.join(message.split())}"


def load_expected_schema(version: int) -> dict[str, tuple[str, ...]]:
    """The schema objects of a database of that version."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for statements in schema.MIGRATIONS[:version]:
            for statement in statements:
                connection.execute(statement)
        return {row[1]: row for row in connection.execute(_SELECT_SCHEMA)}
    finally:
        connection.close()
