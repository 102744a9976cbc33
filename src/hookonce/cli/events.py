"""hookonce events."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from importlib import import_module

from hookonce import formats
from hookonce.cli import _filters
from hookonce.cli._event_forms import RowWriter, choose_writer
from hookonce.cli._progress import show_progress
from hookonce.cli._warn import warn
from hookonce.cli._when import parse_seconds
from hookonce.cli.consent import consent_help
from hookonce.errors import UsageError
from hookonce.journeys.looking import follow_events, open_store
from hookonce.store.query import EventRow, select_rows
from hookonce.store.redact import LEVELS

_EXAMPLES = """examples:
  hookonce events --since 2h --decision deny
  hookonce events --session 01a1dde4 --json
  hookonce events --follow --agent codex
  hookonce events --path 'src/*.py' --format openhook > events.jsonl
  hookonce events sql "SELECT tool, count(*) FROM events GROUP BY tool"
  hookonce events sql "SELECT json_extract(CAST(body AS TEXT), '$.event.tool.input.command') FROM events"
  hookonce events export --since 2026-02-23 --out events.jsonl
  hookonce events import events.jsonl"""
_FOLLOW_BACKLOG_ROWS = 10  # events that are shown before those that come
_OUTPUT_OPTIONS = {"json", "csv", "format", "privacy"}
# What else can be done with events, each in a file of its own (_events_NAME.py), and the options that it heeds.
VERBS: dict[str, set[str]] = {
    "": {*_filters.FILTER_NAMES, *_OUTPUT_OPTIONS, "follow"},
    "sql": {"words", "json", "csv", "timeout"},
    "export": {*_filters.FILTER_NAMES, "out"},
    "import": {"words", "from"},
    "erase": {"words", "session", "agent"},
}
_VERB_HELP = """sql: ask for anything, change nothing; export: write records with their hashes;
    import: keep events from files; erase: overwrite what records say"""


def configure(parser: ArgumentParser) -> None:
    """The options of `events`."""
    parser.epilog = f"{consent_help('events erase')}\n\n{_EXAMPLES}"
    parser.add_argument("verb", nargs="?", choices=[verb for verb in VERBS if verb], help=_VERB_HELP)
    parser.add_argument("words", nargs="*", metavar="WORD", help="a question, files, or ids of records")
    _filters.add_filter_options(parser)
    parser.add_argument("--follow", action="store_true", help="go on with what comes, until Ctrl-C")
    output_group = parser.add_mutually_exclusive_group()
    output_group.add_argument("--json", action="store_true", help="records, one in each line")
    output_group.add_argument("--csv", action="store_true", help="values with commas between them")
    output_group.add_argument("--format", metavar="NAME", help=f"one of {', '.join(formats.FORMATS)}, one in each line")
    parser.add_argument("--privacy", choices=LEVELS, help="with --format; default: minimal, and full for canonical")
    parser.add_argument("--timeout", type=parse_seconds, metavar="S", help="with sql: how long it may take; default: 30")
    parser.add_argument("--out", metavar="FILE", help="with export: write there; default: standard output")
    parser.add_argument("--from", dest="source", metavar="NAME", help="with import: the agent or format of the lines")


def run(options: Namespace) -> int:
    """Show what happened: the newest events, those that are asked for, or those that come."""
    _check_options(options)
    if options.verb is not None:
        code: int = import_module(f"hookonce.cli._events_{options.verb}").run(options)
        return code
    return _run_follow(options) if options.follow else _run_listing(options)


def _check_options(options: Namespace) -> None:
    set_options = {
        {"source": "from"}.get(name, name) for name, value in vars(options).items() if value not in (None, False, [])
    }
    if unused_options := sorted(set_options - VERBS[options.verb or ""] - {"verb"}):
        command = f"events {options.verb}" if options.verb else "events alone"
        raise UsageError(f"--{unused_options[0]} says nothing to {command}")
    if options.privacy is not None and options.format is None:
        raise UsageError("--privacy goes with --format: what is kept is shown as it is kept")


def _run_listing(options: Namespace) -> int:
    plain = not (options.json or options.csv or options.format)
    default = _filters.TERMINAL_ROWS if plain and sys.stdout.isatty() else None
    write_row, flush = choose_writer(options)
    with open_store(warn, _show_wait) as connection:
        row_count = _write_rows(select_rows(connection, _filters.build_query(options, connection, default)), write_row)
    _show_wait(0)
    flush()
    if plain and not row_count:
        print(_filters.empty_message(options, "event"))
    if row_count == default and options.last is None:
        print(f"hookonce: these are the newest {row_count}; --last N shows more", file=sys.stderr)
    return 0


def _write_rows(found_rows: Iterable[EventRow], write_row: RowWriter) -> int:
    """Print rows; those that were erased tell nothing."""
    count = 0
    for row in found_rows:
        if not count:
            _show_wait(0)
        if not row.is_erased:
            write_row(row)
            count += 1
    return count


def _show_wait(seconds: float) -> None:
    """Say in a line that the record is still looked through; 0 takes the line away."""
    if sys.stderr.isatty():
        show_progress(f"looking through all events, {seconds:.0f} s so far" if seconds else "")


def _run_follow(options: Namespace) -> int:
    write_row, flush = choose_writer(options)
    with open_store(warn) as connection:
        query = _filters.build_query(options, connection, _FOLLOW_BACKLOG_ROWS, follow=True)
    try:
        for new_rows in follow_events(query, warn):
            if _write_rows(new_rows, write_row):
                flush()
                sys.stdout.flush()
    except KeyboardInterrupt:
        return 0
    return 0
