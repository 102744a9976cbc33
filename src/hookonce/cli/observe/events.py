"""hookonce events: list, follow and query recorded events as table, JSON, CSV or an open format."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from contextlib import suppress

from msgspec.structs import replace

from hookonce import formats
from hookonce.cli._ui import filters
from hookonce.cli._ui.arguments import add_flag, parse_seconds
from hookonce.cli._ui.local_time import add_utc_option
from hookonce.cli._ui.messages import pluralize, print_csv_row, print_json, show_status, warn, warn_of_unwritten
from hookonce.cli.observe.event_table import EventTable
from hookonce.errors import UsageError
from hookonce.formats import canonical
from hookonce.inspect.store_access import follow_events, open_store
from hookonce.inspect.summary import summarize_record
from hookonce.model import Stored
from hookonce.store.entry import decode_entry
from hookonce.store.privacy.redact import LEVELS, Level
from hookonce.store.query import EventRow, select_rows

CSV_COLUMNS = ("time", "agent", "session", "subagent", "type", "tool", "what", "decision", "reason", "project", "id")

RowWriter = Callable[[EventRow], None]
Flush = Callable[[], None]


def choose_writer(options: Namespace) -> tuple[RowWriter, Flush]:
    """Choose the row writer of the output options, and what flushes it."""
    if options.format is not None:
        return _format_writer(options)
    if options.json:
        return _record_writer(lambda record: print_json(canonical.write(record)[0]))
    if options.csv:
        print_csv_row(CSV_COLUMNS)
        return _record_writer(lambda record: print_csv_row(_csv_cells(record)))
    table = EventTable(utc=options.utc, folds=not options.all)
    return _record_writer(table.add_record, table.flush)


def _record_writer(write_record: Callable[[Stored], object], flush: Flush = lambda: None) -> tuple[RowWriter, Flush]:
    """Rows as records; those that nobody can read are counted."""
    unreadable = []

    def write_row(row: EventRow) -> None:
        try:
            record = decode_entry(row.body).record
        except ValueError:
            unreadable.append(row.seq)
        else:
            write_record(record)

    def finish() -> None:
        flush()
        if unreadable:
            numbers = f"{pluralize(len(unreadable), 'record')} (the first is number {unreadable[0]})"
            warn(f"{numbers} cannot be read; hookonce audit verify shows more")
            unreadable.clear()

    return write_row, finish


def _csv_cells(record: Stored) -> list[str | None]:
    event, decision = record.event, record.decision
    tool = event.tool.name if event.tool is not None else None
    subagent = event.subagent.id if event.subagent is not None else None
    outcome, reason = (decision.outcome, decision.reason) if decision is not None else (None, None)
    action = [subagent, event.type, tool, summarize_record(record, reason=False)]
    return [event.time, event.agent, event.session, *action, outcome, reason, event.cwd, event.id]


def _format_writer(options: Namespace) -> tuple[RowWriter, Flush]:
    from hookonce.base.json_stream import StreamLine
    from hookonce.store.integrity.signature import SIGNED_FORMATS
    from hookonce.translation.pipeline import LineFault, Translation, TranslationPlan

    name, _, variant = options.format.partition("@")
    target = formats.load(name)
    if variant and variant not in target.variants:
        raise UsageError(f"{name} has no variant {variant!r}")
    level: Level = options.privacy or ("full" if target is canonical.FORMAT else "minimal")
    if options.sign and name not in SIGNED_FORMATS:
        raise UsageError(f"{target.title} cannot hold a signature; {', '.join(SIGNED_FORMATS)} have one")
    plan = TranslationPlan(source=canonical.FORMAT, target=target, variant=variant, level=level, signs=options.sign)
    translation = Translation(replace(plan, keeps_users=True))

    def write_row(row: EventRow) -> None:
        for outcome in translation.json_lines([StreamLine(row.seq, row.body)]):
            if isinstance(outcome, LineFault):
                warn(f"record {outcome.line}: {outcome.message}")
            else:
                sys.stdout.buffer.write(outcome)

    def finish() -> None:
        warn_of_unwritten(translation.unwritten_types, target.title)
        translation.unwritten_types.clear()

    return write_row, finish


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
_OUTPUT_OPTIONS = {"json", "csv", "format", "privacy", "sign"}
# What else can be done with events (event_verbs.py), and the options that it heeds.
VERBS: dict[str, set[str]] = {
    "": {*filters.FILTER_NAMES, *_OUTPUT_OPTIONS, "follow", "utc", "all"},
    "sql": {"words", "json", "csv", "timeout"},
    "export": {*filters.FILTER_NAMES, "out", "utc"},
    "import": {"words", "from"},
    "erase": {"words", "session", "agent"},
}
_VERB_HELP = """sql: run a read-only SQL query; export: write records with their hashes;
    import: add events from files; erase: overwrite the content of records"""


def configure(parser: ArgumentParser) -> None:
    """The options of `events`."""
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("verb", nargs="?", choices=[verb for verb in VERBS if verb], help=_VERB_HELP)
    add("words", nargs="*", metavar="WORD", help="a SQL query, files, or ids of records")
    filters.add_filter_options(parser)
    add_flag(parser, "--follow", "also show new events as they come, until Ctrl-C")
    add_utc_option(parser)
    add_flag(parser, "--all", "on a terminal: show every event, also those without details")
    output_group = parser.add_mutually_exclusive_group()
    add_flag(output_group, "--json", "print records as JSON, one per line")
    add_flag(output_group, "--csv", "print comma-separated values")
    output_group.add_argument(
        "--format", metavar="NAME", help=f"print events in this format, one per line: {', '.join(formats.FORMATS)}"
    )
    add("--privacy", choices=LEVELS, help="with --format: privacy level; default: minimal, and full for canonical")
    add_flag(parser, "--sign", "with --format: sign each document with this machine's key")
    add("--timeout", type=parse_seconds, metavar="S", help="with sql: timeout in seconds; default: 30")
    add("--out", metavar="FILE", help="with export: write to this file; default: stdout")
    add("--from", dest="source", metavar="NAME", help="with import: the agent or format of the lines")


def run(options: Namespace) -> int | None:
    """Show what happened: the newest events, those that are asked for, or those that come."""
    _check_options(options)
    if options.verb is not None:
        from hookonce.cli.observe.event_verbs import RUN_BY_VERB

        return RUN_BY_VERB[options.verb](options)
    (_run_follow if options.follow else _run_listing)(options)
    return None


def _check_options(options: Namespace) -> None:
    names = [name for name, value in vars(options).items() if value not in (None, False, [])]
    set_options = {{"source": "from"}.get(name, name) for name in names}
    if unused_options := sorted(set_options - VERBS[options.verb or ""] - {"verb"}):
        command = f"events {options.verb}" if options.verb else "events alone"
        raise UsageError(f"--{unused_options[0]} has no effect with {command}")
    if options.privacy is not None and options.format is None:
        raise UsageError("--privacy needs --format; without it, records are shown as they are stored")
    if options.sign and options.format is None:
        raise UsageError("--sign needs --format, such as --format agent-hooks")


def _run_listing(options: Namespace) -> None:
    plain = not (options.json or options.csv or options.format)
    default = filters.TERMINAL_ROWS if plain and sys.stdout.isatty() else None
    write_row, flush = choose_writer(options)
    with open_store(warn, _show_wait) as connection:
        row_count = _write_rows(select_rows(connection, filters.build_query(options, connection, default)), write_row)
    _show_wait(0)
    flush()
    if plain and not row_count:
        print(filters.empty_message(options, "event"))
    if row_count == default and options.last is None:
        warn(f"only the newest {row_count} are shown; --last N shows more")


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
    show_status(f"searching all events, {seconds:.0f} s so far" if seconds else "")


def _run_follow(options: Namespace) -> None:
    write_row, flush = choose_writer(options)
    with open_store(warn) as connection:
        query = filters.build_query(options, connection, _FOLLOW_BACKLOG_ROWS, follow=True)
    with suppress(KeyboardInterrupt):
        for new_rows in follow_events(query, warn):
            if _write_rows(new_rows, write_row):
                flush()
                sys.stdout.flush()
