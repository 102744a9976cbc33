"""Putting a damaged record aside: its files are kept as they are, and a new one begins with what can still be read."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookonce import ids, times
from hookonce.model import SCHEMA, Actor, Event, Gap, Stored
from hookonce.store import database, head, keys
from hookonce.store.entry import Entry, entry, read
from hookonce.store.soundness import ROWS, fault
from hookonce.store.writer import Writer

TYPE = "vendor.hookonce.set_aside"
_AT_ONCE = 256  # rows that are read together, until one of them cannot be
_LOCKED = 2.0  # seconds for somebody who is writing
_SYNC = ("-wal", "", "-shm")  # in this order nobody can take the log of the old one for that of a new one

Tell = Callable[[int, int], None]


class Aside(Struct, frozen=True, kw_only=True):
    """Where the old files lie, how far the record went, and how many rows were taken over."""

    folder: str
    rows: int
    taken: int


def damage(path: Path | None = None) -> str | None:
    """What is wrong with the pages of the database; None if nothing is, or there is none."""
    place = path or database.file()
    if not place.exists():
        return None
    try:
        with closing(database.reading(place)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            connection.execute("SELECT seq, hash, count FROM head").fetchall()
    except sqlite3.OperationalError as problem:
        return None if _is_passing(problem) else str(problem)
    except sqlite3.DatabaseError as problem:
        return str(problem)
    return None if found == "ok" else " ".join(str(found).split())


def _is_passing(problem: sqlite3.OperationalError) -> bool:
    """Whether it is nobody's damage: somebody writes, or the folder cannot be written."""
    return any(word in str(problem) for word in ("locked", "busy", "unable to open", "readonly"))


def put_aside(why: str, tell: Tell = lambda _done, _all: None) -> Aside:
    """Move the database and its head file into a folder of their own, and begin anew with every row that is sound."""
    place = database.file()
    folder = place.with_name(f"aside-{times.now().replace(':', '').replace('.', '')}")
    folder.mkdir(mode=0o700)
    _moved(place, folder)
    old, reached = folder / place.name, _reached(folder / "head")
    with Writer(durability="full") as writer:
        taken = _taken_over(writer, old, reached, tell)
        made = Aside(folder=str(folder), rows=max(reached, taken), taken=taken)
        writer.append([entry(_record(made, why))])
    return made


def _moved(place: Path, folder: Path) -> None:
    """All files of a record; whoever writes is waited for, and finds another record when we are done."""
    with closing(sqlite3.connect(place, timeout=_LOCKED, isolation_level=None)) as held:
        with suppress(sqlite3.DatabaseError):
            held.execute("BEGIN IMMEDIATE")
        for suffix in _SYNC:
            with suppress(FileNotFoundError):
                os.rename(f"{place}{suffix}", folder / f"{place.name}{suffix}")  # noqa: PTH104
        for file in (place.with_name("head"), *place.parent.glob("head-cut-*")):
            with suppress(FileNotFoundError):
                file.rename(folder / file.name)


def _reached(noted: Path) -> int:
    """How far the record went, by its head file; 0 if that does not tell."""
    try:
        known = head.noted(noted)
    except (ValueError, OSError):
        return 0
    return 0 if known is None else known.seq


def _taken_over(writer: Writer, old: Path, reached: int, tell: Tell) -> int:
    taken, batch = 0, list[Entry]()
    try:
        for one in _sound(old, reached, tell):
            batch.append(one)
            if len(batch) == _AT_ONCE:
                taken += writer.append(batch)
                batch = []
    except sqlite3.DatabaseError:
        pass  # nothing more of it can be read
    return taken + writer.append(batch)


def _sound(old: Path, reached: int, tell: Tell) -> Iterator[Entry]:
    """Every row that can be read, and that this machine has written."""
    key = keys.marking()
    with closing(sqlite3.connect(f"{old.as_uri()}?mode=rw", uri=True, isolation_level=None)) as connection:
        first, last = _ends(connection, reached)
        for start in range(first, last + 1, _AT_ONCE):
            for row in _rows(connection, start, min(start + _AT_ONCE - 1, last)):
                if fault(row, None, key) is None and not row[-3]:
                    yield read(row[-4])
            tell(start - first, last - first + 1)


def _ends(connection: sqlite3.Connection, reached: int) -> tuple[int, int]:
    first, last = 1, reached
    with suppress(sqlite3.DatabaseError):
        first = connection.execute("SELECT coalesce(min(seq), 1) FROM events").fetchone()[0]
    with suppress(sqlite3.DatabaseError):
        last = max(last, connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0])
    return first, last


def _rows(connection: sqlite3.Connection, first: int, last: int) -> list[tuple[Any, ...]]:
    """Rows by their numbers: all at once, or one by one where one of them cannot be read."""
    try:
        return connection.execute(f"{ROWS} WHERE seq BETWEEN ? AND ? ORDER BY seq", (first, last)).fetchall()
    except sqlite3.DatabaseError:
        if first == last:
            return []
    return [row for seq in range(first, last + 1) for row in _rows(connection, seq, seq)]


def _record(made: Aside, why: str) -> Stored:
    """That this was done, and what is missing since."""
    note = f"{made.taken} of {made.rows} records were taken over; the others, if any can be read, are in {made.folder}"
    gap = Gap(where="$", capability="record", strategy="set aside", effect="observes", note=f"{note}. {why}")
    event = Event(
        id=ids.fresh(),
        schema=SCHEMA,
        type=TYPE,
        agent="hookonce",
        time=times.now(),
        time_source="received",
        actor=Actor(type="user"),
        data={"rows": made.rows, "taken": made.taken},
    )
    return Stored(event=event, gaps=[gap], level="minimal")
