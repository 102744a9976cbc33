"""hookonce events import."""

import sys
from argparse import Namespace

from hookonce.cli._input import open_input, line_location
from hookonce.cli._progress import show_progress
from hookonce.cli._warn import warn
from hookonce.cli._words import pluralize
from hookonce.cli.translate import resolve_source
from hookonce.config import settings
from hookonce.errors import HookonceError
from hookonce.journeys.bring import import_events
from hookonce.journeys.lines import read_documents
from hookonce.model import Agent, Format
from hookonce.store.writer import Writer

_MAX_FAULTS_SHOWN = 20  # lines that could not be read and are named


def run_import(options: Namespace) -> int:
    """Import events of files: our own records, or whatever translate reads; duplicates are skipped."""
    source = None if options.source is None else resolve_source(options.source)[0]
    names, unread_files = options.words or ["-"], 0
    read_count = new_count = bad_count = 0
    with Writer(durability=settings.durability()) as writer:
        for name in names:
            try:
                counts = _import_file(name, writer, source)
            except HookonceError as problem:
                warn(str(problem))
                unread_files += 1
                continue
            read_count, new_count, bad_count = read_count + counts[0], new_count + counts[1], bad_count + counts[2]
    if unread_files < len(names):
        duplicate_note = "; the others were there before" if new_count < read_count - bad_count else ""
        print(f"{pluralize(new_count, 'event')} kept, of {pluralize(read_count, 'line')}{duplicate_note}")
    if bad_count:
        warn(f"{pluralize(bad_count, 'line')} could not be read")
    if unread_files:
        warn(f"{pluralize(unread_files, 'file')} could not be read; name files with an event in each line, or - for stdin")
    return 1 if bad_count or unread_files else 0


def _import_file(name: str, writer: Writer, source: Agent | Format | None) -> tuple[int, int, int]:
    read_count = new_count = bad_count = 0
    with open_input(name) as stream:
        for progress in import_events(read_documents(stream), writer, settings.privacy_level(), source):
            for fault in progress.faults[: max(0, _MAX_FAULTS_SHOWN - bad_count)]:
                warn(f"{line_location(name, fault.line)}: {fault.message}")
            read_count, new_count, bad_count = progress.line_count, progress.new, bad_count + len(progress.faults)
            if sys.stderr.isatty():
                show_progress(f"{name}: {pluralize(read_count, 'line')} read, {pluralize(new_count, 'event')} new …")
    if sys.stderr.isatty():
        show_progress("")
    return read_count, new_count, bad_count
