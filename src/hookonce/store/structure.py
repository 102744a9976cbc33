"""Whether a database is built as ours are: no table, index or trigger that we have not made, and no damaged page."""

import sqlite3
from collections.abc import Iterator
from sqlite3 import Connection

from hookonce.store import schema

_MOST = 20
_BUILT = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'"


def faults(connection: Connection) -> Iterator[str]:
    """What is different, and what the database itself finds damaged, its own indexes and limits included."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if not 0 < version <= schema.VERSION:
        yield f"the database says that it is of version {version}; known are 1 to {schema.VERSION}"
        return
    known, found = built(version), {row[1]: row for row in connection.execute(_BUILT)}
    for name in sorted(known.keys() | found.keys()):
        if known.get(name) != found.get(name):
            how = "is gone" if name not in found else "is not ours" if name not in known else "was built anew"
            kind = (found.get(name) or known[name])[0]
            yield f"the {kind} {name} of the database {how}"
    for (told,) in connection.execute(f"PRAGMA integrity_check({_MOST})").fetchall():
        if told != "ok":
            yield f"the database is damaged: {' '.join(told.split())}"


def built(version: int) -> dict[str, tuple[str, ...]]:
    """How a database of that version is built."""
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for statements in schema.MIGRATIONS[:version]:
            for statement in statements:
                fresh.execute(statement)
        return {row[1]: row for row in fresh.execute(_BUILT)}
    finally:
        fresh.close()
