"""hookonce events."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from importlib import import_module

from hookonce import formats
from hookonce.cli import _filters
from hookonce.cli._event_forms import Put, form
from hookonce.cli._progress import tell
from hookonce.cli._warn import warn
from hookonce.cli._when import seconds
from hookonce.cli.consent import needs_a_person
from hookonce.errors import UsageError
from hookonce.journeys.looking import follow, looking
from hookonce.store.query import Row, rows
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
_BEFORE = 10  # events that are shown before those that come
_SHAPES = {"json", "csv", "format", "privacy"}
# What else can be done with events, each in a file of its own (_events_NAME.py), and the options that it heeds.
VERBS: dict[str, set[str]] = {
    "": {*_filters.NAMES, *_SHAPES, "follow"},
    "sql": {"words", "json", "csv", "timeout"},
    "export": {*_filters.NAMES, "out"},
    "import": {"words", "from"},
    "erase": {"words", "session", "agent"},
}
_VERB = """sql: ask for anything, change nothing; export: write records with their hashes;
    import: keep events from files; erase: overwrite what records say"""


def configure(parser: ArgumentParser) -> None:
    """The options of `events`."""
    parser.epilog = f"{needs_a_person('events erase')}\n\n{_EXAMPLES}"
    parser.add_argument("verb", nargs="?", choices=[verb for verb in VERBS if verb], help=_VERB)
    parser.add_argument("words", nargs="*", metavar="WORD", help="a question, files, or ids of records")
    _filters.configure(parser)
    parser.add_argument("--follow", action="store_true", help="go on with what comes, until Ctrl-C")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="records, one in each line")
    shape.add_argument("--csv", action="store_true", help="values with commas between them")
    shape.add_argument("--format", metavar="NAME", help=f"one of {', '.join(formats.FORMATS)}, one in each line")
    parser.add_argument("--privacy", choices=LEVELS, help="with --format; default: minimal, and full for canonical")
    parser.add_argument("--timeout", type=seconds, metavar="S", help="with sql: how long it may take; default: 30")
    parser.add_argument("--out", metavar="FILE", help="with export: write there; default: standard output")
    parser.add_argument("--from", dest="source", metavar="NAME", help="with import: the agent or format of the lines")


def run(options: Namespace) -> int:
    """Show what happened: the newest events, those that are asked for, or those that come."""
    _heeded(options)
    if options.verb is not None:
        code: int = import_module(f"hookonce.cli._events_{options.verb}").run(options)
        return code
    return _follow(options) if options.follow else _show(options)


def _heeded(options: Namespace) -> None:
    """Refuse an option that would be overlooked."""
    given = {
        {"source": "from"}.get(name, name) for name, value in vars(options).items() if value not in (None, False, [])
    }
    if strange := sorted(given - VERBS[options.verb or ""] - {"verb"}):
        whose = f"events {options.verb}" if options.verb else "events alone"
        raise UsageError(f"--{strange[0]} says nothing to {whose}")
    if options.privacy is not None and options.format is None:
        raise UsageError("--privacy goes with --format: what is kept is shown as it is kept")


def _show(options: Namespace) -> int:
    plain = not (options.json or options.csv or options.format)
    default = _filters.ON_A_TERMINAL if plain and sys.stdout.isatty() else None
    put, end = form(options)
    with looking(warn, _wait) as connection:
        shown = _put(rows(connection, _filters.wanted(options, connection, default)), put)
    _wait(0)
    end()
    if plain and not shown:
        print(_filters.nothing(options, "event"))
    if shown == default and options.last is None:
        print(f"hookonce: these are the newest {shown}; --last N shows more", file=sys.stderr)
    return 0


def _put(found: Iterable[Row], put: Put) -> int:
    """Print rows; those that were erased tell nothing."""
    count = 0
    for row in found:
        if not count:
            _wait(0)
        if not row.erased:
            put(row)
            count += 1
    return count


def _wait(seconds: float) -> None:
    """Say in a line that the record is still looked through; 0 takes the line away."""
    if sys.stderr.isatty():
        tell(f"looking through all events, {seconds:.0f} s so far" if seconds else "")


def _follow(options: Namespace) -> int:
    put, end = form(options)
    with looking(warn) as connection:
        wanted = _filters.wanted(options, connection, _BEFORE, live=True)
    try:
        for found in follow(wanted, warn):
            if _put(found, put):
                end()
                sys.stdout.flush()
    except KeyboardInterrupt:
        return 0
    return 0
