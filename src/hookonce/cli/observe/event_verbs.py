"""Verbs of hookonce events: sql, export, import, erase."""

import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from shlex import quote
from sqlite3 import Connection
from typing import Any, BinaryIO

from hookonce.base import runtime_dir, settings
from hookonce.base.json_stream import read_documents
from hookonce.cli._ui import filters
from hookonce.cli._ui.arguments import line_location, open_input
from hookonce.cli._ui.consent import require_consent
from hookonce.cli._ui.layout import Column
from hookonce.cli._ui.messages import pluralize, print_csv_row, print_json, show_status, warn
from hookonce.cli._ui.tables import StreamingTable
from hookonce.errors import HookonceError, UsageError
from hookonce.inspect import query_args
from hookonce.inspect.store_access import open_store
from hookonce.model import Agent, Format
from hookonce.store.maintenance.erasure import erase_records, list_session_events
from hookonce.store.query import RecordFilter, resolve_session, select_rows, session_agent
from hookonce.store.query import run_sql as run_query
from hookonce.store.writer import Writer
from hookonce.translation.import_events import ImportProgress, import_events

_DEFAULT_TIMEOUT_S = 30.0
_MAX_CELL_LINES = 3  # of an answer on a terminal


def run_sql(options: Namespace) -> None:
    """Answer a read-only SQL query as table, JSON lines or CSV."""
    if len(options.words) != 1:
        raise UsageError('one SQL query is needed: hookonce events sql "SELECT count(*) FROM events"')
    with open_store(warn) as connection:
        names, rows = run_query(connection, options.words[0], options.timeout or _DEFAULT_TIMEOUT_S)
        decoded_rows = (list(map(_decode_bytes, row)) for row in rows)
        if options.csv:
            for row in chain([names], decoded_rows):
                print_csv_row(row)
        elif options.json:
            for row in decoded_rows:
                print_json(dict(zip(names, row, strict=True)))
        else:
            lines = StreamingTable(*(Column(name, max_lines=_MAX_CELL_LINES) for name in names))
            for row in decoded_rows:
                lines.add_row(*("" if cell is None else str(cell) for cell in row))
            lines.flush()
            if not lines.row_count:
                print("there is no such row")


def _decode_bytes(value: Any) -> Any:
    if type(value) is not bytes:
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.hex()


_PROGRESS_ROWS = 20_000  # records from one word to the next


def run_export(options: Namespace) -> None:
    """Export records byte by byte as stored, each with its sequence number and hash."""
    with open_store(warn) as connection:
        query = filters.build_query(options, connection, None)
        with _open_output(options.out) as out:
            written_count, erased_count = _export_rows(connection, query, out)
    erased_note = f"; {pluralize(erased_count, 'erased record')} left out" if erased_count else ""
    if options.out or erased_count:
        warn(f"{pluralize(written_count, 'record')} written{erased_note}")


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
        if written_count % _PROGRESS_ROWS == 0:
            show_status(f"{pluralize(written_count, 'record')} written …")
    if written_count >= _PROGRESS_ROWS:
        show_status("")
    return written_count, erased_count


@contextmanager
def _open_output(name: str | None) -> Iterator[BinaryIO]:
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
    return f"{problem.strerror}; choose another file with --out, or omit --out for stdout"


_MAX_FAULTS_SHOWN = 20  # lines that could not be read and are named


