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
from hookonce.cli._progress import show_progress
from hookonce.cli._warn import warn
from hookonce.cli._words import pluralize
from hookonce.errors import HookonceError
from hookonce.journeys.looking import open_store
from hookonce.store.query import RecordFilter, select_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROGRESS_ROWS = 20_000  # records from one word to the next


def run_export(options: Namespace) -> int:
    """Export records byte by byte as stored, each with its sequence number and hash."""
    with open_store(warn) as connection:
        query = _filters.build_query(options, connection, None)
        with _open_output(options.out) as out:
            written_count, erased_count = _export_rows(connection, query, out)
    erased_note = f"; {pluralize(erased_count, 'erased record')} left out" if erased_count else ""
    if options.out or erased_count:
        print(f"hookonce: {pluralize(written_count, 'record')} written{erased_note}", file=sys.stderr)
    return 0


def _export_rows(connection: Connection, query: RecordFilter, out: BinaryIO) -> tuple[int, int]:
    written_count = erased_count = 0
    for row in select_rows(connection, query):
        if row.is_erased:
            erased_count += 1
            continue
        digest = connection.execute("SELECT hash FROM events WHERE seq = ?", (row.seq,)).fetchone()[0]
        # Put behind the record's own bytes: whoever takes it away again has exactly what was hashed.
        out.write(row.body[:-1] + b',"seq":%d,"hash":"%s"}\n' % (row.seq, digest.hex().encode()))
        written_count += 1
        if written_count % _PROGRESS_ROWS == 0 and sys.stderr.isatty():
            show_progress(f"{pluralize(written_count, 'record')} written …")
    if written_count >= _PROGRESS_ROWS and sys.stderr.isatty():
        show_progress("")
    return written_count, erased_count


@contextmanager
def _open_output(name: str | None) -> "Iterator[BinaryIO]":
    """The file, which is there only when it is whole, and for nobody else to read."""
    if name is None:
        yield sys.stdout.buffer
        return
    partial_file = Path(f"{name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(partial_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
            yield out
        partial_file.replace(name)
    except OSError as problem:
        raise HookonceError(f"cannot write {name}: {_explain_write_error(Path(name), problem)}") from None
    finally:
        partial_file.unlink(missing_ok=True)


def _explain_write_error(file: Path, problem: OSError) -> str:
    if isinstance(problem, FileNotFoundError):
        return f"there is no folder {file.parent}. Next: mkdir -p {quote(str(file.parent))}"
    if isinstance(problem, IsADirectoryError):
        return "that is a folder; name a file in it"
    return f"{problem.strerror}; name another file with --out, or leave it away for standard output"
