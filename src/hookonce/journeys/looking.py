"""look: what lies in the spool is taken up first, then the record is opened and only read."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from sqlite3 import Connection
from time import monotonic, sleep

from msgspec.structs import replace

from hookonce.errors import HookonceError
from hookonce.journeys.record import Recorder
from hookonce.store import reader, spool
from hookonce.store.query import Row, Wanted, reached, rows
from hookonce.store.writer import Writer

Tell = Callable[[str], None]
_PATIENCE = 0.5  # seconds for somebody else's transaction
_PAUSE = 0.25  # seconds from one look to the next
_TAKE_UP = 1.0  # seconds after which the spool is looked at again


@contextmanager
def looking(tell: Tell) -> Iterator[Connection]:
    """The record with everything in it that nobody writes any more."""
    take_up(tell)
    with closing(reader.opened()) as connection:
        yield connection


def take_up(tell: Tell) -> None:
    """Fold the spool into the record; where that cannot be, say so, and look at what is there."""
    if next(spool.folder().glob("*.jsonl"), None) is None:
        return
    try:
        with Writer(patience=_PATIENCE) as writer:
            done = Recorder(writer).fold()
    except (sqlite3.Error, OSError, HookonceError) as problem:
        tell(f"the newest events are not shown, because the record cannot be written: {problem}")
        return
    if done.damaged:
        tell(f"{done.damaged} spool files hold lines that were changed; they are kept aside in {spool.folder()}")


def follow(wanted: Wanted, tell: Tell) -> Iterator[list[Row]]:
    """What is there, and then whatever comes, for ever; also where nothing was ever kept."""
    told: set[str] = set()

    def once(text: str) -> None:
        if text not in told:
            told.add(text)
            tell(text)

    looked = None
    while True:
        if looked is None or monotonic() - looked > _TAKE_UP:
            take_up(once)
            looked = monotonic()
        found, wanted = _batch(wanted)
        yield found
        sleep(_PAUSE)


def _batch(wanted: Wanted) -> tuple[list[Row], Wanted]:
    """What is new, and what to look for next. The record is opened anew: it may have been made, or made anew."""
    with closing(reader.opened()) as connection:
        connection.execute("BEGIN")
        last = reached(connection)
        if last < wanted.after:
            wanted = replace(wanted, after=0)
        found = list(rows(connection, wanted))
    return found, replace(wanted, after=last, last=None)