def run_import(options: Namespace) -> int:
    """Import events of files: our own records, or whatever translate reads; duplicates are skipped."""
    from hookonce.cli.convert.translate import resolve_source  # the formats; `events sql` does without them

    source = None if options.source is None else resolve_source(options.source)[0]
    names, unread_files = options.words or ["-"], 0
    total, bad_count, signers = ImportProgress(), 0, Counter[str]()
    with Writer(durability=settings.load().durability) as writer:
        for name in names:
            try:
                progress, file_bad_count = _import_file(name, writer, source)
            except HookonceError as problem:
                warn(str(problem))
                unread_files += 1
                continue
            total, bad_count = _add_progress(total, progress), bad_count + file_bad_count
            signers.update(progress.signed_by)
    if unread_files < len(names):
        repeat_note = f"{pluralize(total.repeat_lines, 'line')} merged into the events that they belong to"
        existing_note = f"{pluralize(total.existing, 'event')} recorded before"
        repeat_id_note = f"{pluralize(total.repeat_events, 'event')} left out, because their id repeats in the file"
        notes = [repeat_note] * bool(total.repeat_lines) + [existing_note] * bool(total.existing)
        notes += [repeat_id_note] * bool(total.repeat_events)
        print(
            "; ".join([f"{pluralize(total.new, 'event')} imported, of {pluralize(total.line_count, 'line')}", *notes])
        )
        for signer, count in signers.items():
            print(f"{pluralize(count, 'line')} signed by {signer}")
    if bad_count > total.broken_count:
        warn(f"{pluralize(bad_count - total.broken_count, 'line')} could not be read")
    if total.broken_count:
        warn(f"{pluralize(total.broken_count, 'line')} not imported, because the signature does not match")
    if unread_files:
        files_text = pluralize(unread_files, "file")
        warn(f"{files_text} could not be read; name files with one event per line, or - for stdin")
    return 1 if bad_count or unread_files else 0


def _add_progress(one: ImportProgress, other: ImportProgress) -> ImportProgress:
    counts = ("line_count", "new", "existing", "repeat_events", "repeat_lines", "broken_count")
    return ImportProgress(**{name: getattr(one, name) + getattr(other, name) for name in counts})


def _import_file(name: str, writer: Writer, source: Agent | Format | None) -> tuple[ImportProgress, int]:
    """The last word of an import, and how many lines could not be read or were not kept."""
    progress, bad_count = ImportProgress(), 0
    with open_input(name) as stream:
        for progress in import_events(read_documents(stream), writer, settings.load().privacy, source):
            for fault in progress.faults[: max(0, _MAX_FAULTS_SHOWN - bad_count)]:
                warn(f"{line_location(name, fault.line)}: {fault.message}")
            bad_count += len(progress.faults)
            lines_text, events_text = pluralize(progress.line_count, "line"), pluralize(progress.new, "event")
            show_status(f"{name}: {lines_text} read, {events_text} new …")
    show_status("")
    return progress, bad_count


_MAX_CALL_AGE_S = 60  # seconds after which nobody waits for the answer of a call any more


def run_erase(options: Namespace) -> int:
    """Overwrite the content of records for ever; their existence and time stay."""
    if bool(options.words) == (options.session is not None):
        raise UsageError("name the records: hookonce events erase ID…, or --session ID, with --agent NAME if need be")
    with open_store(warn) as connection:
        record_ids = _find_record_ids(connection, options)
    if record_ids:  # else they were erased before, and perhaps not cleaned away
        subject = f"{pluralize(len(record_ids), 'record')}"
        require_consent("events erase", "\n".join([f"permanently erase the content of {subject}:", *record_ids]))
    with Writer() as writer:
        erasure = erase_records(writer, record_ids)
    runtime_dir.remove_stale_files(doors=0, questions=0, calls=_MAX_CALL_AGE_S)
    print(f"{pluralize(erasure.record_count, 'record')} erased")
    if erasure.cleanup_problem is None:
        return 0
    problem = f"old pages of the database may still hold them ({erasure.cleanup_problem})"
    warn(f"{problem}; run it again when no other program uses the record")
    return 1


def _find_record_ids(connection: Connection, options: Namespace) -> list[str]:
    agent_name = query_args.agent_filter(options.agent, connection)
    if options.session is not None:
        name = resolve_session(connection, options.session, agent_name)
        return list_session_events(connection, name, agent_name or session_agent(connection, name))
    query = "SELECT erased FROM events WHERE id = ? AND agent = coalesce(?, agent)"
    rows = {name: connection.execute(query, (name, agent_name)).fetchone() for name in dict.fromkeys(options.words)}
    if missing := [name for name, row in rows.items() if row is None]:
        subject = f"record of {agent_name}" if agent_name else "record"
        raise HookonceError(f"no {subject} is called {', '.join(missing)}; hookonce events --json shows ids")
    return [name for name, row in rows.items() if not row[0]]


RUN_BY_VERB: dict[str, Callable[[Namespace], int | None]] = {
    "sql": run_sql,
    "export": run_export,
    "import": run_import,
    "erase": run_erase,
}
