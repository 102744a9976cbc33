"""hookonce events export."""

import os
import sys
from argparse import Namespace
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from sqlite3 import Connection
from typing import TYPE_CHECKING, BinaryIO

from hookonce.cli import _filters
from hookonce.cli._progress import tell
from hookonce.cli._warn import warn
from hookonce.cli._words import counted
from hookonce.errors import HookonceError
from hookonce.journeys.looking import looking
from hookonce.store.query import Wanted, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

_STEP = 20_000  # records from one word to the next


def run(options: Namespace) -> int:
    """Write records as they are kept, byte by byte, each with its number and hash."""
    with looking(warn) as connection:
        wanted = _filters.wanted(options, connection, None)
        with _written(options.out) as out:
            done, erased = _export(connection, wanted, out)
    left = f"; {counted(erased, 'erased record')} left out" if erased else ""
    if options.out or erased:
        print(f"hookonce: {counted(done, 'record')} written{left}", file=sys.stderr)
    return 0


def _export(connection: Connection, wanted: Wanted, out: BinaryIO) -> tuple[int, int]:
    done = erased = 0
    for row in rows(connection, wanted):
        if row.erased:
            erased += 1
            continue
        known = connection.execute("SELECT hash FROM events WHERE seq = ?", (row.seq,)).fetchone()[0]
        # Put behind the record's own bytes: whoever takes it away again has exactly what was hashed.
        out.write(row.body[:-1] + b',"seq":%d,"hash":"%s"}\n' % (row.seq, known.hex().encode()))
        done += 1
        if done % _STEP == 0 and sys.stderr.isatty():
            tell(f"{counted(done, 'record')} written …")
    if done >= _STEP and sys.stderr.isatty():
        tell("")
    return done, erased


@contextmanager
def _written(name: str | None) -> "Iterator[BinaryIO]":
    """The file, which is there only when it is whole, and for nobody else to read."""
    if name is None:
        yield sys.stdout.buffer
        return
    scratch = Path(f"{name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
            yield out
        scratch.replace(name)
    except OSError as problem:
        raise HookonceError(f"cannot write {name}: {_why(Path(name), problem)}") from None
    finally:
        scratch.unlink(missing_ok=True)


def _why(file: Path, problem: OSError) -> str:
    if isinstance(problem, FileNotFoundError):
        return f"there is no folder {file.parent}. Next: mkdir -p {quote(str(file.parent))}"
    if isinstance(problem, IsADirectoryError):
        return "that is a folder; name a file in it"
    return f"{problem.strerror}; name another file with --out, or leave it away for standard output"
