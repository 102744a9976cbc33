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
from hookonce.store.entry import Entry, entry
from hookonce.store.salvage import Left, Salvage
from hookonce.store.writer import Writer

TYPE = "vendor.hookonce.set_aside"
_AT_ONCE = 256  # rows that are written together
_LOCKED = 2.0  # seconds for somebody who is writing
_SYNC = ("-wal", "", "-shm")  # in this order nobody can take the log of the old one for that of a new one

Tell = Callable[[int, int], None]


class Aside(Struct, frozen=True, kw_only=True):
    """Where the old files lie, how far the record went, how many rows were taken over, and which were not, and why.

    Of a record that was rewritten not all are listed: `more` are not.
    """

    folder: str
    rows: int
    taken: int
    left: list[Left]
    more: int


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
    broken = damage() is not None
    folder = place.with_name(f"aside-{times.now().replace(':', '').replace('.', '')}")
    folder.mkdir(mode=0o700)
    _moved(place, folder)
    reached = _reached(folder / "head")
    found = Salvage(folder / place.name, reached, tell)
    with Writer(durability="full") as writer:
        taken = _taken_over(writer, found.rows())
        last = max((one.last for one in found.left), default=0)
        made = Aside(folder=str(folder), rows=max(reached, taken, last), taken=taken, left=found.left, more=found.more)
        writer.append([entry(_record(made, why, broken=broken))])
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


def _taken_over(writer: Writer, entries: Iterator[Entry]) -> int:
    taken, batch = 0, list[Entry]()
    for one in entries:
        batch.append(one)
        if len(batch) == _AT_ONCE:
            taken += writer.append(batch)
            batch = []
    return taken + writer.append(batch)


def _record(made: Aside, why: str, *, broken: bool) -> Stored:
    """That this was done, and what is missing since."""
    note = f"{made.taken} of {made.rows} records were taken over; the others, if any can be read, are in {made.folder}"
    gap = Gap(where="$", capability="record", strategy="set aside", effect="observes", note=f"{note}. {why}")
    data = {"rows": made.rows, "taken": made.taken, "left": to_builtins(made.left), "more": made.more}
    event = Event(
        id=ids.fresh(),
        schema=SCHEMA,
        type=TYPE,
        agent="hookonce",
        time=times.now(),
        time_source="received",
        actor=Actor(type="user"),
        data={**data, "folder": made.folder, "damaged": broken},
    )
    return Stored(event=event, gaps=[gap], level="minimal")


def told(record: Stored) -> Iterator[tuple[bool, str]]:
    """What of a record that was put aside is not in this one, and whether somebody must have done that.

    Where the database itself was damaged, rows may have gone with it; one that can be read and is wrong was changed.
    """
    data = record.event.data
    where = f"of the record that was put aside in {data.get('folder')}"
    for one in data.get("left", []):
        rows = f"record {one['first']}" if one["first"] == one["last"] else f"records {one['first']} to {one['last']}"
        yield one["changed"] or not data.get("damaged"), f"{rows} {where}, not taken over: {one['why']}"
    if data.get("more"):
        yield True, f"{data['more']} more records {where} were not taken over"
