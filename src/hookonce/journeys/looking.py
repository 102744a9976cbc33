"""look: what was answered is kept first, the spool is taken up, and then the record is opened and only read."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from sqlite3 import Connection
from time import monotonic, sleep

from msgspec.structs import replace

from hookonce.config import settings
from hookonce.errors import HookonceError
from hookonce.journeys import uncounted as _uncounted  # noqa: F401  says where losses are counted
from hookonce.journeys.record import Recorder
from hookonce.runtime import asking
from hookonce.store import reader, spool, unkept
from hookonce.store.fold import Folded
from hookonce.store.query import Row, Wanted, reached, rows
from hookonce.store.writer import Writer

Tell = Callable[[str], None]
Wait = Callable[[float], None]  # is told how many seconds somebody has waited
_PATIENCE = 0.5  # seconds for somebody else's transaction
_MOMENT = 0.3  # seconds for the daemon to keep what it has just heard, and for a call to be read in full
_PAUSE = 0.25  # seconds from one look to the next
_TAKE_UP = 1.0  # seconds after which the spool is looked at again
_STEPS = 100_000  # of SQLite's machine, from one look at the clock to the next
_LONG = 1.0  # seconds after which somebody who waits is told so


@contextmanager
def looking(tell: Tell, wait: Wait | None = None) -> Iterator[Connection]:
    """The record with all that was answered so far, kept or not; where it is long, `wait` hears of every second."""
    take_up(tell)
    if (broken := settings.problem()) is not None:
        tell(f"{broken}; until it can be, each setting is read as the strictest. Next: hookonce doctor")
    with closing(reader.opened()) as connection:
        if _waits():
            unkept.show(connection, spool.records())
        if wait is not None:
            _patience(connection, wait)
        yield connection


def _patience(connection: Connection, wait: Wait) -> None:
    begun = told = monotonic()

    def look() -> None:
        nonlocal told
        now = monotonic()
        if now - told >= _LONG:
            told = now
            wait(now - begun)

    connection.set_progress_handler(look, _STEPS)


def take_up(tell: Tell) -> None:
    """Have the daemon keep what it has heard, and fold the rest of the spool; where that cannot be, say so."""
    asking.status(asking.KEEP, _MOMENT)
    if not _waits():
        return
    try:
        done = _folded()
    except (sqlite3.Error, OSError, HookonceError) as problem:
        tell(f"the newest events are in no sum and in no session, because the record cannot be written: {problem}")
        return
    if done.damaged:
        tell(f"{done.damaged} spool files hold lines that were changed; they are kept aside in {spool.folder()}")


def _waits() -> bool:
    """Whether something stands in the spool."""
    for file in spool.folder().glob("*.jsonl"):
        with suppress(OSError):
            if file.stat().st_size:
                return True
    return False


def _folded() -> Folded:
    """Take up what can be; a call that is being read in full is waited for, but not for long."""
    until = monotonic() + _MOMENT
    with Writer(durability=settings.durability(), patience=_PATIENCE) as writer:
        recorder = Recorder(writer)
        done = recorder.fold()
        while done.waiting and monotonic() < until:
            sleep(_MOMENT / 10)
            more = recorder.fold()
            done = Folded(done.records + more.records, done.damaged + more.damaged, more.waiting)
    return done


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
