"""What is not in the database yet, shown beside it: for one who looks while nobody can, or has yet to, keep it."""

from collections.abc import Iterable
from sqlite3 import Connection

from hookonce.model import Stored
from hookonce.store.entry import columns, entry
from hookonce.store.soundness import BESIDE

_TABLE = "CREATE TEMP TABLE unkept AS SELECT * FROM main.events WHERE FALSE"
_VIEW = "CREATE TEMP VIEW events AS SELECT * FROM main.events UNION ALL SELECT * FROM temp.unkept"
_NAMES = ("seq", *BESIDE, "body", "erased", "hash", "mac")
_INSERT = f"INSERT INTO temp.unkept ({', '.join(_NAMES)}) VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608  our words


def show(connection: Connection, records: Iterable[Stored]) -> int:
    """Let whoever asks this connection for events see these too, after all others; how many there are.

    The database itself is not touched: the connection may only read it. Summaries do not know of them.
    """
    known = "SELECT 1 FROM main.events WHERE id = ?"
    new = [one for one in records if connection.execute(known, (one.event.id,)).fetchone() is None]
    if not new:
        return 0
    last = connection.execute("SELECT coalesce(max(seq), 0) FROM main.events").fetchone()[0]
    connection.execute("PRAGMA query_only = OFF")
    try:
        connection.execute(_TABLE)
        for seq, one in enumerate(new, last + 1):
            connection.execute(_INSERT, (seq, *columns(one)[: len(BESIDE)], entry(one).body, 0, b"", b""))
        connection.execute(_VIEW)
    finally:
        connection.execute("PRAGMA query_only = ON")
    return len(new)
