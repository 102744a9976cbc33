"""Sessions that nobody has ended, as far as the last rows of each tell."""

from collections.abc import Iterator
from sqlite3 import Connection

MAX_OPEN_SESSIONS = 300  # sessions that are looked at, those that were heard of last
_SESSION_TAIL_ROWS = 16  # rows of each: with an end comes what follows from it
_SELECT_NEWEST_SESSIONS = "SELECT agent, session, last FROM sessions ORDER BY last DESC LIMIT ?"
_SELECT_LAST_TYPES = "SELECT type FROM events WHERE session = ? AND agent = ? ORDER BY time DESC, seq DESC LIMIT ?"


def open_sessions(
    connection: Connection, end_types: frozenset[str], begin_types: frozenset[str], limit: int = MAX_OPEN_SESSIONS
) -> Iterator[tuple[str, str, str]]:
    """Agent, name and last time of each recent session whose last rows hold no end, or work after it."""
    for agent, session, last in connection.execute(_SELECT_NEWEST_SESSIONS, (limit,)).fetchall():
        event_types = (row[0] for row in connection.execute(_SELECT_LAST_TYPES, (session, agent, _SESSION_TAIL_ROWS)))
        if next((event_type for event_type in event_types if event_type in end_types or event_type in begin_types), None) not in end_types:
            yield agent, session, last
