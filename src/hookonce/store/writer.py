"""Appending: a batch of entries is one transaction, its rows are linked to the last one that anybody has written."""

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from sqlite3 import Connection
from types import TracebackType
from typing import Protocol, Self

from hookonce.model import Stored
from hookonce.store import chain, database, head, keys, rollup
from hookonce.store.database import Durability
from hookonce.store.entry import Columns, Entry, columns
from hookonce.store.head import Head

_INSERT = """INSERT INTO events (seq, id, time, received, type, agent, session, subagent, tool, outcome, model, project,
    path, body, hash, mac) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"""


class Follower(Protocol):
    """One who has something to say before an entry is kept, and after it."""

    def before(self, one: Entry, /) -> Entry:
        """The entry as it is to be kept."""

    def after(self, one: Entry, /) -> list[Entry]:
        """What follows from an entry that is new."""


class Writer:
    """One who appends; there may be several, in several processes."""

    def __init__(self, path: Path | None = None, durability: Durability = "normal", patience: float = 10.0) -> None:
        """Open the database, or make it."""
        self.connection = database.writing(path, durability, patience)
        self._head = (path or database.file()).with_name("head")
        self.told: Callable[[list[Stored]], object] = lambda _: None  # hears what is new, before it is kept

    def append(
        self,
        entries: Sequence[Entry],
        follower: Follower | None = None,
        beside: Callable[[Connection], object] | None = None,
    ) -> int:
        """Keep entries, and what follows from them; how many of them are new. All of them, or none if that fails.

        `beside` writes what has to be true exactly if they are kept.
        """
        if not entries and beside is None:
            return 0
        key = keys.marking()
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            now = current(self.connection)
            new, now = self._rows(entries, now, key, follower)
            rollup.add(self.connection, new)
            self.connection.execute("UPDATE head SET seq = ?, hash = ?, count = ?", (now.seq, now.hash, now.count))
            if beside is not None:
                beside(self.connection)
            self.told([record for _, record in new])
            self.connection.execute("COMMIT")
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        head.note(now, self._head, self.connection)
        return len(new)

    def _rows(
        self, entries: Sequence[Entry], now: Head, key: bytes, follower: Follower | None
    ) -> tuple[list[tuple[Columns, Stored]], Head]:
        """The rows of a batch; what is there already is not written again, and nothing follows from it."""
        new = []
        todo = deque(entries)
        while todo:
            one = todo.popleft()
            derived = one.record.event.derived_from is not None
            if follower is not None and not derived:
                one = follower.before(one)
            row = chain.link(now.seq + 1, now.hash, chain.digest(one.body))
            beside = columns(one.record)
            values = (now.seq + 1, *beside, one.body, row, chain.mark(key, row))
            if self.connection.execute(_INSERT, values).rowcount != 1:
                continue
            new.append((beside, one.record))
            now = Head(now.seq + 1, row, now.count + 1)
            if follower is not None and not derived:
                todo.extendleft(reversed(follower.after(one)))
        return new, now

    def close(self) -> None:
        """Write no more."""
        self.connection.close()

    def __enter__(self) -> Self:
        """For a while."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Until here."""
        self.close()


def current(connection: Connection) -> Head:
    """How far the record goes."""
    return Head(*connection.execute("SELECT seq, hash, count FROM head").fetchone())
