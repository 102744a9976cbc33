"""Putting a damaged record aside: its files are kept as they are, and a new one begins with what can still be read."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from msgspec import Struct, to_builtins

from hookonce import ids, times
from hookonce.model import SCHEMA, Actor, Event, Gap, Stored
from hookonce.store import database, head
from hookonce.store.entry import StoreEntry, build_entry
from hookonce.store.salvage import SkippedRows, Salvage
from hookonce.store.writer import Writer

QUARANTINE_EVENT = "vendor.hookonce.set_aside"
_WRITE_BATCH_ROWS = 256  # rows that are written together
_LOCK_TIMEOUT_S = 2.0  # seconds for somebody who is writing
_DATABASE_SUFFIXES = ("-wal", "", "-shm")  # in this order nobody can take the log of the old one for that of a new one

QuarantineProgress = Callable[[int, int], None]


class QuarantineResult(Struct, frozen=True, kw_only=True):
    """Result of a quarantine: folder of the old files, rows of the old record, rows copied, ranges skipped.

    `more` rows were skipped without being listed.
    """

    folder: str
    rows: int
    taken: int
    left: list[SkippedRows]
    more: int


def find_damage(path: Path | None = None) -> str | None:
    """What is wrong with the pages of the database; None if nothing is, or there is none."""
    database_path = path or database.database_file()
    if not database_path.exists():
        return None
    try:
        with closing(database.connect_reader(database_path)) as connection:
            check_result = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            connection.execute("SELECT seq, hash, count FROM head").fetchall()
    except sqlite3.OperationalError as problem:
        return None if _is_transient(problem) else str(problem)
    except sqlite3.DatabaseError as problem:
        return str(problem)
    return None if check_result == "ok" else " ".join(str(check_result).split())


def _is_transient(problem: sqlite3.OperationalError) -> bool:
    """Whether the error is no damage: a lock, or a folder that cannot be written."""
    return any(word in str(problem) for word in ("locked", "busy", "unable to open", "readonly"))


def quarantine_database(reason: str, report_progress: QuarantineProgress = lambda _done, _all: None) -> QuarantineResult:
    """Move the database and its head file into a new folder, and copy every sound row into a new database."""
    database_path = database.database_file()
    is_damaged = find_damage() is not None
    folder = database_path.with_name(f"aside-{times.now().replace(':', '').replace('.', '')}")
    folder.mkdir(mode=0o700)
    _move_files(database_path, folder)
    last_seq = _read_last_seq(folder / "head")
    salvage = Salvage(folder / database_path.name, last_seq, report_progress)
    with Writer(durability="full") as writer:
        copied_rows = _copy_entries(writer, salvage.sound_entries())
        last_skipped_seq = max((skipped_rows.last for skipped_rows in salvage.skipped_ranges), default=0)
        result = QuarantineResult(folder=str(folder), rows=max(last_seq, copied_rows, last_skipped_seq), taken=copied_rows, left=salvage.skipped_ranges, more=salvage.unlisted_rows)
        writer.append([build_entry(_build_record(result, reason, is_damaged=is_damaged))])
    return result


def _move_files(database_path: Path, folder: Path) -> None:
    """Move all files of a database; a writer is waited for, and finds the new one afterwards."""
    with closing(sqlite3.connect(database_path, timeout=_LOCK_TIMEOUT_S, isolation_level=None)) as connection:
        with suppress(sqlite3.DatabaseError):
            connection.execute("BEGIN IMMEDIATE")
        for suffix in _DATABASE_SUFFIXES:
            with suppress(FileNotFoundError):
                os.rename(f"{database_path}{suffix}", folder / f"{database_path.name}{suffix}")  # noqa: PTH104
        for file in (database_path.with_name("head"), *database_path.parent.glob("head-cut-*")):
            with suppress(FileNotFoundError):
                file.rename(folder / file.name)


def _read_last_seq(head_path: Path) -> int:
    """The last row by a head file; 0 if it cannot be read."""
    try:
        last_head = head.read_head(head_path)
    except (ValueError, OSError):
        return 0
    return 0 if last_head is None else last_head.seq


def _copy_entries(writer: Writer, entries: Iterator[StoreEntry]) -> int:
    copied_rows, batch = 0, list[StoreEntry]()
    for entry in entries:
        batch.append(entry)
        if len(batch) == _WRITE_BATCH_ROWS:
            copied_rows += writer.append(batch)
            batch = []
    return copied_rows + writer.append(batch)


def _build_record(result: QuarantineResult, reason: str, *, is_damaged: bool) -> Stored:
    note = f"{result.taken} of {result.rows} records were taken over; the others, if any can be read, are in {result.folder}"
    gap = Gap(where="$", capability="record", strategy="set aside", effect="observes", note=f"{note}. {reason}")
    data = {"rows": result.rows, "taken": result.taken, "left": to_builtins(result.left), "more": result.more}
    event = Event(
        id=ids.new_id(),
        schema=SCHEMA,
        type=QUARANTINE_EVENT,
        agent="hookonce",
        time=times.now(),
        time_source="received",
        actor=Actor(type="user"),
        data={**data, "folder": result.folder, "damaged": is_damaged},
    )
    return Stored(event=event, gaps=[gap], level="minimal")


def describe_quarantine(record: Stored) -> Iterator[tuple[bool, str]]:
    """What a quarantine did not copy, as (whether it proves tampering, message).

    Where the database itself was damaged, rows may have gone with it; one that can be read and is wrong was changed.
    """
    data = record.event.data
    origin = f"of the record that was put aside in {data.get('folder')}"
    for skipped_rows in data.get("left", []):
        rows = f"record {skipped_rows['first']}" if skipped_rows["first"] == skipped_rows["last"] else f"records {skipped_rows['first']} to {skipped_rows['last']}"
        yield skipped_rows["changed"] or not data.get("damaged"), f"{rows} {origin}, not taken over: {skipped_rows['why']}"
    if data.get("more"):
        yield True, f"{data['more']} more records {origin} were not taken over"
