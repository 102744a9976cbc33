"""Write transaction of SQLite: committed at its end, rolled back on any error."""

from collections.abc import Iterator
from contextlib import contextmanager
from sqlite3 import Connection


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Begin at once, so that no other writer comes in between; an error of SQLite may have ended it already."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
