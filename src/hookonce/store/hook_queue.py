"""Queue of derived events that hooks have still to be asked about, in the database that has the events (ADR 0042).

A row is inserted in the transaction of its event, so that neither is there without the other, and removed when the
hooks were asked. Which of them have begun is noted before each one: none is begun twice, whoever dies in between.
"""

from collections.abc import Iterable
from sqlite3 import Connection

from msgspec import Struct

from hookonce.model import Stored
from hookonce.store.entry import try_decode_record
from hookonce.store.integrity.write_guard import guarded_transaction

MAX_QUEUE_ROWS = 4096  # events; of more, the oldest go, for nobody has asked for so long
_SELECT_NEXT = """SELECT hook_queue.id, queued_at, begun_hooks, CASE erased WHEN 0 THEN body END FROM hook_queue
    LEFT JOIN events ON events.id = hook_queue.id
    WHERE NOT (FALSE{}) ORDER BY seq LIMIT ?"""
_IS_BUSY = " OR (session IS ? AND agent IS ?)"
_SELECT_OF_TYPE = """SELECT hook_queue.id, queued_at, begun_hooks, CASE erased WHEN 0 THEN body END FROM hook_queue
    JOIN events ON events.id = hook_queue.id WHERE session = ? AND agent = ? AND type = ? ORDER BY seq"""
_OWNER_MARK = "@"  # before whoever has begun a hook, in a line of its own below the digest
_NOTE_START = """UPDATE hook_queue SET begun_hooks = begun_hooks || ? || char(10) || ? || char(10)
    WHERE id = ? AND instr(begun_hooks, ? || char(10)) = 0"""
_DELETE_OLDEST = """DELETE FROM hook_queue WHERE id IN (
    SELECT id FROM hook_queue ORDER BY begun_hooks = '', queued_at DESC, id LIMIT -1 OFFSET ?)"""


class QueuedEvent(Struct, frozen=True, kw_only=True):
    """A derived event in the queue, digests of its hooks that have begun, and by whom; no record if that is gone."""

    id: str
    queued_at: str
    begun_digests: frozenset[str]
    owners: frozenset[str]
    record: Stored | None


def enqueue_events(connection: Connection, event_ids: Iterable[str], queued_at: str) -> None:
    """Queue events in the transaction that is under way."""
    rows = [(event_id, queued_at) for event_id in event_ids]
    connection.executemany("INSERT INTO hook_queue (id, queued_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING", rows)


def trim_queue(connection: Connection) -> int:
    """Remove the oldest rows of a queue that is too long, in the transaction that is under way; how many.

    Of those whose hooks run none goes.
    """
    return connection.execute(_DELETE_OLDEST, (MAX_QUEUE_ROWS,)).rowcount


def load_queue(
    connection: Connection, max_rows: int, busy_sessions: Iterable[tuple[str, str | None]] = ()
) -> list[QueuedEvent]:
    """The first events of the queue in the order of their arrival, without those of sessions whose hooks run."""
    parameters = [value for agent, session in busy_sessions for value in (session, agent)]
    query = _SELECT_NEXT.format(_IS_BUSY * (len(parameters) // 2))
    return [_decode_row(*row) for row in connection.execute(query, (*parameters, max_rows))]


def load_session_events(connection: Connection, agent: str, session: str, event_type: str) -> list[QueuedEvent]:
    """The events of one type of a session that are in the queue."""
    return [_decode_row(*row) for row in connection.execute(_SELECT_OF_TYPE, (session, agent, event_type))]


def _decode_row(event_id: str, queued_at: str, begun_hooks: str, body: bytes | None) -> QueuedEvent:
    words = begun_hooks.split()
    return QueuedEvent(
        id=event_id,
        queued_at=queued_at,
        begun_digests=frozenset(word for word in words if not word.startswith(_OWNER_MARK)),
        owners=frozenset(word.removeprefix(_OWNER_MARK) for word in words if word.startswith(_OWNER_MARK)),
        record=try_decode_record(body),
    )


def note_start(connection: Connection, event_id: str, digest: str, owner: str = "") -> bool:
    """Note that a hook begins, and by whom; whether it may: its event is queued and nobody else has begun it."""
    with guarded_transaction(connection):
        return connection.execute(_NOTE_START, (digest, _OWNER_MARK + owner, event_id, digest)).rowcount == 1


def remove_events(connection: Connection, event_ids: Iterable[str]) -> None:
    """Remove events about which hooks were asked, or none is to be, in the transaction that is under way."""
    connection.executemany("DELETE FROM hook_queue WHERE id = ?", [(event_id,) for event_id in event_ids])
