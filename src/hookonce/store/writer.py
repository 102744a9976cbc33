"""Store writer: a batch of entries is one transaction, each row linked to the last one by the hash chain."""

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from sqlite3 import Connection
from typing import Protocol, Self

from msgspec.structs import replace

from hookonce.base import ids
from hookonce.model import Stored
from hookonce.store import database, rollup
from hookonce.store.database import Durability
from hookonce.store.entry import IndexColumns, StoreEntry, build_entry, decode_entry, index_columns
from hookonce.store.integrity import chain, head_file, keys
from hookonce.store.integrity.head_file import ChainHead
from hookonce.store.integrity.write_guard import StoreTamperError, guarded_transaction

_INSERT_EVENT = f"""INSERT INTO events (seq, {", ".join(chain.INDEX_COLUMNS)}, body, hash, mac)
    VALUES ({", ".join("?" * (4 + len(chain.INDEX_COLUMNS)))}) ON CONFLICT (id) DO NOTHING"""  # noqa: S608  our own column names


class EntryDeriver(Protocol):
    """Completes entries before they are written, and derives entries from new ones."""

    def precede_entries(self, entry: StoreEntry, /) -> list[StoreEntry]:
        """Entries that are to be written before this one; none when it is asked again."""

    def complete_entry(self, entry: StoreEntry, /) -> StoreEntry:
        """The entry as it is to be written."""

    def derive_entries(self, entry: StoreEntry, /) -> list[StoreEntry]:
        """Entries that follow from a new entry."""


class Writer:
    """A writer; several may be open, in several processes."""

    def __init__(
        self, path: Path | None = None, durability: Durability = "normal", lock_timeout_s: float = 10.0
    ) -> None:
        self.connection = database.connect_writer(path, durability, lock_timeout_s)
        self._head_path = (path or database.database_file()).with_name("head")

    def append(
        self,
        entries: Sequence[StoreEntry],
        deriver: EntryDeriver | None = None,
        write_extra: Callable[[Connection], object] | None = None,
        on_new_records: Callable[[list[Stored]], object] = lambda _: None,
    ) -> int:
        """Append entries and what follows from them; returns how many are new. All of them, or none if that fails.

        `write_extra` runs in the same transaction; `on_new_records` is called before it is committed.
        """
        if not entries and write_extra is None:
            return 0
        key = keys.load_mac_key()
        connection = self.connection
        with guarded_transaction(connection):
            new_rows, head = self._insert_rows(entries, read_chain_head(connection), key, deriver)
            rollup.add_records(connection, new_rows)
            update = "UPDATE head SET seq = ?, hash = ?, count = ?"
            if connection.execute(update, (head.seq, head.hash, head.count)).rowcount != 1:
                raise StoreTamperError("the head of the database cannot be written")
            if write_extra is not None:
                write_extra(connection)
            on_new_records([record for _, record in new_rows])
        head_file.write_head(head, self._head_path, connection)
        return len(new_rows)

    def _insert_rows(
        self, entries: Sequence[StoreEntry], chain_head: ChainHead, key: bytes, deriver: EntryDeriver | None
    ) -> tuple[list[tuple[IndexColumns, Stored]], ChainHead]:
        """An event that exists already is not written again, and nothing follows from it."""
        new_rows = []
        queue = deque(entries)
        while queue:
            entry = queue.popleft()
            is_derived = entry.record.event.derived_from is not None
            if deriver is not None and not is_derived:
                if earlier_entries := deriver.precede_entries(entry):
                    queue.extendleft([entry, *reversed(earlier_entries)])
                    continue
                entry = deriver.complete_entry(entry)
            row_hash = chain.hash_row(chain_head.seq + 1, chain_head.hash, chain.digest_body(entry.body))
            column_values = index_columns(entry.record)
            values = (chain_head.seq + 1, *column_values, entry.body, row_hash, chain.row_mac(key, row_hash))
            if self.connection.execute(_INSERT_EVENT, values).rowcount != 1:
                self._require_row(entry.record.event.id, key)
                queue.extendleft(self._late_entries(entry))
                continue
            new_rows.append((column_values, entry.record))
            chain_head = ChainHead(chain_head.seq + 1, row_hash, chain_head.count + 1)
            if deriver is not None and not is_derived:
                queue.extendleft(reversed(deriver.derive_entries(entry)))
        return new_rows, chain_head

    def _late_entries(self, entry: StoreEntry) -> list[StoreEntry]:
        """What a further entry of an agent has added to a call that is stored: a record that repeats the call."""
        event, runs, row_id, known_count = entry.record.event, entry.record.runs, entry.record.event.id, 0
        if event.data.get("repeat") is True:
            return []
        while runs and (row := self.connection.execute("SELECT body FROM events WHERE id = ?", (row_id,)).fetchone()):
            try:
                stored_runs = decode_entry(row[0]).record.runs
            except ValueError:  # erased
                return []
            runs = [run for run in runs if run not in stored_runs]
            known_count += len(stored_runs)
            row_id = ids.derive_id(event.id, "late_runs", str(known_count))
        late_event = replace(event, id=row_id, caused_by=event.id, data=event.data | {"repeat": True})
        return [build_entry(replace(entry.record, event=late_event, runs=runs))] if runs else []

    def _require_row(self, event_id: str, key: bytes) -> None:
        """Where an insert did nothing, our own row of that id has to be there: else something keeps it out."""
        row = self.connection.execute(f"{chain.SELECT_ROWS} WHERE id = ?", (event_id,)).fetchone()
        previous_hash = None if row is None else head_file.find_hash(self.connection, row[0] - 1)
        if row is None or chain.find_row_fault(row, previous_hash, key) is not None:
            raise StoreTamperError(f"the database did not take the record {event_id}")

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_problem: object) -> None:
        self.close()


def read_chain_head(connection: Connection) -> ChainHead:
    """The last row by the database."""
    return ChainHead(*connection.execute("SELECT seq, hash, count FROM head").fetchone())
