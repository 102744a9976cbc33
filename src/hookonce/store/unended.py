"""Sessions that nobody has ended, as far as the last rows of each tell."""

from collections.abc import Iterator
from sqlite3 import Connection

MOST = 300  # sessions that are looked at, those that were heard of last
_TAIL = 16  # rows of each: with an end comes what follows from it
_NEWEST = "SELECT agent, session, last FROM sessions ORDER BY last DESC LIMIT ?"
_LAST = "SELECT type FROM events WHERE session = ? AND agent = ? ORDER BY time DESC, seq DESC LIMIT ?"


def unended(
    connection: Connection, ends: frozenset[str], begins: frozenset[str], most: int = MOST
) -> Iterator[tuple[str, str, str]]:
    """The agent, the name and the last moment of each session whose last rows hold no end, or work after it."""
    for agent, session, last in connection.execute(_NEWEST, (most,)).fetchall():
        kinds = (row[0] for row in connection.execute(_LAST, (session, agent, _TAIL)))
        if next((kind for kind in kinds if kind in ends or kind in begins), None) not in ends:
            yield agent, session, last
